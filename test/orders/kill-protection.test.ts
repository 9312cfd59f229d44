// The process is killed between any two steps of protecting a position, held still there by a trap at the exchange, and started again
// on the same data. The exchange's own ledger is the judge: in the end one stop stands and every target once, what they close is in the
// history once, and flat leaves nothing.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { sql } from '../../src/data/engine/db.ts';
import { eventually, killDesk, LATE, send } from './kill-desk.ts';

/** `moving`: at which moments of a move it is killed. */
const KINDS = {
  'one stop of the position, amended': { terms: {}, moving: ['accepted'] },
  'stops of a quantity, new before old': {
    terms: { stop: 'sized', moves: 'replace', second_stop: 'beside' },
    moving: ['arrived', 'accepted', 'answered'],
  },
};

const { exchange, db, traderThere, live, killed } = await killDesk({ PROTECTION_SWEEP_SECONDS: '1' });

const price = (now: number) => exchange.control('POST', 'prices', { BTCUSDT: now });

async function openDesk(terms: object) {
  const trader = await traderThere(terms);
  const { id } = trader.account;
  const ledger = async () => {
    const { stops, orders, positions } = await exchange.control<ExchangeLedger>('GET', 'ledger');
    const own = <Row extends { account: string }>(rows: readonly Row[]) =>
      rows.filter(({ account }) => account === id);
    const last = new Map(own(stops).map((line) => [line.client_order_id, line]));
    return {
      orders: own(orders),
      held: own(positions).find(({ symbol }) => symbol === 'BTCUSDT')?.quantity ?? '0',
      stops: [...last.values()]
        .filter(({ what }) => what === 'placed' || what === 'moved')
        .map((stop) => stop.price),
      targets: own(orders)
        .filter(({ status, client_order_id }) => status === 'placed' && client_order_id.startsWith('fp'))
        .map(({ quantity }) => quantity),
    };
  };
  return {
    trader,
    ledger,
    closes: () =>
      db.all<{ exit_reason: string; fill_quantity: string; client_order_id: string }>(
        sql`select o.exit_reason, o.fill_quantity, l.client_order_id from order_history o
            join order_legs l on l.order_id = o.order_id
            where o.trading_account_id = ${id} and o.source = 'protection'`,
      ),
    row: () =>
      db.get<{ state: string; body: string | null }>(
        sql`select state, body from protections where trading_account_id = ${id} order by created_at desc limit 1`,
      ),
  };
}
type Desk = Awaited<ReturnType<typeof openDesk>>;

const WANTED = { stop_loss: 64_000, take_profit: [{ at: 67_000, percent: 50 }] };

/** One stop stands there, at its price, and the target once; when it fires, everything is told once and nothing is left. */
async function judged({ ledger, closes, row }: Desk, stop: string): Promise<void> {
  const isAtRest = ({ stops, targets }: Awaited<ReturnType<Desk['ledger']>>) =>
    `${stops}` === stop && `${targets}` === '0.5';
  await eventually(ledger, isAtRest);
  await eventually(row, (seen) => seen?.state === 'standing');
  // It stays so.
  await sleep(1_500);
  const rested = await ledger();
  assert.ok(isAtRest(rested), `it came to rest, and was disturbed: ${JSON.stringify(rested)}`);
  assert.deepEqual([rested.held, await closes()], ['1', []]);
  await price(Number(stop) - 100);
  await flat({ ledger, closes, row });
}

async function flat({ ledger, closes, row }: Pick<Desk, 'ledger' | 'closes' | 'row'>): Promise<void> {
  await eventually(row, (seen) => seen?.state === 'ended');
  const seen = await ledger();
  assert.deepEqual([seen.held, seen.stops, seen.targets], ['0', [], []]);
  const made = await closes();
  assert.deepEqual(
    made.map(({ exit_reason, fill_quantity }) => [exit_reason, Number(fill_quantity)]),
    [['stop_loss', 1]],
  );
  assert.equal(
    seen.orders.filter(({ side, fill_quantity }) => side === 'sell' && fill_quantity !== '0').length,
    1,
  );
}

for (const [kind, { terms, moving }] of Object.entries(KINDS))
  describe(`killed while it is protected, where the broker has ${kind}`, () => {
    test('after the fill was saved, before anything was sent for it', async () => {
      // Another life: this one may still read the positions of those before.
      await killed();
      const desk = await openDesk(terms);
      const { address, name } = await live();
      const entering = await exchange.setTrap(name, 'accepted');
      const sent = send(address, desk.trader, WANTED);
      await entering.caught();
      const reading = await exchange.setTrap(name, 'position');
      await entering.release();
      await reading.caught();
      assert.equal((await desk.row())?.state, 'armed');
      await killed();
      await sent;
      assert.deepEqual((await desk.ledger()).stops, []);
      await live();
      await judged(desk, '64000');
    });

    for (const moment of ['arrived', 'accepted'])
      test(`when its first stop has ${moment}`, async () => {
        const desk = await openDesk(terms);
        const { address, name } = await live();
        const trap = await exchange.setTrap(name, moment, { stops: true, ...LATE });
        const sent = send(address, desk.trader, WANTED);
        await trap.caught();
        const { legs } = JSON.parse((await desk.row())?.body ?? '{}');
        assert.equal(legs[0]?.limit, null, 'it was saved before it was sent');
        await killed();
        await sent;
        await live();
        await judged(desk, '64000');
      });

    test('when a target was taken, and nobody heard of it', async () => {
      const desk = await openDesk(terms);
      const { address, name } = await live();
      const stop = await exchange.setTrap(name, 'accepted', { stops: true });
      const sent = send(address, desk.trader, WANTED);
      await stop.caught();
      const target = await exchange.setTrap(name, 'accepted', { closes: true, ...LATE });
      await stop.release();
      await target.caught();
      await killed();
      await sent;
      await live();
      await judged(desk, '64000');
    });

    for (const moment of moving)
      test(`when the stop in its place has ${moment}, and the old one may stand beside it`, async () => {
        const desk = await openDesk(terms);
        const { address, name } = await live();
        await send(address, desk.trader, WANTED);
        await eventually(desk.ledger, ({ stops, targets }) => stops.length === 1 && targets.length === 1);
        await eventually(desk.row, (seen) => seen?.state === 'standing');
        const trap = await exchange.setTrap(name, moment, { stops: true, ...LATE });
        const sent = send(address, desk.trader, { action: 'protect', stop_loss: 64_400 });
        await trap.caught();
        await killed();
        await sent;
        await live();
        await judged(desk, '64400');
      });

    test('and it fires while nobody lives', async () => {
      const desk = await openDesk(terms);
      const { address } = await live();
      await send(address, desk.trader, WANTED);
      await eventually(desk.ledger, ({ stops, targets }) => stops.length === 1 && targets.length === 1);
      await eventually(desk.row, (seen) => seen?.state === 'standing');
      await killed();
      await price(63_900);
      await live();
      await flat(desk);
    });

    test('at once after it has fired', async () => {
      const desk = await openDesk(terms);
      const { address } = await live();
      await send(address, desk.trader, WANTED);
      await eventually(desk.ledger, ({ stops, targets }) => stops.length === 1 && targets.length === 1);
      await eventually(desk.row, (seen) => seen?.state === 'standing');
      await price(63_900);
      await eventually(desk.ledger, ({ held }) => held === '0');
      await killed();
      await live();
      await flat(desk);
    });
  });
