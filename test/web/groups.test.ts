// A group from its making to its signal's story: made, its message copied and sent, the members' orders seen to arrive, one refused
// and why.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertClean, barriers, logIn, onStage, visit } from './stage.ts';

/** Where somebody wants to look at it: GROUP_PICTURES=folder. */
const PICTURES = process.env.GROUP_PICTURES;
const WIDTHS = [390, 768, 1280, 1920];

/** Of the page itself what is wider than the window; the masthead has tests of its own. */
const sticksOut = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('#content *')]
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .map(({ tagName, className }) => tagName + '.' + className).slice(0, 8)`);

await onStage('a group', async ({ stage, browser, visitor, page, open }) => {
  const main = await stage.makeAccount({ name: 'Bybit main' });
  const half = await stage.makeAccount({ name: 'Half size' });
  const halted = await stage.makeAccount({ name: 'Bitget small' });
  await logIn(page, stage);
  let story = '';

  test('is made of accounts that are chosen, and shows its address', async () => {
    await open('/groups');
    await page.getByRole('heading', { name: /No group yet/ }).waitFor();
    await page.getByLabel('Name').fill('Momentum');
    for (const { name } of [main, half, halted]) await page.getByLabel(name).check();
    await page.getByRole('button', { name: 'Make a group of 3 accounts' }).click();
    await page.getByRole('heading', { name: 'Momentum sends one signal to 3 accounts' }).waitFor();
    assert.match(page.url(), /\/groups\/[0-9a-f-]{36}$/);
    await page.getByText(/\/webhook\/group-/).waitFor();
  });

  test('has members with factors and symbols of their own, saved together', async () => {
    await page.getByLabel('Factor of Half size').fill('0.5');
    await page.getByLabel('Symbols of Half size').fill('BTCUSDT=ETHUSDT');
    await page.getByRole('button', { name: 'Save the 3 members' }).click();
    await page.getByRole('button', { name: 'Save the 3 members' }).waitFor({ state: 'detached' });
    const { items } = await stage.call<{ items: { members: { factor: number; symbols: object }[] }[] }>(
      '/trading/groups',
    );
    assert.deepEqual(
      items[0]?.members.map(({ factor, symbols }) => [factor, symbols]),
      [
        [1, {}],
        [0.5, { BTCUSDT: 'ETHUSDT' }],
        [1, {}],
      ],
    );
  });

  test('its message is copied and sent, and the members’ orders arrive; one refused, and why', async () => {
    await stage.call(`/trading/accounts/${halted.id}/halt`, { body: {} });
    await page.getByRole('button', { name: 'for a plain alert' }).click();
    await page.getByLabel('Quantity').fill('0.4');
    await page.getByRole('button', { name: 'Copy with the secret' }).click();
    await page.waitForFunction('navigator.clipboard.readText().then((text) => text.includes("{{ticker}}"))');
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const address = (await page.getByText(/\/webhook\/group-/).textContent()) ?? '';
    // As the platform fills it in.
    const body = copied
      .replace('{{ticker}}', 'BTCUSDT')
      .replace('{{close}}', '60000')
      .replace('{{timenow}}', new Date().toISOString());
    const answer = await fetch(address.trim(), { method: 'POST', body });
    assert.equal(answer.status, 200, await answer.text());

    await page.getByText('2 of 3').first().waitFor();
    await page.getByRole('cell', { name: /Bitget small refused it: The account is halted/ }).waitFor();
    await open('/signals');
    const row = page.getByRole('row', { name: /Momentum/ });
    await row.waitFor();
    assert.match((await row.textContent()) ?? '', /2 of 3/);
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /Bought BTCUSDT on 2 of 3 accounts/ }).waitFor();
    story = new URL(page.url()).pathname;
    const part = (name: string) => page.getByRole('region', { name });
    await part('Bybit main').getByText('filled', { exact: true }).waitFor();
    assert.match((await part('Half size').textContent()) ?? '', /ETHUSDT.*0\.4 × 0\.5 = 0\.2/);
    const refusal = (await part('Bitget small').textContent()) ?? '';
    assert.match(refusal, /New entries are refused while the kill switch is on/);
    assert.match(refusal, /account_halted/);
    assert.match(refusal, /This signal is not sent later/);
  });

  test('its refused member is resumed from there, and its entries are disabled from its page', async () => {
    await page.getByRole('button', { name: 'Resume Bitget small…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume Bitget small' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Momentum' }).first().click();
    await page.getByRole('button', { name: 'Disable entries…' }).click();
    await page.getByRole('button', { name: 'Refuse its entries; exits pass' }).click();
    await page.getByRole('heading', { name: /entries are refused, exits pass/ }).waitFor();
    await page.getByRole('button', { name: 'Enable entries' }).click();
    await page.getByRole('button', { name: 'Disable entries…' }).waitFor();
  });

  test('says nothing of its last signal before it is read', async () => {
    const address = page.url();
    const held = Promise.withResolvers<void>();
    await page.route(/\/trading\/signals\?.*group_id/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.goto(address);
    await page.getByRole('heading', { name: 'Momentum sends one signal to 3 accounts' }).waitFor();
    await page.getByText('exits pass, also while it is disabled').waitFor();
    assert.equal(await page.getByText(/no signal yet|first signal is yet to come/).count(), 0);
    held.resolve();
    await page.getByText('last signal').waitFor();
    await page.unroute(/\/trading\/signals\?.*group_id/);
  });

  test('keeps nobody out, in either theme and at every width', async () => {
    for (const theme of ['light', 'dark'] as const) {
      const other = await visit(browser, { theme, width: 1280 });
      await logIn(other.page, stage);
      for (const path of ['/groups', '/groups?add=group', story])
        for (const width of WIDTHS) {
          await other.page.setViewportSize({ width, height: width < 700 ? 844 : 1000 });
          await other.page.goto(stage.url + path);
          await other.settled();
          assert.deepEqual(await sticksOut(other.page), [], `${path} at ${width}`);
          if (width === 390 || width === 1280)
            assert.deepEqual(await barriers(other.page), [], `${path} at ${width}, ${theme}`);
          if (!PICTURES) continue;
          mkdirSync(PICTURES, { recursive: true });
          const name = path.startsWith('/signals') ? 'group-story' : path.includes('add') ? 'make' : 'groups';
          await other.page.screenshot({
            path: join(PICTURES, `${name}-${theme}-${width}.png`),
            fullPage: true,
          });
        }
      await other.close();
    }
    assertClean(visitor.watched, stage.url);
  });
});
