// What arrives while somebody points at a list moves nothing under the pointer, and is there to be shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logIn, onStage } from './stage.ts';

await onStage('a list under the pointer', async ({ stage, visitor, page, open }) => {
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

  test('what one has scrolled to on Today stays when a thing to do appears above it', async () => {
    const lost = await stage.makeAccount({ name: 'Lost', paper: { lose_answer: true } });
    await page.setViewportSize({ width: 390, height: 600 });
    await open('/');
    const row = page.locator('tr:has(a[href^="/signals/"])').nth(2);
    await row.hover();
    const before = await row.boundingBox();
    const things = page.getByRole('list', { name: /^To do/ });
    assert.equal(await things.count(), 0);
    await stage.signal(lost, { action: 'buy', symbol: 'BTCUSDT', quantity: 1 });
    await things.waitFor();
    await visitor.settled();
    assert.deepEqual(await row.boundingBox(), before);
  });
});
