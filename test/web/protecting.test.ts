// A stop is set, moved and removed by keyboard alone, on a paper account; what it did is told in its stories. No hand touches a
// pointer in here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { assertClean, barriers, logIn, onStage, scrollsSideways } from './stage.ts';

interface Position {
  readonly symbol: string;
  readonly average_price: number;
  readonly last_price: number;
  readonly protection: null | {
    readonly id: string;
    readonly state: string;
    readonly stop_loss: number | null;
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
