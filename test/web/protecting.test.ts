// A stop is set, moved and removed by keyboard alone, on a paper account; what it did is told in its stories. No hand touches a
// pointer in here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertClean, barriers, logIn, onStage, scrollsSideways, sideways } from './stage.ts';

interface Position {
  readonly symbol: string;
  readonly average_price: number;
  readonly last_price: number;
  readonly protection: null | {
    readonly id: string;
    readonly state: string;
    readonly stop_loss: number | null;
    readonly take_profit: readonly unknown[];
    readonly trailing_stop: null | { readonly activate_at: number | null };
    readonly break_even: null | { readonly at: number | 'tp1'; readonly to: number };
    readonly time_stop_at: string | null;
  };
}

interface Made {
  readonly order_id: string;
  readonly source: string;
  readonly exit_reason: string | null;
  readonly caused_by: string | null;
}

await onStage(
  'protecting a position',
  async ({ stage, visitor, page, open }) => {
    const lab = await stage.makeAccount({ name: 'Lab' });
    // Prices stand still: what is typed stays on the right side of the market.
    const price = 60_000;
    await stage.call(`/trading/accounts/${lab.id}`, {
      method: 'PATCH',
      body: { paper: { price: { BTCUSDT: price, ETHUSDT: 3_000 } } },
    });
    await stage.signal(lab, { action: 'buy', symbol: 'BTCUSDT', quantity: 0.4 });
    await stage.signal(lab, {
      action: 'buy',
      symbol: 'ETHUSDT',
      quantity: 1,
      stop_loss: '5%',
      take_profit: '5%',
    });
    const held = async (symbol: string): Promise<Position> => {
      const { items } = await stage.call<{ items: Position[] }>(`/trading/accounts/${lab.id}/positions`);
      return items.find((position) => position.symbol === symbol) ?? assert.fail(`${symbol} is not held`);
    };
    await logIn(page, stage);

    const drawer = page.getByRole('complementary', { name: /BTCUSDT/ });
    const stop = drawer.getByRole('textbox', { name: 'Stop', exact: true });
    const sentence = drawer.getByRole('status').first();
    const pressFor = async (target: Locator, key = 'Enter') => {
      await target.focus();
      await page.keyboard.press(key);
    };
    const openDrawer = async () => {
      await pressFor(page.getByRole('button', { name: /what protects BTCUSDT/ }));
      await stop.waitFor();
      assert.equal(await drawer.locator(':focus').getAttribute('id'), await stop.getAttribute('id'));
    };
    const typeStop = async (text: string) => {
      await page.keyboard.press('Control+A');
      await page.keyboard.type(text);
    };
    const row = page.getByRole('row', { name: /BTCUSDT/ }).first();

    await test('shows what stands, and what has none', async () => {
      await open('/positions');
      await row.getByText('none asked for').waitFor();
      await page
        .getByRole('row', { name: /ETHUSDT/ })
        .getByText('2,850')
        .first()
        .waitFor();
      assert.deepEqual(await barriers(page), []);
      assert.equal(await scrollsSideways(page), false);
    });

    await test('sets a stop', async () => {
      await openDrawer();
      await typeStop('59000');
      await sentence.getByText('59,000').waitFor();
      assert.match(await sentence.innerText(), /^Sets the stop of 0\.4 BTCUSDT at 59,000: .* at risk\.$/);
      assert.deepEqual(await barriers(page), []);
      await pressFor(drawer.getByRole('button', { name: 'Set the stop at 59,000' }));
      await drawer.waitFor({ state: 'detached' });
      await row.getByText('59,000').waitFor();
      assert.equal((await held('BTCUSDT')).protection?.stop_loss, 59_000);
    });

    await test('says beside the field what is wrong, and sends nothing', async () => {
      await openDrawer();
      await typeStop('61000');
      await drawer.getByText('The stop of a long position lies below the last price').waitFor();
      assert.equal(await drawer.getByRole('button', { name: /Move the stop/ }).isDisabled(), true);
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      assert.equal((await held('BTCUSDT')).protection?.stop_loss, 59_000);
    });

    await test('moves it, and says what is at risk instead', async () => {
      await openDrawer();
      await typeStop('59500');
      await sentence.getByText('59,500').waitFor();
      assert.match(
        await sentence.innerText(),
        /^Moves the stop of 0\.4 BTCUSDT from 59,000 to 59,500: .* at risk instead of .*\.$/,
      );
      await pressFor(drawer.getByRole('button', { name: 'Move the stop to 59,500' }));
      await drawer.waitFor({ state: 'detached' });
      await row.getByText('59,500').waitFor();
      const focused = await page.evaluate('document.activeElement?.getAttribute("aria-label")');
      assert.equal(focused, 'Change what protects BTCUSDT', 'the focus is where it came from');
    });

    await test('asks from where on a stop trails, how far beyond the entry it goes, and for a time', async () => {
      const type = async (name: string, text: string) => {
        await drawer.getByRole('textbox', { name, exact: true }).focus();
        await typeStop(text);
      };
      await openDrawer();
      await type('Trails by', '400');
      await type('Trails from', '61000');
      await drawer.getByRole('combobox', { name: 'Break even' }).selectOption('price');
      await type('Break even at', '60500');
      await type('Break even, beyond the entry', '5 points');
      await type('Close at', '23:30 UTC');
      await sentence.getByText('once the price was at 61,000').waitFor();
      assert.deepEqual(await barriers(page), []);
      await page.setViewportSize({ width: 360, height: 780 });
      assert.deepEqual(await sideways(page), []);
      await page.setViewportSize({ width: 1280, height: 900 });
      await pressFor(drawer.getByRole('button', { name: 'Change what protects it' }));
      await drawer.waitFor({ state: 'detached' });
      const { average_price, protection } = await held('BTCUSDT');
      assert.equal(protection?.trailing_stop?.activate_at, 61_000);
      assert.equal(protection?.break_even?.at, 60_500);
      assert.ok(Math.abs((protection?.break_even?.to ?? 0) - average_price - 5) < 0.11, 'on the tick');
      assert.ok(protection?.time_stop_at);
    });

    await test('removes the close by the clock, and leaves the rest', async () => {
      await openDrawer();
      await pressFor(drawer.getByRole('button', { name: 'remove that' }));
      await sentence.getByText('It is no longer closed by the clock.').waitFor();
      await pressFor(drawer.getByRole('button', { name: 'Remove the close by the clock' }));
      await drawer.waitFor({ state: 'detached' });
      const { protection } = await held('BTCUSDT');
      assert.equal(protection?.time_stop_at, null);
      assert.equal(protection?.trailing_stop?.activate_at, 61_000);
      assert.equal(protection?.stop_loss, 59_500);
    });

    await test('has a story of every move', async () => {
      const { protection } = await held('BTCUSDT');
      await open(`/protections/${protection?.id}`);
      await page.getByRole('heading', { level: 1, name: /Stop at 59,500/ }).waitFor();
      await page.getByText('set from 59,000 to 59,500').waitFor();
      assert.deepEqual(await barriers(page), []);
      assert.equal(await scrollsSideways(page), false);
    });

    await test('removes it, once it was asked again', async () => {
      await open('/positions');
      await openDrawer();
      await pressFor(drawer.getByRole('button', { name: 'Remove the stop…' }));
      const dialog = page.getByRole('dialog', { name: 'Remove the stop' });
      await dialog.getByRole('button', { name: 'Keep it' }).waitFor();
      assert.deepEqual(await barriers(page), []);
      await pressFor(dialog.getByRole('button', { name: /^Remove the stop of/ }));
      await drawer.waitFor({ state: 'detached' });
      await row.getByText('none asked for').waitFor();
      assert.equal((await held('BTCUSDT')).protection?.stop_loss ?? null, null);
    });

    await test('an entry by hand is planned with its stop, and tells how soon it was protected', async () => {
      await open('/');
      await page.keyboard.press('t');
      const trade = page.getByRole('complementary', { name: 'Trade' });
      await trade.getByLabel('Account').selectOption({ label: 'Lab, paper, no real money' });
      await trade.getByRole('combobox', { name: 'Symbol' }).focus();
      await page.keyboard.type('SOLUSDT');
      await page.keyboard.press('Escape');
      await trade.getByLabel('Quantity').focus();
      await page.keyboard.type('2');
      await pressFor(trade.getByText('Stop, target and more'));
      await trade.getByRole('textbox', { name: 'Stop', exact: true }).focus();
      await page.keyboard.type('3');
      await trade.getByText('Protected from its first fill').waitFor();
      assert.deepEqual(await barriers(page), []);
      await pressFor(trade.getByRole('button', { name: /^Buy 2 SOLUSDT/ }));
      await page.getByRole('heading', { name: 'What protects it' }).waitFor();
      assert.deepEqual(await barriers(page), []);
      assert.equal(await scrollsSideways(page), false);
    });

    await test('an entry takes the account’s defaults, and declines one of them', async () => {
      await stage.call(`/trading/accounts/${lab.id}`, {
        method: 'PATCH',
        body: { protection_defaults: { '*': { stop_loss: '2%', take_profit: '4%' } } },
      });
      await open('/');
      await page.keyboard.press('t');
      const trade = page.getByRole('complementary', { name: 'Trade' });
      await trade.getByLabel('Account').selectOption({ label: 'Lab, paper, no real money' });
      await trade.getByRole('combobox', { name: 'Symbol' }).focus();
      await page.keyboard.type('XRPUSDT');
      await page.keyboard.press('Escape');
      await trade.getByLabel('Quantity').focus();
      await page.keyboard.type('20');
      await trade.getByText('with stop, target by default').waitFor();
      await pressFor(trade.getByText('Stop, target and more'));
      await pressFor(trade.getByRole('button', { name: 'decline it (the targets by default)' }));
      await trade.getByText('with no target; stop by default').waitFor();
      assert.deepEqual(await barriers(page), []);
      await pressFor(trade.getByRole('button', { name: /^Buy 20 XRPUSDT/ }));
      await page.getByRole('heading', { name: 'What protects it' }).waitFor();
      const { protection } = await held('XRPUSDT');
      assert.deepEqual(protection?.take_profit, []);
      assert.ok(protection?.stop_loss);
    });

    await test('a stop that was hit leads to who set it, and back', async () => {
      await stage.call(`/trading/accounts/${lab.id}`, {
        method: 'PATCH',
        body: { paper: { price: { BTCUSDT: price, ETHUSDT: 2_800 } } },
      });
      const { protection } = await held('ETHUSDT').catch(() => ({ protection: null }));
      if (protection) await stage.call(`/trading/protections/${protection.id}/look`, { method: 'POST' });
      const closes = async () =>
        (await stage.call<{ items: Made[] }>('/trading/orders')).items.filter(
          ({ source }) => source === 'protection',
        );
      let [close] = await closes();
      while (!close) [close] = await closes();
      assert.equal(close.exit_reason, 'stop_loss');
      await open(`/orders/${close.order_id}`);
      await page.getByRole('heading', { level: 1, name: /its stop was hit/ }).waitFor();
      assert.deepEqual(await barriers(page), []);
      await pressFor(page.getByRole('link', { name: /^The order that set it/ }));
      await page.waitForURL(`${stage.url}/orders/${close.caused_by}`);
      await visitor.settled();
      await page.getByText('its stop was hit').waitFor();
    });

    await test('nobody saw an error', () => assertClean(visitor.watched, stage.url));
  },
  { env: { PROTECTION_SWEEP_SECONDS: '1' } },
);
