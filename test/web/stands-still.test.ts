// What arrives while somebody points at a list moves nothing under the pointer, and is there to be shown.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Account, logIn, openBrowser, openStage, type Stage, visit } from './stage.ts';

const browser = await openBrowser();

describe('a list under the pointer', browser ? {} : { skip: 'there is no browser' }, () => {
  let stage: Stage;
  let account: Account;
  before(async () => {
    stage = await openStage();
    account = await stage.makeAccount({ name: 'Lab' });
    for (let n = 0; n < 3; n++)
      await stage.signal(account, { action: 'buy', symbol: 'BTCUSDT', quantity: 1 + n });
  });
  after(async () => {
    await browser?.close();
    await stage?.close();
  });

  async function standsStill(page: Page): Promise<void> {
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
        if (!browser) return;
        const { page, settled, close } = await visit(browser, { width });
        await logIn(page, stage);
        await page.goto(stage.url + path);
        await settled();
        await standsStill(page);
        await close();
      });
});
