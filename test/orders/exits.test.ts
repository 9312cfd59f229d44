// Exits never flip a position, not even one that changes between the look at it and the order.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { openPaper } from '../../src/broker/paper/paper.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import type { Side } from '../../src/domain/orders/order.ts';
import { accountOf, NEVER, NO_HURRY } from '../broker/paper-desk.ts';
import { patient } from '../broker/patient.ts';
import { openWorld } from '../world.ts';

describe('A position that changes between the look and the order', () => {
  /** Someone trades this by hand while the latency of the paper broker passes. */
  async function interfered(t: TestContext, position: number, byHand: [Side, number]) {
    const hand: { trade: (() => Promise<unknown>) | null } = { trade: null };
    const wait = async () => {
      const { trade } = hand;
      hand.trade = null;
      await trade?.();
    };
    // What our own fills say is not held against the hand's trade for long.
    const world = await openWorld(t, { wait, env: { POSITION_LAG_SECONDS: '0.2' } });
    const trader = await world.makeTrader();
    const action = position > 0 ? 'long_entry' : 'short_entry';
    await world.send(trader, { action, quantity: Math.abs(position) });
    await world.setPaper(trader, { latency_ms: 5 });
    hand.trade = async () => {
      const ledger = openPaperLedger(world.db);
      const open = openPaper({ ledger, clock: world.clock, wait: async () => {} });
      const connection = patient(await open(accountOf(trader.account.id, {}), NO_HURRY));
      const instrument = await connection.resolve('BTCUSDT');
      assert.ok(!('rejection' in instrument));
      const [side, quantity] = byHand;
      const clientOrderId = 'byhand' as ClientOrderId;
      await connection.place({
        clientOrderId,
        instrument,
        side,
        quantity: decimal(quantity),
        reduceOnly: false,
        sendBefore: NEVER,
      });
    };
    return { world, trader };
  }

  // biome-ignore format: a table, one row a line
  const rows: [string, number, [Side, number], Record<string, unknown>, string, string][] = [
    ['long 3, sold 2 by hand: long_exit 3 sells 1 and ends flat', 3, ['sell', 2], { action: 'long_exit', quantity: 3 }, 'filled', '0'],
    ['long 3, sold 2 by hand: close_long sells 1 and ends flat', 3, ['sell', 2], { action: 'close_long' }, 'filled', '0'],
    ['long 3, sold out by hand: long_exit 3 is rejected and stays flat', 3, ['sell', 3], { action: 'long_exit', quantity: 3 }, 'rejected', '0'],
    ['long 3, turned short by hand: close_long is rejected and leaves the short alone', 3, ['sell', 5], { action: 'close_long' }, 'rejected', '-2'],
    ['short 3, bought 2 by hand: short_exit 3 buys 1 and ends flat', -3, ['buy', 2], { action: 'short_exit', quantity: 3 }, 'filled', '0'],
    ['long 3, sold 2 by hand: short_entry 1 closes 1, sells 1 and ends short 1', 3, ['sell', 2], { action: 'short_entry' }, 'filled', '-1'],
  ];
  for (const [name, position, byHand, fields, status, final] of rows)
    test(name, async (t) => {
      const { world, trader } = await interfered(t, position, byHand);
      const { body } = await world.send(trader, fields);
      // Refused, it was planned anew, on what was held by then.
      assert.equal(body.position_before, status === 'filled' ? position : Number(final));
      assert.deepEqual(
        [body.status, body.error?.code],
        [status, status === 'filled' ? undefined : 'no_position'],
      );
      assert.equal(await world.position(trader.account.id, 'BTCUSDT'), final);
    });
});
