// A new user's first day, in a real browser, from the registration to the logout: what the pages show is what happened.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import { assertClean, enter, goTo, onStage, PASSWORD, register } from './stage.ts';

const EMAIL = 'ann@example.com';

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

/** RFC 4648. */
function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** A webhook as a command for a terminal names it; the shell puts the time in. */
function hookOf(command: string) {
  const filled = command.replace("'$(date -u +%FT%TZ)'", new Date().toISOString());
  const [, url = '', body = '{}'] = /'(http[^']+)'[^']*-d '([^']+)'$/.exec(filled) ?? [];
  return { url, message: JSON.parse(body) as { secret: string } };
}

async function post(url: string, message: object): Promise<number> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(message) });
  await response.text();
  return response.status;
}

await onStage('a first day', ({ stage, visitor, page }) => {
  let hook: ReturnType<typeof hookOf>;
  const signal = (body: object) =>
    post(hook.url, { timestamp: new Date().toISOString(), secret: hook.message.secret, ...body });

  test('a stranger at the door sees what this is, and registers', async () => {
    await page.goto(stage.url);
    await page.getByRole('link', { name: 'Register' }).first().click();
    await register(page, stage, EMAIL);
    await heading(page).filter({ hasText: 'Open a paper account' }).waitFor();
    // The operator sells the plan.
    const { items } = await stage.call<{ items: { id: string; email: string }[] }>('/deployment/users');
    const { id = '' } = items.find(({ email }) => email === EMAIL) ?? {};
    await stage.call(`/deployment/users/${id}`, { method: 'PATCH', body: { plan: 'pro' } });
  });

  test('a paper account is one click away, and its first signal is seen to arrive', async () => {
    await page.getByRole('button', { name: 'Open a paper account' }).first().click();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByText('Copied, with its secret').waitFor();
    hook = hookOf((await page.evaluate('navigator.clipboard.readText()')) as string);
    assert.ok(hook.url.startsWith(`${stage.url}/webhook/`), hook.url);
    assert.equal(await post(hook.url, hook.message), 200);
    await heading(page).filter({ hasText: 'Your first signal is here' }).waitFor();
    await page.getByText('Opened long').waitFor();
  });

  test('its story says where it came from and what it did', async () => {
    await goTo(page, 'Signals');
    await heading(page).filter({ hasText: '1 signal today: 1 executed' }).waitFor();
    await page
      .getByRole('row', { name: /BTCUSDT/ })
      .getByRole('link')
      .first()
      .click();
    await heading(page).filter({ hasText: 'Bought 0.01 BTCUSDT: was flat, now long 0.01' }).waitFor();
    await page.getByText('equal; masked before it was kept').waitFor();
    assert.ok(!(await page.content()).includes(hook.message.secret));
  });

  test('a manual order that reverses says so beforehand, and its story afterwards', async () => {
    await page.getByRole('button', { name: 'Trade', exact: true }).click();
    const drawer = page.getByRole('complementary', { name: /Trade/ });
    await drawer.getByRole('combobox', { name: 'Symbol' }).fill('BTCUSDT');
    await drawer
      .getByRole('option', { name: /BTCUSDT/ })
      .first()
      .click();
    await drawer.getByLabel('sell').check();
    await drawer.getByLabel('Quantity').fill('0.02');
    await drawer.getByText('The position would go from 0.01 to −0.02').waitFor();
    await drawer.getByRole('button', { name: 'Close long 0.01, then sell 0.02 BTCUSDT' }).click();
    await page.waitForURL('**/orders/*');
    await heading(page).filter({ hasText: 'was long 0.01, now short 0.02' }).waitFor();
  });

  test('what differs from the strategy is shown, and aligned by an order that says itself', async () => {
    const ether = { symbol: 'ETHUSDT', market_position: 'long' };
    const entry = { action: 'buy', quantity: 1, market_position_size: 1, prev_market_position: 'flat' };
    assert.equal(await signal({ ...ether, ...entry, prev_market_position_size: 0 }), 200);
    assert.equal(await signal({ ...ether, action: 'sync', market_position_size: 2 }), 200);
    await goTo(page, 'Positions');
    await heading(page).filter({ hasText: '1 differs' }).waitFor();
    await page.getByRole('button', { name: 'Buy 1 ETHUSDT to align…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Buy 1 ETHUSDT/ }).click();
    await page.waitForURL('**/orders/*');
    await heading(page).filter({ hasText: 'now long 2' }).waitFor();
  });

  test('one confirmation halts and closes everything, and one more resumes', async () => {
    await page.locator('#halt').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Close 2 positions and halt/ }).click();
    await dialog.getByText('Halted, and 2 positions closed').waitFor();
    await page
      .locator('header')
      .getByText(/^\d of \d halted$/)
      .waitFor();
    await dialog.getByRole('button', { name: /^Resume .*…$/ }).click();
    await dialog.getByRole('button', { name: /^Resume [^…]*$/ }).click();
    await dialog.getByText('Keep it halted').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^\d of \d halted$/ }).waitFor({ state: 'detached' });
  });

  test('a second factor is set up with a real code, and asked for at the next login', async () => {
    await goTo(page, 'Security');
    await page.waitForURL('**/security');
    await page.getByRole('button', { name: 'Set it up' }).click();
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByLabel('Your password').press('Enter');
    await page.getByLabel(/^QR code/).waitFor();
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    const secret = fromBase32((await page.evaluate('navigator.clipboard.readText()')) as string);
    // A code works once: the login below takes the next.
    const code = (ahead: number) => totpCode(secret, stepAt(Date.now()) + ahead);
    await page.getByLabel('The code').fill(code(0));
    await page.getByLabel('The code').press('Enter');
    await page.getByText('The second factor is on.').waitFor();
    assertClean(visitor.watched, stage.url);

    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL(/\/(login|welcome)/);
    await page.goto(`${stage.url}/security`);
    await enter(page, { email: EMAIL, password: PASSWORD });
    await page.getByLabel('Six digits from your authenticator app').fill(code(1));
    await page.getByLabel('Six digits from your authenticator app').press('Enter');
    await page.waitForURL('**/security');
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL(/\/(login|welcome)/);
  });

  test('nothing of all this left the house or was refused by the policy', () =>
    assertClean(visitor.watched, stage.url));
});
