// The account's list of allowed symbols holds back what opens a position. Whoever is in one can leave it.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { openWorld, type Problem } from '../world.ts';

const SYMBOL = 'BTCUSDT';

/** It holds 2, and then its symbol is taken off the list. */
async function offList(t: TestContext, account: Partial<Account> = {}) {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, account);
  await world.send(trader, { quantity: 2 });
  const at = `/trading/accounts/${trader.account.id}`;
  await world.as(trader, 'PATCH', at, { allowed_symbols: ['ETHUSDT'] });
  const order = { trading_account_id: trader.account.id, symbol: SYMBOL, quantity: 1 };
  return {
    send: (fields: Record<string, unknown>) => world.send<Problem & { status: unknown }>(trader, fields),
    order: (fields: object) =>
      world.as<Problem & { status: unknown }>(trader, 'POST', '/trading/order', { ...order, ...fields }),
    plan: (fields: object) =>
      world.as<Problem & { legs?: object[] }>(trader, 'POST', '/trading/order/plan', { ...order, ...fields }),
    check: async (fields: Record<string, unknown>) =>
      (
        await world.as<{ checks: { check: string; outcome: string }[]; plan: { legs: object[] } | null }>(
          trader,
          'POST',
          `${at}/check`,
          { message: JSON.stringify(world.signal(trader, fields)) },
        )
      ).body,
    held: async () => Number(await world.position(trader.account.id, SYMBOL)),
  };
}

const LEAVING: Readonly<Record<string, Record<string, unknown>>> = {
  'an exit': { action: 'long_exit', quantity: 2 },
  'a close': { action: 'close_long' },
  'a close of whichever side': { action: 'close', quantity: null },
  'a sell that is an exit': { action: 'sell', order_type: 'exit', quantity: 2 },
  'a strategy that goes flat': { action: 'sell', market_position: 'flat', market_position_size: 0 },
};
const OPENING: Readonly<Record<string, Record<string, unknown>>> = {
  'an entry': { action: 'long_entry' },
  'a reversal': { action: 'sell', quantity: 3 },
  'a strategy that adds': { action: 'buy', market_position: 'long', market_position_size: 3 },
  'a report': { action: 'sync', quantity: null, market_position: 'long', market_position_size: 2 },
};

describe('A symbol that was taken off the list', () => {
  for (const [what, fields] of Object.entries(LEAVING))
    test(`can be left by ${what}, and check says so`, async (t) => {
      const { send, check, held } = await offList(t);
      const { checks, plan } = await check(fields);
      assert.equal(checks.find(({ check: name }) => name === 'symbol')?.outcome, 'passed');
      assert.equal(plan?.legs.length, 1);
      const { status, body } = await send(fields);
      assert.deepEqual([status, body.status, await held()], [200, 'filled', 0]);
    });

  for (const [what, fields] of Object.entries(OPENING))
    test(`is not traded by ${what}, and check says so`, async (t) => {
      const { send, check, held } = await offList(t);
      const { checks } = await check(fields);
      assert.equal(checks.find(({ check: name }) => name === 'symbol')?.outcome, 'refused');
      const { status, body } = await send(fields);
      assert.deepEqual([status, body.code, await held()], [400, 'webhook_payload_invalid', 2]);
    });

  test('is left, and nothing is opened in it, where the account follows its strategy', async (t) => {
    const { send, held } = await offList(t, { outOfSync: 'follow' });
    const stance = { market_position: 'long', market_position_size: 5 };
    await send({ action: 'sell', ...stance });
    assert.equal(await held(), 2, 'what is missing would be an entry');
    await send({ action: 'sell', ...stance, market_position_size: 1 });
    assert.equal(await held(), 1);
  });

  test('can be left by hand, and is planned so; an entry by hand is refused', async (t) => {
    const { order, plan, held } = await offList(t);
    for (const call of [order, plan]) {
      const { status, body } = await call({ action: 'buy' });
      assert.deepEqual([status, body.code], [400, 'request_invalid']);
    }
    assert.equal((await plan({ action: 'close_long' })).body.legs?.length, 1);
    assert.equal((await order({ action: 'close_long' })).body.status, 'filled');
    assert.equal(await held(), 0);
  });
});
