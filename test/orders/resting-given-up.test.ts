// An entry that verification has given up may rest all the same, or may have opened something that is to be protected: its owner is
// told, and somebody goes on looking.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { millis, type Timestamp } from '../../src/domain/ids.ts';
import { scriptedDesk } from './resting-desk.ts';

const DAY = 24 * 3_600_000;
const TURN_MS = 10_000;

const isOf = (asked: unknown, id: string | undefined): boolean =>
  (asked as { readonly clientOrderId?: string } | null)?.clientOrderId === id;

/** A broker where an entry rests that it has not shown for so long that the entry is a dead letter. */
async function givenUp(t: test.TestContext) {
  const { clock, broker, world, trader, rests, givesUp } = await scriptedDesk(t);
  const id = await rests({ quantity: 2 });
  await givesUp(id);
  const endsWith = (code: string) =>
    world.eventually(
      () => world.order(trader, id),
      ({ status, error }) => status === 'cancelled' && error?.code === code,
    );
  return { clock, broker, world, trader, id, endsWith };
}

describe('an entry that rests and was given up', () => {
  test('is taken back when its time is over', async (t) => {
    const { clock, broker, endsWith } = await givenUp(t);
    broker.forgetScripts();
    clock.advance(30 * DAY);
    await endsWith('lapsed');
    assert.equal(broker.ledger[0]?.state.status, 'cancelled');
  });

  test('is followed again as soon as the broker shows it', async (t) => {
    const { clock, broker, world, trader, id } = await givenUp(t);
    broker.forgetScripts();
    broker.settle(broker.ledger[0], 'partially_filled', '1');
    clock.advance(10 * 60_000);
    const { verification } = await world.eventually(
      () => world.order(trader, id),
      ({ status }) => status === 'partially_filled',
    );
    assert.deepEqual([verification.state, verification.attempts], ['scheduled', 0]);
  });

  test('is taken back by a halt without flatten', async (t) => {
    const { clock, broker, world, trader, endsWith } = await givenUp(t);
    broker.forgetScripts();
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, { flatten: false });
    clock.advance(3_000);
    await endsWith('cancelled_on_request');
  });

  test('is taken back after an exit to which its end was not confirmed', async (t) => {
    const { clock, broker, world, trader, endsWith } = await givenUp(t);
    broker.forgetScripts();
    broker.script('cancel', () => Promise.reject(new BrokerUnavailable('orders cannot be cancelled now')));
    broker.give(trader.account.id, 3);
    broker.fills = 'at once';
    const exit = await world.send(trader, { action: 'close', quantity: undefined });
    assert.equal(exit.body.status, 'filled', JSON.stringify(exit.body));
    assert.equal(broker.ledger[0]?.state.status, 'placed');
    broker.forgetScripts();
    clock.advance(3_000);
    await endsWith('cancelled_on_request');
  });

  test('counts for nothing beside another one that is to rest there', async (t) => {
    const { world, trader } = await givenUp(t);
    const url = `/trading/accounts/${trader.account.id}`;
    const patched = await world.as(trader, 'PATCH', url, { guards: { max_position: 3 } });
    assert.equal(patched.status, 200, JSON.stringify(patched.body));
    const { body } = await world.send(trader, { id: 'B', limit_price: 91, quantity: 2 });
    assert.equal(body.status, 'placed', JSON.stringify(body));
  });

  test('is waited for by one exit, and not by the next one right behind it', async (t) => {
    const { broker, world, trader } = await givenUp(t);
    const [entry] = broker.ledger;
    broker.fills = 'at once';
    const looksOfAnExit = async (given: number) => {
      broker.give(trader.account.id, given);
      const looks = broker.calls.length;
      const { body } = await world.send(trader, { action: 'close', quantity: undefined });
      assert.equal(body.status, 'filled', JSON.stringify(body));
      return broker.calls
        .slice(looks)
        .filter(({ call, asked }) => call === 'find' && isOf(asked, entry?.clientOrderId)).length;
    };
    assert.ok((await looksOfAnExit(3)) > 5);
    assert.ok((await looksOfAnExit(6)) <= 2);
    assert.deepEqual(broker.trades(), ['buy 2', 'sell 3', 'sell 3']);
  });

  test('stays a dead letter, and is looked at seldom, while the broker does not know it', async (t) => {
    const { clock, broker, world, trader, id } = await givenUp(t);
    const looks = broker.count('find');
    clock.advance(10_000);
    const dueIn = async () => {
      const row = await world.db.get<{ next_at: Timestamp }>(
        sql`select next_at from fill_checks where order_id = ${id}`,
      );
      return millis(row?.next_at ?? assert.fail()) - clock.now();
    };
    // While it is looked at, whoever does has a turn of its own.
    assert.equal(await world.eventually(dueIn, (ms) => ms > TURN_MS), 120_000);
    assert.equal(broker.count('find'), looks + 1);
    assert.equal((await world.order(trader, id)).verification.state, 'dead_letter');
  });
});

test('what was given up and has ended since is no dead letter any more, whoever has seen its end', async (t) => {
  const { clock, broker, world, trader } = await scriptedDesk(t);
  const { body } = await world.send(trader, { quantity: 2 });
  broker.settle(broker.ledger[0], 'partially_filled', '1');
  const isGivenUp = async () => {
    clock.advance(31_000);
    return (await world.order(trader, body.order_id)).verification.state;
  };
  await world.eventually(isGivenUp, (state) => state === 'dead_letter');
  const cancel = await world.send(trader, { action: 'cancel', quantity: undefined });
  assert.equal(cancel.body.status, 'done', JSON.stringify(cancel.body));
  const { status, verification } = await world.order(trader, body.order_id);
  assert.deepEqual([status, verification.state], ['cancelled', 'done']);
});

test('an entry at the market that asks for protection, and was given up while its broker was away, is found and protected', async (t) => {
  const { clock, broker, world, trader } = await scriptedDesk(t);
  const { body } = await world.send(trader, { quantity: 2, time_stop: 7_200 });
  assert.equal(body.status, 'placed', JSON.stringify(body));
  broker.settle(broker.ledger[0], 'filled');
  broker.script('find', () => Promise.reject(new BrokerUnavailable('away')));
  const read = () => world.order(trader, body.order_id);
  for (let nth = 1; nth <= 4; nth++) {
    clock.advance(31_000);
    await world.eventually(read, ({ verification }) => verification.attempts === nth);
  }
  assert.equal((await read()).verification.state, 'dead_letter');
  broker.forgetScripts();
  clock.advance(10_000);
  const { verification, protection } = await world.eventually(
    read,
    (order) => order.status === 'filled' && order.protection?.state === 'standing',
  );
  assert.deepEqual([verification.state, protection?.time_stop_at !== null], ['done', true]);
});
