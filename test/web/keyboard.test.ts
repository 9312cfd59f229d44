// The pages by keyboard alone: no hand touches a pointer in here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { PLACES } from '../../web/parts/places.ts';
import { assertClean, chord, onStage } from './stage.ts';

/**
 * From here on the page notes what the focus reaches, and what of it shows no ring: on itself, or around it where the control
 * itself is drawn by its label.
 */
const NOTE_FOCUS = `
  window.reached = new Set();
  window.ringless = [];
  document.addEventListener('focusin', ({ target }) => {
    reached.add(target);
    const hasRing = (element) => {
      const { outlineStyle, outlineWidth, opacity } = getComputedStyle(element);
      return outlineStyle !== 'none' && outlineWidth !== '0px' && opacity !== '0';
    };
    const around = [target, target.parentElement, target.parentElement?.parentElement];
    if (!around.some((element) => element && hasRing(element))) ringless.push(target.outerHTML.slice(0, 120));
  });
  document.activeElement?.blur();`;

const CONTROLS = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  .filter((element) => element.tabIndex >= 0 && !element.disabled &&
    element.checkVisibility({ visibilityProperty: true }))`;

/** Of a group of radio buttons the keyboard reaches one, and from there the others by the arrows. */
const UNREACHED = `${CONTROLS}
  .filter((element) => !reached.has(element) && !(element.type === 'radio' &&
    [...reached].some(({ type, name }) => type === 'radio' && name === element.name)))
  .map((element) => element.outerHTML.slice(0, 120))`;

const PAGES = [
  ...PLACES.map(({ to }) => to),
  ...[
    '/welcome',
    '/register',
    '/forgot-password',
    '/reset-password?token=none',
    '/verify-email?token=none',
    '/terms',
  ],
];

await onStage('by keyboard alone', async ({ stage, visitor, page }) => {
  const lab = await stage.makeAccount({ name: 'Lab' });
  for (const symbol of ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'])
    await stage.signal(lab, { action: 'buy', symbol, quantity: 1 });
  const flat = { market_position: 'flat', market_position_size: 0 };
  await stage.signal(lab, { action: 'sync', symbol: 'ETHUSDT', ...flat });

  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Waits until it has the focus. */
  const focused = (locator: Locator) => locator.and(page.locator(':focus')).waitFor();

  async function reachAll(): Promise<void> {
    await visitor.settled();
    await page.evaluate(NOTE_FOCUS);
    const count = (await page.evaluate(`${CONTROLS}.length`)) as number;
    assert.ok(count > 1, `${count} controls`);
    // A date is day, month, year and the calendar's button.
    const dates = (await page.evaluate(`document.querySelectorAll('input[type=date]').length`)) as number;
    for (let presses = 0; presses < count + 3 * dates + 2; presses += 1) await press('Tab');
    assert.deepEqual(await page.evaluate(UNREACHED), []);
    assert.deepEqual(await page.evaluate('ringless'), []);
  }

  test('one is refused, and is still at the button that one pressed', async () => {
    await page.goto(`${stage.url}/login`);
    await focused(page.getByLabel('Email'));
    await page.keyboard.type(stage.firstUser.email);
    await press('Tab');
    await page.keyboard.type('not the password');
    const button = page.getByRole('button', { name: 'Log in' });
    await button.focus();
    await press('Enter');
    await page.getByText('The email address or the password is wrong').waitFor();
    await focused(button);
  });

  test('one logs in', async () => {
    await page.goto(`${stage.url}/login`);
    await focused(page.getByLabel('Email'));
    await page.keyboard.type(stage.firstUser.email);
    await press('Tab');
    await focused(page.getByLabel('Password'));
    await page.keyboard.type(stage.firstUser.password);
    await press('Enter');
    await page.waitForURL(`${stage.url}/`);
    await visitor.settled();
  });

  test('one goes to the signals, from row to row, into a story and to the ones beside it', async () => {
    await chord(page, 'g', 's');
    await page.waitForURL(`${stage.url}/signals`);
    // Today has such rows too, and stands until this page is there.
    await page.locator('table[aria-rowcount]').waitFor();
    const row = (name: string) => page.locator('a[data-row]').filter({ hasText: name });
    await row('BTCUSDT').waitFor();
    await press('j');
    await focused(row('ETHUSDT').first());
    await press('j');
    await focused(row('SOLUSDT'));
    await press('k', 'j', 'Enter');
    await page.waitForURL(/\/signals\/[0-9a-f-]{36}$/);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'SOLUSDT' }).waitFor();
    await page.getByRole('link', { name: 'Older' }).waitFor();
    await press('j');
    await page.getByRole('heading', { level: 1 }).filter({ hasText: 'ETHUSDT' }).waitFor();
    await reachAll();
  });

  test('one searches', async () => {
    await press('/');
    await focused(page.getByRole('searchbox', { name: 'Search' }));
    await page.keyboard.type('BTC');
    await press('Enter');
    await page.waitForURL(`${stage.url}/signals?search=BTC`);
    await page.getByRole('row').filter({ hasText: 'BTCUSDT' }).first().waitFor();
    await press('Escape');
  });

  test('one opens an order and leaves it, and is back where one was', async () => {
    await chord(page, 'g', 'h');
    await focused(page.locator('#halt'));
    await press('t');
    const drawer = page.getByRole('complementary', { name: 'Trade' });
    await focused(drawer.getByRole('combobox', { name: 'Symbol' }));
    await press('Escape', 'Escape');
    await drawer.waitFor({ state: 'detached' });
    await focused(page.locator('#halt'));
  });

  test('one halts: the first press is on the button that trades nothing', async () => {
    await chord(page, 'g', 'h');
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Halt' });
    await focused(dialog.getByRole('button', { name: /^Halt/ }));
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await focused(page.locator('#halt'));
  });

  test('one asks for the keys', async () => {
    await press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.getByText('go to Halt, which asks before it acts').waitFor();
    await dialog.getByRole('row', { name: 'g o go to Operation' }).waitFor();
    await press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await chord(page, 'g', 'o');
    await page.waitForURL(`${stage.url}/operation`);
  });

  for (const path of PAGES)
    test(`on ${path} the focus reaches every control, and is seen there`, async () => {
      await page.goto(stage.url + path);
      await reachAll();
    });

  test('and nothing went wrong besides', () => assertClean(visitor.watched, stage.url, [/401/]));
});
