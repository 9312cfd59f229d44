// Between a phone and a wide desktop nothing is left over: no page scrolls sideways from 360 px up, whatever an account is called.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLACES } from '../../web/parts/places.ts';
import { logIn, onStage, sideways } from './stage.ts';

/** Each side of where a layout changes, and where people are. */
const WIDTHS = [360, 390, 480, 600, 759, 761, 768, 900, 960, 1023, 1024, 1100, 1216, 1280, 1300, 1440, 1920];
/** As long as a name may be, and nowhere to break it. */
const UNBROKEN = 'W'.repeat(100);

await onStage('at every width', async ({ stage, page, open }) => {
  const long = await stage.makeAccount({ name: UNBROKEN });
  const other = await stage.makeAccount({ name: 'Lab' });
  const stance = { market_position: 'long', prev_market_position: 'flat', prev_market_position_size: 0 };
  await stage.signal(long, {
    ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 0.1, ...stance, market_position_size: 0.1 },
    ...{ stop_loss: '2%', take_profit: '3%' },
  });
  await stage.signal(long, { action: 'sync', symbol: 'SOLUSDT', ...stance, market_position_size: 3 });
  await stage.signal(long, {
    action: 'buy',
    symbol: 'ETHUSDT',
    quantity: 1,
    limit_price: 10,
    id: UNBROKEN.slice(36),
  });
  await stage.signal(long, { action: 'buy', symbol: 'BTCUSDT', quantity: 1, secret: 'wrong' });
  await stage.signal(long, { action: 'buy', symbol: 'BTCUSDT', quantity: 1234567.89 });
  const group = await stage.call<{ id: string }>('/trading/groups', {
    body: { name: UNBROKEN, members: [long, other].map(({ id }) => ({ trading_account_id: id })) },
  });
  const { items } = await stage.call<{ items: { order_id: string }[] }>('/trading/orders');
  await logIn(page, stage);

  const paths = [
    ...PLACES.map(({ to }) => to),
    ...[`/accounts/${long.id}`, `/groups/${group.id}`],
    ...items.map(({ order_id }) => `/orders/${order_id}`),
    ...items.slice(-1).map(({ order_id }) => `/trades/${order_id}`),
  ];
  for (const path of paths)
    test(`${path.replace(/[0-9a-f-]{36}/, '…')} does not scroll sideways`, async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await open(path);
      const wide: Record<number, string[]> = {};
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const found = await sideways(page);
        if (found.length > 0) wide[width] = found;
      }
      assert.deepEqual(wide, {});
    });
});
