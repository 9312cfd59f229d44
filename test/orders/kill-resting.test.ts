// The process is killed while an entry is on its way to rest, and started again on the same data. The exchange's own ledger is the judge: nothing rests there that is in no record, nothing twice, and in the end nothing at all.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { sql } from '../../src/data/engine/db.ts';
import { eventually, killDesk, LATE, send } from './kill-desk.ts';

const { exchange, db, traderThere, live, killed } = await killDesk({ FILL_REQUEUE_SECONDS: '1' });

async function openDesk() {
  const trader = await traderThere();
  const { id } = trader.account;
  return {
    trader,
    /** All that the exchange ever took of it. */
    there: async () => {
      const { orders } = await exchange.control<ExchangeLedger>('GET', 'ledger');
      return orders
        .filter(({ account }) => account === id)
        .map(({ client_order_id, status }) => ({ id: client_order_id, status }));
    },
    record: () =>
      db.get<{ status: string; error: string | null; ending: string | null; leg: string }>(
        sql`select o.status, o.error, o.ending, l.client_order_id as leg
            from order_history o join order_legs l on l.order_id = o.order_id
            where o.trading_account_id = ${id} and o.priced is not null`,
      ),
  };
}

const KINDS = { 'a limit entry': { limit_price: 60_000 }, 'a stop entry': { stop_price: 70_000 } };

for (const [kind, prices] of Object.entries(KINDS))
  describe(`killed over ${kind}`, () => {
    for (const moment of ['arrived', 'accepted'])
      test(`when it has ${moment}, and nobody heard of it: it is found, once, and can be taken back`, async () => {
        const desk = await openDesk();
        const { address, name } = await live();
        const trap = await exchange.setTrap(name, moment, LATE);
        const sent = send(address, desk.trader, prices);
        await trap.caught();
        assert.equal((await desk.record())?.status, 'executing', 'it was saved before it was sent');
        await killed();
        await sent;
        const next = await live();
        const known = await eventually(desk.record, (seen) => seen?.status === 'placed');
        assert.deepEqual(await desk.there(), [{ id: known?.leg, status: 'placed' }]);
        await send(next.address, desk.trader, { action: 'cancel', quantity: undefined });
        const ended = await eventually(desk.record, (seen) => seen?.status === 'cancelled');
        assert.match(ended?.error ?? '', /cancelled_on_request/);
        assert.deepEqual(await desk.there(), [{ id: known?.leg, status: 'cancelled' }]);
      });

    test('while it is taken back, and the exchange does not answer: the next life takes it back', async () => {
      const desk = await openDesk();
      const { address } = await live();
      await send(address, desk.trader, prices);
      const known = await eventually(desk.record, (seen) => seen?.status === 'placed');
      await exchange.control('POST', 'faults', {
        ...{ kind: 'hang', ttl_ms: 60_000, accounts: [desk.trader.account.id] },
      });
      const sent = send(address, desk.trader, { action: 'cancel', quantity: undefined });
      await eventually(desk.record, (seen) => seen?.ending != null);
      await killed();
      await sent;
      await exchange.control('DELETE', 'faults');
      await live();
      const ended = await eventually(desk.record, (seen) => seen?.status === 'cancelled');
      assert.match(ended?.error ?? '', /cancelled_on_request/);
      assert.deepEqual(await desk.there(), [{ id: known?.leg, status: 'cancelled' }]);
    });
  });
