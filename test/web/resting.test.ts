// An entry that rests, is moved, is filled in parts, is cancelled and is taken back by the kill switch, by keyboard alone: no hand
// touches a pointer in here. What happens besides comes through the webhook.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertClean, barriers, logIn, onStage, sideways } from './stage.ts';

/** Where somebody wants to look at it: RESTING_PICTURES=folder. */
const PICTURES = process.env.RESTING_PICTURES;
const WIDTHS = [360, 390, 768, 1280, 1920];

await onStage('an entry that rests', async ({ stage, visitor, page, open }) => {
  const lab = await stage.makeAccount({ name: 'Lab' });
  const prices = (price: object, more: object = {}) =>
    stage.call(`/trading/accounts/${lab.id}`, { method: 'PATCH', body: { paper: { price, ...more } } });
  await prices({ BTCUSDT: 60_000, ETHUSDT: 3_000 });
  const first = await stage.call<{ items: { id: string; name: string }[] }>('/trading/accounts');
  for (const { id, name } of first.items)
    if (name !== 'Lab') await stage.call(`/trading/accounts/${id}`, { method: 'DELETE' });
  page.setDefaultTimeout(30_000);
  await logIn(page, stage);

  const pressOn = async (target: Locator, key = 'Enter') => {
    // A plan that has grown old is made anew first.
    await target.and(page.locator(':enabled, a')).focus();
    await page.keyboard.press(key);
  };
  const type = async (target: Locator, text: string) => {
    await target.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type(text);
  };
  const picture = async (name: string, isOver = false) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 700 ? 844 : 1000 });
      assert.deepEqual(await sideways(page), [], `${name} at ${width}`);
      if (!PICTURES || width === 360) continue;
      mkdirSync(PICTURES, { recursive: true });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.screenshot({
          path: join(PICTURES, `${name}-${colorScheme}-${width}.png`),
          fullPage: !isOver,
        });
      }
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    assert.deepEqual(await barriers(page), [], name);
  };
  // Each goes on from the one before.
  let isWhole = true;
  const step = (name: string, does: () => Promise<void>) =>
    test(name, async () => {
      assert.ok(isWhole, 'the one before it failed');
      isWhole = false;
      await does();
      isWhole = true;
    });
  const drawer = page.getByRole('complementary', { name: 'Trade' });
  const field = (name: string) => drawer.getByRole('textbox', { name, exact: true });
  const headline = page.getByRole('heading', { level: 1 });
  const table = page
    .getByRole('table')
    .filter({ has: page.getByRole('heading', { name: 'Resting entries' }) });
  const row = table.getByRole('row').filter({ has: page.getByRole('button', { name: /^Cancel/ }) });
  let placed = '';

  await step(
    'is placed with its price, its time and its id, and its story says what it waits for',
    async () => {
      await open('/');
      await page.keyboard.press('t');
      await type(drawer.getByRole('combobox', { name: 'Symbol' }), 'BTCUSDT');
      await page.keyboard.press('Escape');
      await type(field('Quantity'), '0.2');
      await pressOn(drawer.getByRole('radio', { name: 'limit', exact: true }), 'Space');
      await type(field('Limit price'), '59000.123');
      await drawer.getByText('In steps of').waitFor();
      await type(field('Limit price'), '59000');
      await type(field('Expires in'), '2');
      await drawer.getByRole('combobox', { name: 'Expires in, counted in' }).selectOption('hours');
      await type(field('Its id'), 'dip');
      await drawer.getByText('Buy 0.2 BTCUSDT at 59000 or better to open a long position').waitFor();
      await picture('trade-limit', true);
      await pressOn(drawer.getByRole('button', { name: 'Buy 0.2 BTCUSDT at 59,000 or better' }));
      await headline.filter({ hasText: 'Waiting to buy 0.2 BTCUSDT, at 59,000 or better' }).waitFor();
      placed = new URL(page.url()).pathname;
      await page.getByRole('heading', { name: 'What it waits for' }).waitFor();
      await page.getByText('the next entry of this id takes its place').waitFor();
      await picture('story-resting');
    },
  );

  await step('stands in Positions with its distance', async () => {
    await open('/positions');
    await row.getByText('limit 59,000').waitFor();
    const text = await row.innerText();
    assert.match(text, /buy 0\.2 BTCUSDT/);
    assert.match(text, /1\.\d % below the market/);
    assert.match(text, /id dip/);
    assert.match(text, /ends .*, in 1 h/);
    assert.match(text, /no stop or target/);
    await picture('positions-resting');
  });

  await step(
    'is moved: the next one of its id takes its place, and the first one’s story says so',
    async () => {
      await pressOn(row.getByRole('button', { name: /^Move/ }));
      await drawer.getByText('Takes back first: buy 0.2 at 59,000 or better.').waitFor();
      await type(field('Limit price'), '59500');
      await picture('trade-move', true);
      await pressOn(drawer.getByRole('button', { name: 'Buy 0.2 BTCUSDT at 59,500 or better' }));
      await headline.filter({ hasText: 'at 59,500 or better' }).waitFor();
      const moved = new URL(page.url()).pathname;
      await open(placed);
      await headline
        .filter({ hasText: 'Not bought: 0.2 BTCUSDT, taken back: a later entry took its place' })
        .waitFor();
      await picture('story-replaced');
      assert.equal(await page.getByRole('link', { name: 'That order’s story' }).getAttribute('href'), moved);
      await open('/positions');
      await row.getByText('limit 59,500').waitFor();
      assert.equal(await row.count(), 1);
      // By its strategy, while somebody looks.
      await stage.signal(lab, {
        ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 0.2, id: 'dip', limit_price: 59_200 },
        ...{ stop_loss: '2%' },
      });
      await row.getByText('limit 59,200').waitFor();
      await row.getByText('limit 59,500').waitFor({ state: 'detached' });
      await row.getByText('set by its first fill').waitFor();
      assert.equal(await row.count(), 1);
    },
  );

  await step('is counted by Today', async () => {
    await open('/');
    await page.getByRole('link', { name: '1 entry rests at the broker' }).waitFor();
    await picture('today-resting');
    await open('/positions');
  });

  await step('stands on its account’s page too, where it can be moved and cancelled', async () => {
    await stage.signal(lab, {
      action: 'buy',
      symbol: 'BTCUSDT',
      quantity: 0.1,
      id: 'low',
      limit_price: 58_000,
    });
    await open(`/accounts/${lab.id}`);
    const low = row.filter({ hasText: 'limit 58,000' });
    await low.waitFor();
    assert.equal(await row.count(), 2);
    await picture('account-resting');
    // Beside its list of accounts there was no room: rows one letter wide made a page of 27,000 px.
    await page.setViewportSize({ width: 768, height: 1000 });
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    assert.ok(height < 8_000, `a page of ${height} px`);
    await page.setViewportSize({ width: 1280, height: 900 });
    await pressOn(low.getByRole('button', { name: /^Move/ }));
    await drawer.getByText('Takes back first: buy 0.1 at 58,000 or better.').waitFor();
    await page.keyboard.press('Escape');
    await pressOn(low.getByRole('button', { name: /^Cancel/ }));
    const dialog = page.getByRole('dialog');
    await pressOn(dialog.getByRole('button', { name: 'Take it back: buy 0.1 BTCUSDT' }));
    await dialog.waitFor({ state: 'detached' });
    await low.waitFor({ state: 'detached' });
    await open('/positions');
  });

  await step('says where it is moved that its stop is not carried over', async () => {
    await pressOn(row.getByRole('button', { name: /^Move/ }));
    await drawer.getByText('They are not carried over').waitFor();
    await page.keyboard.press('Escape');
  });

  await step('is cancelled after one question, and goes without a reload', async () => {
    await pressOn(row.getByRole('button', { name: /^Cancel/ }));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It no longer waits to buy at 59,200 or better').waitFor();
    await picture('cancel', true);
    await pressOn(dialog.getByRole('button', { name: 'Take it back: buy 0.2 BTCUSDT' }));
    await dialog.waitFor({ state: 'detached' });
    await table.waitFor({ state: 'detached' });
    const { items } = await stage.call<{ items: { error: { code: string } }[] }>('/trading/orders');
    assert.equal(items[0]?.error.code, 'cancelled_on_request');
  });

  await step(
    'is filled in parts: what is filled is protected and stays when the rest is cancelled',
    async () => {
      await open('/positions');
      await prices({ BTCUSDT: 60_000, ETHUSDT: 3_000 }, { fill: 'partial' });
      await stage.signal(lab, {
        ...{ action: 'buy', symbol: 'ETHUSDT', quantity: 10, id: 'parts', limit_price: 2_950 },
        ...{ stop_loss: 2_900 },
      });
      await row.getByText('limit 2,950').waitFor();
      await prices({ BTCUSDT: 60_000, ETHUSDT: 2_940 }, { fill: 'partial' });
      await row.getByText(/of 10 filled/).waitFor();
      await row.getByText('stop 2,900').waitFor();
      await picture('positions-parts');
      await pressOn(row.getByRole('link'));
      await headline
        .filter({ hasText: /Bought .* of 10 ETHUSDT so far.*the rest waits at 2,950 or better/ })
        .waitFor();
      await picture('story-parts');
      await pressOn(page.getByRole('button', { name: 'Cancel…' }));
      const dialog = page.getByRole('dialog');
      await dialog.getByText('that were filled stay').waitFor();
      await pressOn(dialog.getByRole('button', { name: /^Take it back/ }));
      await headline.filter({ hasText: /the rest was taken back: its owner asked for it/ }).waitFor();
      await picture('story-parts-cancelled');
    },
  );

  await step('is taken back by the kill switch, which says so before', async () => {
    await prices({ BTCUSDT: 60_000, ETHUSDT: 2_940 }, { fill: 'full' });
    await stage.signal(lab, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.1, stop_price: 61_000 });
    await open('/positions');
    await row.getByText('stop 61,000').waitFor();
    await pressOn(page.locator('#halt'));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 entry rests').waitFor();
    await picture('halt-resting', true);
    await pressOn(dialog.getByRole('button', { name: 'Halt Lab, take back 1 resting entry', exact: true }));
    await dialog.getByText('Halted. New entries are refused, and what rests is taken back.').waitFor();
    await page.keyboard.press('Escape');
    await table.waitFor({ state: 'detached' });
    assertClean(visitor.watched, stage.url);
  });
});
