// What arrives while somebody points at a list moves nothing under the pointer, and is there to be shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn, onStage } from './stage.ts';

await onStage('a list under the pointer', async ({ stage, page, open }) => {
  const account = await stage.makeAccount({ name: 'Lab' });
  for (let n = 0; n < 3; n++)
    await stage.signal(account, { action: 'buy', symbol: 'BTCUSDT', quantity: 1 + n });
  await logIn(page, stage);

  async function standsStill(): Promise<void> {
    const [first] = await page.locator('a[href^="/signals/"]').all();
    const href = await first?.getAttribute('href');
    const row = page.locator(`tr:has(a[href="${href}"])`);
    await row.hover();
    const before = await row.boundingBox();
    await stage.signal(account, { action: 'buy', symbol: 'ETHUSDT', quantity: 1 });
    const show = page.getByRole('button', { name: /^Show \d new$/ });
    await show.waitFor();
    assert.deepEqual(await row.boundingBox(), before);
    await show.click();
    await show.waitFor({ state: 'detached' });
  }

  for (const width of [1280, 390])
    for (const path of ['/signals', '/'])
      test(`${path}, ${width} px wide, stays where it is`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await open(path);
        await standsStill();
      });
});
