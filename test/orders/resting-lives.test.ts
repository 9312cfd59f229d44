// Random lives of resting entries: fills, parts, replacements, cancels, expiry, restarts. Whatever comes, the exchange never has an
// entry that we do not know of, and in the end it has none, and holds what our records say was filled.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { add, type Decimal, decimal, subtract, toNumber, ZERO } from '../../src/domain/decimal.ts';
import { restingDesk } from './resting-desk.ts';

/** The same for the same seed. */
function chance(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

interface AtExchange {
  readonly client_order_id: string;
  readonly status: string;
  readonly side: string;
  readonly fill_quantity: string;
}

describe('a random life of resting entries', () => {
  for (const seed of [1, 2, 3, 4])
    test(`ends with nothing at the exchange that we do not know of (seed ${seed})`, async (t) => {
      const { clock, world, trader, entry, moves, held } = await restingDesk(t);
      const drawn = chance(seed);
      const pick = <T>(of: readonly T[]): T => of[Math.floor(drawn() * of.length)] as T;
      const atExchange = () =>
        world.db.all<AtExchange>(sql`select client_order_id, status, side, fill_quantity from paper_orders`);
      const known = async () =>
        new Map(
          (
            await world.db.all<{ client_order_id: string; status: string; ending: string | null }>(
              sql`select l.client_order_id, l.status, o.ending from order_legs l join order_history o on o.order_id = l.order_id`,
            )
          ).map((row) => [row.client_order_id, row]),
        );
      const isOpen = (status: string) => status === 'placed' || status === 'partially_filled';
      let price = 60_000;

      const steps = [
        () => {
          const side = pick(['buy', 'buy', 'sell']);
          const away = pick([0.99, 0.995, 1.005, 1.01]);
          const at = Math.round(price * away);
          const stops = side === 'buy' ? away > 1 : away < 1;
          return entry({
            ...{ action: side, id: pick(['A', 'B', 'C']), quantity: 4, expires_in: pick([30, 120, 3_600]) },
            ...(stops && drawn() < 0.5 ? { limit_price: undefined, stop_price: at } : { limit_price: at }),
          });
        },
        () =>
          world.send(trader, {
            action: 'cancel',
            quantity: undefined,
            ...(drawn() < 0.5 && { cancel_id: 'A' }),
          }),
        () => world.send(trader, { action: pick(['buy', 'sell']), quantity: 1 }),
        () => world.send(trader, { action: 'close', quantity: undefined }),
        async () => {
          price = Math.round(price * pick([0.988, 0.994, 1.006, 1.012]));
          await moves(price);
        },
        async () => {
          clock.advance(pick([1_000, 31_000, 61_000]));
          await world.as(trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);
        },
        () =>
          world.setPaper(trader, {
            fill: pick(['full', 'partial']),
            price: { BTCUSDT: price },
            starting_cash: 1e8,
          }),
        () => world.restart(),
      ];
      for (let nth = 0; nth < 24; nth++) {
        await pick([steps[0], steps[0], ...steps])?.();
        const ours = await known();
        for (const { client_order_id: id, status } of await atExchange())
          if (isOpen(status)) assert.ok(ours.has(id), `${id} rests there and is in no record`);
      }

      // Its fills are everybody's: what could still be filled is taken back, and a month passes.
      const cancel = await world.send(trader, { action: 'cancel', symbol: '*', quantity: undefined });
      assert.equal(cancel.body.status, 'done', JSON.stringify(cancel.body));
      // A close that is filled in part goes on: it is no entry.
      const left = (await atExchange()).filter(
        ({ status, client_order_id }) => isOpen(status) && client_order_id.startsWith('fe'),
      );
      assert.deepEqual(left, []);
      await world.setPaper(trader, { fill: 'full', price: { BTCUSDT: price }, starting_cash: 1e8 });
      clock.advance(31_000);
      const unsettled = () =>
        world.db.all<{ order_id: string; status: string }>(
          sql`select order_id, status from order_history where status in ('placed', 'partially_filled', 'unknown', 'executing')`,
        );
      await world.eventually(unsettled, (rows) => rows.length === 0);
      const signed = (rows: readonly { side: string; fill_quantity: string | null }[]) =>
        rows.reduce<Decimal>((sum, { side, fill_quantity }) => {
          const filled = decimal(fill_quantity ?? '0');
          return side === 'buy' ? add(sum, filled) : subtract(sum, filled);
        }, ZERO);
      const recorded = await world.db.all<{ side: string; fill_quantity: string | null }>(
        sql`select side, fill_quantity from order_legs`,
      );
      const filled = signed(
        recorded.map((row) => ({ ...row, fill_quantity: row.fill_quantity && String(row.fill_quantity) })),
      );
      const there = signed(
        (await atExchange()).map((row) => ({ ...row, fill_quantity: String(row.fill_quantity) })),
      );
      assert.equal(filled, there, 'what is recorded is what was filled');
      assert.equal(await held(), toNumber(there));
    });
});
