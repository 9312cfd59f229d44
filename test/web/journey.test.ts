// A new user's first day, in a real browser, from the registration to the logout: what the pages show is what happened.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { stepAt, totpCode } from '../../src/domain/totp.ts';
import { assertClean, openBrowser, openStage, PASSWORD, type Stage, visit } from './stage.ts';

const browser = await openBrowser();

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** RFC 4648. */
function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** As a terminal runs it: the shell puts the time in. */
async function runCurl(stage: Stage, command: string): Promise<number> {
  const filled = command.replace("'$(date -u +%FT%TZ)'", new Date().toISOString());
  const [, url = '', body = ''] = /'(http[^']+)'[^']*-d '([^']+)'$/.exec(filled) ?? [];
  assert.ok(url.startsWith(`${stage.url}/webhook/`), command);
  const response = await fetch(url, { method: 'POST', body });
  await response.text();
  return response.status;
}

describe('a first day', browser ? {} : { skip: 'there is no browser' }, async () => {
  if (!browser) return;
  const stage = await openStage();
  const { page, watched, close } = await visit(browser);
  const email = 'ann@example.com';

  test('a stranger at the door sees what this is, and registers', async () => {
    await page.goto(stage.url);
    await heading(page).waitFor();
    await page.getByRole('link', { name: 'Register' }).first().click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Register' }).click();
    await page.waitForURL(`${stage.url}/`);
    await heading(page).waitFor();
    // The operator sells the plan.
    const { items } = await stage.call<{ items: { id: string; email: string }[] }>('/deployment/users');
    const { id = '' } = items.find((user) => user.email === email) ?? {};
    await stage.call(`/deployment/users/${id}`, { method: 'PATCH', body: { plan: 'pro' } });
    await page.reload();
    await heading(page).waitFor();
  });

  let hook = { url: '', secret: '' };
  const send = async (body: object): Promise<number> => {
    const message = { timestamp: new Date().toISOString(), secret: hook.secret, ...body };
    const response = await fetch(hook.url, { method: 'POST', body: JSON.stringify(message) });
    await response.text();
    return response.status;
  };

  test('a paper account is one click away, and its first signal is seen to arrive', async () => {
    await page.getByRole('button', { name: 'Open a paper account' }).first().click();
    const command = page.locator('pre.ink');
    await command.waitFor();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    assert.equal(await runCurl(stage, copied), 200);
    hook = { url: /'(http[^']+)'/.exec(copied)?.[1] ?? '', secret: /"secret":"([^"]+)"/.exec(copied)?.[1] ?? '' };
    await page.getByText('Bought 0.01 BTCUSDT').or(page.getByText('filled')).first().waitFor();
    await page.getByText('Opened long').first().waitFor();
  });

  test('its story says where it came from and what it did', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForURL('**/signals');
    await page.getByRole('link', { name: /BTCUSDT/ }).first().click();
    await page.waitForURL('**/signals/*');
    await heading(page).waitFor();
    await page.screenshot({path: '/tmp/shots/story.png', fullPage: true});
  });

  test('a manual order that reverses says so beforehand, and its story afterwards', async () => {
    await page.keyboard.press('t');
    const drawer = page.getByRole('complementary', { name: /Trade/ });
    await drawer.getByRole('combobox', { name: 'Symbol' }).fill('BTCUSDT');
    await drawer.getByRole('option', { name: /BTCUSDT/ }).first().click();
    await drawer.getByLabel('sell').check();
    await drawer.getByLabel('Quantity').fill('0.02');
    await page.waitForTimeout(2500);
    console.log(await drawer.innerText());
    await page.screenshot({path: '/tmp/shots/trade.png'});
    await drawer.getByRole('button', { name: /^Sell/ }).click();
    await page.waitForURL('**/orders/*');
    await heading(page).filter({ hasText: 'now short 0.02' }).waitFor();
  });

  test('what differs from the strategy is shown, and aligned by an order that says itself', async () => {
    assert.equal(await send({ action: 'buy', symbol: 'ETHUSDT', quantity: 1, market_position: 'long', market_position_size: 1, prev_market_position: 'flat', prev_market_position_size: 0 }), 200);
    assert.equal(await send({ action: 'sync', symbol: 'ETHUSDT', market_position: 'long', market_position_size: 2 }), 200);
    await page.getByRole('link', { name: 'Positions' }).first().click();
    await page.waitForTimeout(2500);
    console.log(await page.locator('main').innerText());
    await page.screenshot({path: '/tmp/shots/positions.png'});
    await page.getByRole('button', { name: /to align/ }).click();
    const dialog = page.getByRole('dialog');
    console.log(await dialog.innerText());
    await dialog.getByRole('button', { name: /^Buy 1 ETHUSDT/ }).click();
    await page.waitForTimeout(2500);
    console.log(await page.locator('body').innerText());
  });

  test('halt and flatten', async () => {
    await page.locator('#halt').click();
    const dialog = page.getByRole('dialog');
    await page.waitForTimeout(1500);
    console.log(await dialog.innerText());
    await page.screenshot({path: '/tmp/shots/halt.png'});
    await dialog.getByRole('button', { name: /^Close 2 positions/ }).click();
    await page.waitForTimeout(2500);
    console.log(await page.locator('body').innerText());
  });

  test('end', async () => {
    assertClean(watched, stage.url);
    await close();
    await stage.close();
    await browser.close();
  });
});
void totpCode;
void stepAt;
void fromBase32;
