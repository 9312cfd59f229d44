// The price chart in a real browser: of a trade, of an order and of what is held. Prices are set, so that what is drawn is known.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, logIn, onStage, sideways } from './stage.ts';

const WIDTHS = [360, 390, 768, 1024, 1280, 1920];

await onStage('A picture of it', async ({ stage, visitor, page, open }) => {
  const account = await stage.makeAccount({
    name: 'Lab',
    paper: { latency_ms: 0, price: { BTCUSDT: 100 } },
  });
  const price = (value: number) =>
    stage.call(`/trading/accounts/${account.id}`, {
      method: 'PATCH',
      body: { paper: { price: { BTCUSDT: value } } },
    });
  const orders = () =>
    stage.call<{ items: readonly { order_id: string; action: string }[] }>('/trading/orders?limit=20');
  const entry = {
    ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 10, id: 'Breakout', price: 99.5 },
    ...{ stop_loss: 90, take_profit: 110 },
  };
  assert.equal(await stage.signal(account, entry), 200);
  const opener = (await orders()).items[0]?.order_id ?? '';
  await logIn(page, stage);
  const chart = page.getByRole('img', { name: /BTCUSDT/ });
  const marks = (kind: string) => page.locator(`svg [data-mark="${kind}"]`);
  const status = page.locator('figcaption [role="status"]');

  test('of what is held stands in Positions, when somebody wants to see it', async () => {
    await open('/positions');
    assert.equal(await chart.count(), 0, 'no broker is asked for nothing');
    await page.getByRole('button', { name: 'BTCUSDT, Lab', exact: true }).click();
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
    assert.equal(await marks('fill').count(), 1);
    assert.match(
      (await chart.getAttribute('aria-label')) ?? '',
      /^Price of BTCUSDT in candles of 1 min from/,
    );
    await page.locator('ol').getByText('bought 10 at 100').waitFor();
    await page.getByText('the strategy asked for 99.5').waitFor();
    await page.getByRole('button', { name: 'BTCUSDT, Lab', exact: true }).click();
    await chart.waitFor({ state: 'detached' });
  });

  test('of an order has its fill, its stop and its target, and the list has the same numbers', async () => {
    await open(`/orders/${opener}`);
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
    await marks('move').first().waitFor();
    assert.deepEqual(await page.locator('svg [data-mark="fill"] text').allTextContents(), ['1']);
    assert.deepEqual(await page.locator('svg [data-mark="move"] text').allTextContents(), ['2']);
    assert.equal(await marks('asked').count(), 1);
    assert.match((await page.locator('svg [data-line="stop"]').getAttribute('d')) ?? '', /^M[\d.]+ [\d.]+H/);
    const list = page.locator('ol').filter({ hasText: 'bought' }).getByRole('listitem');
    assert.match(await list.nth(0).innerText(), /^1\s.*bought 10 at 100/);
    assert.match(await list.nth(1).innerText(), /^2\s.*stop set at 90/);
    await page
      .locator('svg text')
      .filter({ hasText: /^stop 90$/ })
      .waitFor();
    await page
      .locator('svg text')
      .filter({ hasText: /^target 110$/ })
      .waitFor();
  });

  test('the candles are there as a table too, and in other lengths', async () => {
    await open(`/orders/${opener}`);
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
    await page.getByText('The candles as a table').click();
    await page.locator('details table tbody tr').nth(5).waitFor();
    await page.getByRole('button', { name: '5 min', exact: true }).click();
    assert.equal(
      await page.getByRole('button', { name: '5 min', exact: true }).getAttribute('aria-pressed'),
      'true',
    );
    await page.getByText('rose, fell in 5 min').waitFor();
  });

  test('of a trade stands above what happened, with the same numbers', async () => {
    await price(104);
    assert.equal(
      await stage.signal(account, { action: 'close', symbol: 'BTCUSDT', quantity: undefined }),
      200,
    );
    await open(`/trades/${opener}`);
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
    await marks('move').first().waitFor();
    assert.equal(await marks('fill').count(), 2);
    const rows = page
      .getByRole('table')
      .filter({ has: page.getByRole('heading', { name: 'What happened' }) })
      .getByRole('row')
      .filter({ has: page.getByRole('cell') });
    assert.match(await rows.nth(0).innerText(), /^1\s.*bought 10/s);
    assert.match(await rows.nth(1).innerText(), /^2\s.*stop set at 90.*every move/s);
    assert.match(await rows.nth(2).innerText(), /^3\s.*sold 10/s);
    const isAbove = await page.evaluate(
      `document.querySelector('figure').getBoundingClientRect().top < document.querySelector('table').getBoundingClientRect().top`,
    );
    assert.equal(isAbove, true);
  });

  test('of a reversal has what was asked for once for each fill, however wide the window becomes', async () => {
    const stood = { prev_market_position: 'flat', prev_market_position_size: 0 };
    const long = { market_position: 'long', market_position_size: 10 };
    const turned = { market_position: 'short', market_position_size: 10 };
    const was = { prev_market_position: 'long', prev_market_position_size: 10 };
    const order = { symbol: 'BTCUSDT', price: 103.5 };
    assert.equal(
      await stage.signal(account, { ...order, action: 'buy', quantity: 10, ...long, ...stood }),
      200,
    );
    assert.equal(
      await stage.signal(account, { ...order, action: 'sell', quantity: 20, ...turned, ...was }),
      200,
    );
    await open(`/orders/${(await orders()).items[0]?.order_id}`);
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await visitor.settled();
      assert.equal(await marks('asked').count(), 2, String(width));
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('candles that are late, are refused or are none: the rest is drawn, and nothing moves', async () => {
    const candles = '**/candles?*';
    const held = Promise.withResolvers<void>();
    await page.route(candles, async (route) => {
      await held.promise;
      await route.fulfill({
        json: { symbol: 'BTCUSDT', interval: '1m', source: 'none', candles: [] },
      });
    });
    await page.goto(`${stage.url}/trades/${opener}`);
    await status.filter({ hasText: 'the candles are on their way' }).waitFor();
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    await marks('move').first().waitFor();
    assert.equal(await marks('fill').count(), 2);
    const topOf = () => page.evaluate(`document.querySelector('table').getBoundingClientRect().top`);
    const before = await topOf();
    held.resolve();
    await status.filter({ hasText: 'this broker gives no candles' }).waitFor();
    assert.equal(await topOf(), before);
    assert.equal(await marks('fill').count(), 2);
    await page.unroute(candles);

    await page.route(candles, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        json: { title: 'away', status: 503, code: 'broker_unavailable', detail: 'away' },
      }),
    );
    await page.goto(`${stage.url}/trades/${opener}`);
    await status.filter({ hasText: 'the candles did not come' }).waitFor();
    assert.equal(await marks('fill').count(), 2);
    await page.unroute(candles);
    await status.getByRole('button', { name: 'Ask again' }).click();
    await status.filter({ hasText: 'the broker’s own candles' }).waitFor();
  });

  test('keeps nobody out, in either theme, fits every width, and says nothing by colour', async () => {
    for (const path of [`/trades/${opener}`, `/orders/${opener}`]) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await open(path);
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        assert.deepEqual(await barriers(page), [], `${path}, ${theme}`);
        const colours = await page.evaluate(`[...new Set([...document.querySelectorAll('figure svg *')]
          .flatMap((one) => [getComputedStyle(one).fill, getComputedStyle(one).stroke]))]
          .map((colour) => (colour.match(/\\d+/g) ?? []).slice(0, 3).map(Number))
          .filter((rgb) => rgb.length === 3 && Math.max(...rgb) - Math.min(...rgb) > 24)`);
        assert.deepEqual(colours, [], `${path}, ${theme}: neither red nor green`);
      }
      const wide: Record<number, string[]> = {};
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await visitor.settled();
        const found = await sideways(page);
        if (found.length > 0) wide[width] = found;
      }
      assert.deepEqual(wide, {}, path);
    }
    assertClean(visitor.watched, stage.url, [/503/]);
  });
});
