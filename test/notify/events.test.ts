// Of what users are told: each thing once, to those who asked for it, and never in the way of an order.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { findEvents } from '../../src/app/notifications/find-events.ts';
import { summarise } from '../../src/app/notifications/summarise.ts';
import { tell } from '../../src/app/notifications/tell.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Event, type EventKind, MOST_DESTINATIONS } from '../../src/domain/told/notification.ts';
import { leaveAsRestored } from '../orders/restored.ts';
import { settableClock } from '../world.ts';
import { openDesk } from './desk.ts';

describe('An order', () => {
  test('that is filled, one that is rejected, and one that a guard refuses are told of once, however many processes look', async (t) => {
    const { world, add, until, round, settled, sent, kinds } = await openDesk(t);
    const trader = await world.makeTrader({}, { guards: { max_order_quantity: 5 } });
    await add(trader);
    const filled = await world.send(trader, { quantity: 2 });
    await world.send(trader, { quantity: 6 });
    await world.setPaper(trader, { reject: 'insufficient_margin' });
    await world.send(trader, { quantity: 1 });
    await until(() => sent.length >= 3);
    await Promise.all([round(), round(), round()]);
    await settled();
    assert.deepEqual(kinds().toSorted(), ['fill', 'guard_refused', 'order_failed']);
    const fill = sent.find(({ message }) => message.event === 'fill')?.message;
    assert.match(fill?.text ?? '', /^Bought 2 BTCUSDT at [\d.]+ on Paper\.$/);
    assert.equal(fill?.link, `http://localhost:8080/orders/${filled.body.order_id}`);
    assert.deepEqual(sent[0]?.address, {
      kind: 'telegram',
      botToken: `123456789:${'A'.repeat(35)}`,
      chatId: '42',
    });
  });

  test('that rests is told of when verification gives it up, once', async (t) => {
    const clock = settableClock();
    const desk = await openDesk(t, { clock, env: { FILL_RETRIES: '0' } });
    const { world, add, until, settled, kinds } = desk;
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    await add(trader);
    const { body } = await world.send(trader);
    await settled();
    assert.deepEqual(kinds(), []);
    clock.advance(2_500);
    await until(() => kinds().includes('dead_letter'));
    assert.equal(
      (await world.inSession(trader, 'POST', `/trading/orders/${body.order_id}/look`)).status,
      202,
    );
    await settled();
    assert.equal(kinds().filter((kind) => kind === 'dead_letter').length, 1);
  });

  test('that was open before the first destination was added is told of when it ends', async (t) => {
    const clock = settableClock();
    const { world, add, until, sent } = await openDesk(t, { clock });
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    const { body } = await world.send(trader);
    await add(trader);
    await world.db.commit([
      sql`update order_history set status = 'cancelled', version = version + 1 where order_id = ${body.order_id}`,
    ]);
    await until(() => sent.length > 0);
    assert.equal(sent[0]?.message.title, 'Order cancelled');
  });

  test('that came after a destination was added, and before anybody had ever looked, is told of', async (t) => {
    const { world, deps, add, until, settled, kinds } = await openDesk(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    await add(trader);
    await world.send(trader);
    await until(() => kinds().includes('fill'));
    await settled();
    // As it stands where no verifier knew of notifications yet.
    await world.stop();
    for (const table of ['notification_deliveries', 'notification_orders', 'notification_cursor'])
      await world.db.script(`delete from ${table}`);
    await findEvents(deps);
    await findEvents(deps);
    const told = await world.db.all<{ event: string }>(sql`select event from notification_deliveries`);
    assert.deepEqual(
      told.map(({ event }) => event),
      ['fill'],
    );
  });

  test('costs no commit more while it is accepted and executed', async (t) => {
    let commits = 0;
    let counting = false;
    const { world, add } = await openDesk(t, {
      db: (opened) => ({
        ...opened,
        all: (query) => opened.all(query),
        get: (query) => opened.get(query),
        lists: opened.lists,
        dialect: opened.dialect,
        script: (text) => opened.script(text),
        close: () => opened.close(),
        commit(unit) {
          const isOfOrder = unit.some(({ parts }) => parts.join('').includes('order_history'));
          if (counting && isOfOrder) commits++;
          return opened.commit(unit);
        },
      }),
    });
    const trader = await world.makeTrader();
    await add(trader);
    counting = true;
    assert.equal((await world.send(trader)).body.status, 'filled');
    counting = false;
    assert.equal(commits, 2, 'accepted; sent and filled');
  });
});

describe('Besides orders', () => {
  test('attacks, gaps and drifts are told of; a rehearsal is not', async (t) => {
    const { world, add, until, settled, sent, kinds } = await openDesk(t);
    const trader = await world.makeTrader();
    await add(trader, { events: ['attack', 'gap', 'drift'] });
    const say = (size: number, prev: number, query = '') =>
      world.send(
        trader,
        {
          action: size > prev ? 'buy' : 'sell',
          market_position: size === 0 ? 'flat' : 'long',
          market_position_size: size,
          prev_market_position: prev === 0 ? 'flat' : 'long',
          prev_market_position_size: prev,
        },
        { query },
      );
    await say(1, 0, '?simulation=true');
    await say(2, 5, '?simulation=true');
    await say(1, 0);
    await say(2, 5);
    await world.send(trader, { secret: 'wrong' });
    await until(() => sent.length >= 3);
    await settled();
    assert.deepEqual(kinds().toSorted(), ['attack', 'drift', 'gap']);
    assert.doesNotMatch(JSON.stringify(sent.map(({ message }) => message)), new RegExp(trader.secret));
  });

  test('of what whoever knows the URL does, attacks are told of once in half an hour, and rehearsals never', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, kinds } = await openDesk(t, { clock });
    const trader = await world.makeTrader();
    await add(trader);
    const rehearse = (symbol: string) =>
      world.webhook(trader, { action: 'buy', symbol, quantity: 1 }, { query: '?simulation=true' });
    for (let n = 0; n < 9; n++) {
      await rehearse('BTCUSDT');
      await rehearse(`CALL-555-${n}-NOW`);
      await world.send(trader, { secret: 'wrong' });
    }
    await until(() => sent.length > 0);
    await settled();
    assert.deepEqual(kinds(), ['attack']);
    clock.advance(1_800_000);
    await world.send(trader, { secret: 'wrong' });
    await until(() => sent.length > 1);
    await settled();
    assert.deepEqual(kinds(), ['attack', 'attack']);
    // The owner's own, with the secret, is told of; and quotes no symbol that the broker does not have.
    await world.send(trader, {}, { query: '?simulation=true' });
    await world.send(trader, { symbol: 'CALL-555-NOW' });
    await until(() => sent.length > 3);
    await settled();
    assert.deepEqual(kinds().toSorted(), ['attack', 'attack', 'fill', 'order_failed']);
    assert.doesNotMatch(JSON.stringify(sent.map(({ message }) => message)), /CALL-555/);
  });

  test('silence, refused credentials and a limit that is near are told of once', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, kinds } = await openDesk(t, { clock });
    const trader = await world.makeTrader(
      { plan: 'starter' },
      { silenceAfter: 600, sealedCredentials: 'sealed' },
    );
    await add(trader);
    const now = timestamp(clock.now());
    await world.db.commit([
      sql`update trading_accounts set silence_told_at = ${now}, broker_credentials_verified = ${false},
            credentials_refused = ${true}, credentials_checked_at = ${now} where id = ${trader.account.id}`,
      sql`insert into daily_order_counts (user_id, day, orders, simulated)
          values (${trader.user.id}, ${now.slice(0, 10)}, 160, 159)`,
    ]);
    await until(() => sent.length >= 3);
    await settled();
    assert.deepEqual(kinds().toSorted(), ['credentials_refused', 'limit', 'silence']);
    assert.match(
      sent.find(({ message }) => message.event === 'credentials_refused')?.message.text ?? '',
      /entries are refused until .* Exits, closes and flatten are still tried/,
    );
    assert.match(
      sent.find(({ message }) => message.event === 'limit')?.message.text ?? '',
      /^160 of 200 orders/,
    );
  });

  test('silence and refused credentials are told of also hours later, and not to a destination that was added since', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, kinds } = await openDesk(t, { clock });
    const make = () => world.makeTrader({}, { silenceAfter: 600, sealedCredentials: 'sealed' });
    const [early, late] = [await make(), await make()];
    await add(early);
    const then = timestamp(clock.now());
    await world.db.commit(
      [early, late].map(
        ({ account }) =>
          sql`update trading_accounts set silence_told_at = ${then}, broker_credentials_verified = ${false},
                credentials_refused = ${true}, credentials_checked_at = ${then} where id = ${account.id}`,
      ),
    );
    clock.advance(5 * 3_600_000);
    await add(late, { chat_id: '43' });
    await until(() => sent.length >= 2);
    await settled();
    assert.deepEqual(kinds().toSorted(), ['credentials_refused', 'silence']);
    assert.ok(sent.every(({ message }) => message.data.trading_account_id !== late.account.id));
    clock.advance(86_400_000);
    await settled();
    assert.equal(sent.length, 2, 'once');
  });

  test('a broker that does not answer is told of once in half an hour, whatever fails on it', async (t) => {
    const clock = settableClock();
    const { world, add, settled, kinds } = await openDesk(t, { clock });
    const trader = await world.makeTrader();
    await add(trader, { events: ['broker_disconnected'] });
    const orders = [await world.send(trader), await world.send(trader)];
    const error = JSON.stringify({ code: 'broker_unavailable', message: 'it is away' });
    for (const { body } of orders)
      await world.db.commit([
        sql`update order_history set status = 'failed', version = version + 1, error = ${error} where order_id = ${body.order_id}`,
      ]);
    await settled();
    assert.deepEqual(kinds(), ['broker_disconnected']);
  });

  test('a summary comes once a day at the hour that was chosen, also on a day without anything', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, kinds } = await openDesk(t, { clock });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    await world.send(trader, { action: 'sell', quantity: 2 });
    await world.send(trader, { secret: 'wrong' });
    await add(trader, { events: ['daily_summary'], summary_hour: 20 });
    await settled();
    assert.deepEqual(kinds(), []);
    clock.advance(3_600_000);
    await until(() => sent.length === 1);
    assert.match(
      sent[0]?.message.text ?? '',
      /^Signals: 3 \(2 executed, 0 rejected, 1 refused\)\. Orders: 2 real, 0 simulated\. Realised: Paper: -?[\d.]+ \w+\.$/,
    );
    await settled();
    assert.equal(sent.length, 1);
    clock.advance(86_400_000);
    await until(() => sent.length === 2);
    assert.match(sent[1]?.message.text ?? '', /^Signals: 0 /);
  });

  test('summaries that cannot be made keep nobody from theirs, are said once and made later', async (t) => {
    const clock = settableClock();
    let broken: string | null = null;
    const breakable = (db: Db): Db => ({
      ...db,
      all: (query) => db.all(query),
      get: (query) => db.get(query),
      commit: (unit) => db.commit(unit),
      script: (text) => db.script(text),
      close: () => db.close(),
      lists: {
        get: (query) => db.lists.get(query),
        all: async (query) => {
          if (broken !== null && query.values.includes(broken)) throw new Error('too slow');
          return db.lists.all(query);
        },
      },
    });
    const { world, deps, add, until, settled, sent, kinds } = await openDesk(t, { clock, db: breakable });
    const [unlucky, other] = [await world.makeTrader(), await world.makeTrader()];
    for (let each = 0; each < MOST_DESTINATIONS; each++)
      await add(unlucky, { events: ['daily_summary'], summary_hour: 20 });
    await add(other, { events: ['daily_summary'], summary_hour: 21 });
    broken = unlucky.user.id;
    clock.advance(2 * 3_600_000);
    const said: object[] = [];
    const summarising = { ...deps, db: breakable(deps.db), log: { warn: (what: object) => said.push(what) } };
    for (let rounds = 0; rounds < 4; rounds++) await summarise(summarising);
    await until(() => sent.length > 0);
    assert.deepEqual(kinds(), ['daily_summary']);
    assert.equal(said.length, MOST_DESTINATIONS);
    broken = null;
    await settled();
    assert.equal(sent.length, 1);
    clock.advance(600_000);
    await until(() => sent.length === 1 + MOST_DESTINATIONS);
  });
});

describe('A destination', () => {
  test('is told only of its events and accounts, and only its owner is', async (t) => {
    const { world, add, until, settled, sent } = await openDesk(t);
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader, { name: 'Other' });
    const stranger = await world.makeTrader();
    await add(trader, { name: 'fills of other', events: ['fill'], trading_account_ids: [other.account.id] });
    await add(stranger, { chat_id: '43' });
    await world.send(trader);
    await world.send(other);
    await world.send(trader, { secret: 'wrong' });
    await until(() => sent.length >= 1);
    await settled();
    assert.deepEqual(
      sent.map(({ message }) => [message.event, message.data.trading_account_id]),
      [['fill', other.account.id]],
    );
  });

  test('that is paused is told of nothing, not even afterwards of what was meanwhile', async (t) => {
    const { world, add, until, settled, sent } = await openDesk(t);
    const trader = await world.makeTrader();
    const { id } = await add(trader);
    const change = (paused: boolean) =>
      world.inSession(trader, 'PATCH', `/settings/notifications/${id}`, { paused });
    await change(true);
    await world.send(trader, { quantity: 1 });
    await settled();
    await change(false);
    await world.send(trader, { quantity: 2 });
    await until(() => sent.length >= 1);
    await settled();
    assert.deepEqual(
      sent.map(({ message }) => message.text.split(' ').slice(0, 2).join(' ')),
      ['Bought 2'],
    );
  });

  describe('that listens again is told of what becomes of orders that were accepted meanwhile', () => {
    /** Somebody else listens all the time: what was accepted meanwhile is behind everybody. */
    async function openResting(t: TestContext) {
      const desk = await openDesk(t);
      const { world, add, until, settled, sent } = desk;
      await add(await world.makeTrader());
      const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
      const { id } = await add(trader);
      return {
        ...desk,
        ...{ trader, id },
        patch: (change: object) => world.inSession(trader, 'PATCH', `/settings/notifications/${id}`, change),
        async die() {
          desk.answer(() => ({ outcome: 'gone', error: 'It answered 410.' }));
          await world.send(trader, { secret: 'wrong' });
          await until(async () => (await desk.read(trader, id)).state === 'dead');
          desk.answer(() => ({ outcome: 'delivered' }));
        },
        async accept(): Promise<string> {
          const { body } = await world.send(trader);
          await settled();
          return String(body.order_id);
        },
        cancel: (order: string) =>
          world.db.commit([
            sql`update order_history set status = 'cancelled', version = version + 1 where order_id = ${order}`,
          ]),
        isTold: () => until(() => sent.some(({ message }) => message.title === 'Order cancelled')),
      };
    }

    test('when it is resumed', async (t) => {
      const { patch, accept, cancel, isTold } = await openResting(t);
      await patch({ paused: true });
      const order = await accept();
      await patch({ paused: false });
      await cancel(order);
      await isTold();
    });

    test('when a dead one is revived by a test', async (t) => {
      const { world, trader, id, die, accept, cancel, isTold } = await openResting(t);
      await die();
      const order = await accept();
      const { body } = await world.inSession(trader, 'POST', `/settings/notifications/${id}/test`);
      assert.deepEqual(body, { delivered: true, error: null });
      await cancel(order);
      await isTold();
    });

    test('when another is added beside a dead one', async (t) => {
      const { trader, add, die, accept, cancel, isTold } = await openResting(t);
      await die();
      const order = await accept();
      await add(trader, { chat_id: '43' });
      await cancel(order);
      await isTold();
    });

    test('even of those that no worker has taken yet', async (t) => {
      const { world, patch, accept, cancel, isTold } = await openResting(t);
      await patch({ paused: true });
      const order = await accept();
      await world.db.commit([
        sql`delete from fill_checks where order_id = ${order}`,
        sql`update order_history set status = 'queued' where order_id = ${order}`,
      ]);
      await patch({ paused: false });
      await cancel(order);
      await isTold();
    });
  });

  test('that listens again after a restoration is told of an order that waited in the backup, and of its end', async (t) => {
    const { world, add, until, settled, sent } = await openDesk(t);
    await add(await world.makeTrader());
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    const { id } = await add(trader);
    const change = (paused: boolean) =>
      world.inSession(trader, 'PATCH', `/settings/notifications/${id}`, { paused });
    const { body } = await world.send(trader);
    await settled();
    await change(true);
    await leaveAsRestored(world, body.order_id);
    await change(false);
    await until(() => sent.length > 0);
    await settled();
    assert.deepEqual(
      sent.map(({ message }) => message.title),
      ['Order unknown'],
    );
    assert.match(sent[0]?.message.text ?? '', /look for the client order ids/);
    await world.db.commit([
      sql`update order_history set status = 'cancelled', version = version + 1 where order_id = ${body.order_id}`,
    ]);
    await until(() => sent.length > 1);
    assert.equal(sent[1]?.message.title, 'Order cancelled');
  });

  test('that was the only one is not told afterwards what became of an order while it was paused', async (t) => {
    const { world, add, settled, sent } = await openDesk(t);
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    const { id } = await add(trader);
    const { body } = await world.send(trader);
    await settled();
    const change = (paused: boolean) =>
      world.inSession(trader, 'PATCH', `/settings/notifications/${id}`, { paused });
    await change(true);
    await world.db.commit([
      sql`update order_history set status = 'cancelled', version = version + 1 where order_id = ${body.order_id}`,
      sql`update fill_checks set state = 'done' where order_id = ${body.order_id}`,
    ]);
    await change(false);
    await settled();
    assert.deepEqual(sent, []);
  });

  test('gets five of a kind in a minute, and of the others one message that counts them', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent } = await openDesk(t, {
      clock,
      env: { RATE_LIMIT_REQUESTS: '1000' },
    });
    const trader = await world.makeTrader();
    await add(trader);
    await Promise.all(Array.from({ length: 12 }, () => world.send(trader)));
    await until(() => sent.length >= 5);
    await settled();
    assert.equal(sent.length, 5);
    clock.advance(60_000);
    await until(() => sent.length >= 6);
    await settled();
    assert.equal(sent.length, 6);
    assert.match(sent[5]?.message.text ?? '', / And 6 more of this kind within the same minute\.$/);
  });

  test('gets each that somebody has to look after, however many come, and what says something else is counted apart', async (t) => {
    const clock = settableClock();
    const { world, deps, add, until, settled, sent } = await openDesk(t, { clock });
    const trader = await world.makeTrader();
    await add(trader);
    const at = timestamp(clock.now());
    const about = { at, userId: trader.user.id, accountId: null, path: '/', data: {} } as const;
    const of = (kind: EventKind, title: string, count: number, more: Partial<Event> = {}) =>
      Array.from(
        { length: count },
        (_, place): Event => ({
          ...about,
          ...more,
          ...{ kind, title, text: `${title} ${place + 1}.` },
        }),
      );
    const told = [
      ...of('unprotected', 'A position has no stop', 6),
      ...of('unprotected', 'The position is protected again', 5),
      ...of('order_failed', 'Order failed', 6),
      ...of('order_failed', 'Order failed (simulated)', 3),
      ...of('order_failed', 'Order rejected', 2, { mustBeNamed: true }),
    ];
    // In two rounds of one minute.
    for (const part of [told.slice(0, 10), told.slice(10)])
      await deps.db.commit(
        await tell(
          deps,
          part.map((event) => ({ event, begunAt: at })),
        ),
      );
    await until(() => sent.length >= 18);
    await settled();
    const texts = () => sent.map(({ message }) => message.text);
    for (const { kind, text, mustBeNamed } of told)
      if (kind === 'unprotected' || mustBeNamed) assert.ok(texts().includes(text), text);
    assert.equal(sent.length, 18);
    clock.advance(60_000);
    await until(() => sent.length >= 20);
    await settled();
    assert.deepEqual(texts().slice(18).toSorted(), [
      'Order failed (simulated) 3. And 2 more of this kind within the same minute.',
      'Order failed 6.',
    ]);
  });

  test('gets twenty exits that failed in a minute, and how many more there were, apart from entries that failed', async (t) => {
    const { world, deps, add } = await openDesk(t, { clock: settableClock() });
    const trader = await world.makeTrader();
    const { id } = await add(trader);
    const at = timestamp(deps.clock.now());
    const failed = (text: string, mustBeNamed: boolean): Event => ({
      kind: 'order_failed',
      ...{ at, userId: trader.user.id, accountId: null, title: 'Order rejected', text },
      ...{ path: '/', data: {}, mustBeNamed },
    });
    const told = [
      ...Array.from({ length: 60 }, (_, second) => failed(`Exit ${second + 1}.`, true)),
      ...Array.from({ length: 7 }, (_, second) => failed(`Entry ${second + 1}.`, false)),
    ];
    for (const part of [told.slice(0, 30), told.slice(30)])
      await deps.db.commit(
        await tell(
          deps,
          part.map((event) => ({ event, begunAt: at })),
        ),
      );
    const rows = await deps.db.all<{ message: string; folded: number }>(
      sql`select message, folded from notification_deliveries where destination_id = ${id} order by id`,
    );
    const texts = rows.map(({ message, folded }) => [(JSON.parse(message) as Event).text, folded]);
    assert.deepEqual(
      texts.filter(([, folded]) => folded === 0),
      told.slice(0, 20).map(({ text }) => [text, 0]),
    );
    assert.deepEqual(texts.filter(([, folded]) => folded !== 0).toSorted(), [
      ['Entry 7.', 7],
      ['Exit 60.', 40],
    ]);
  });

  test('that died and was resumed within a minute of a burst holds up nobody, and is told of what came after', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, answer, read } = await openDesk(t, {
      clock,
      env: { RATE_LIMIT_REQUESTS: '1000' },
    });
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const { id } = await add(trader);
    await add(other, { chat_id: '43' });
    await Promise.all(Array.from({ length: 7 }, () => world.send(trader)));
    await until(() => sent.length >= 5);
    await settled();
    answer(() => ({ outcome: 'gone', error: 'It answered 410.' }));
    await world.send(trader, { secret: 'wrong' });
    await until(async () => (await read(trader, id)).state === 'dead');
    answer(() => ({ outcome: 'delivered' }));
    await world.inSession(trader, 'PATCH', `/settings/notifications/${id}`, { paused: false });
    await world.send(trader, { quantity: 3 });
    await world.send(other);
    await until(() => sent.some(({ message }) => message.data.trading_account_id === other.account.id));
    clock.advance(60_000);
    await until(() =>
      sent.some(({ message }) => /^Bought 3 BTCUSDT at [\d.]+ on Paper\.$/.test(message.text)),
    );
    await settled();
    const { body } = await world.as<{ items: { folded: number; outcome: string }[] }>(
      trader,
      'GET',
      `/settings/notifications/${id}/deliveries`,
    );
    assert.deepEqual(
      body.items.filter(({ folded }) => folded > 0).map(({ folded, outcome }) => [folded, outcome]),
      [
        [1, 'delivered'],
        [2, 'given_up'],
      ],
      'what was given up stays so in the list',
    );
  });

  test('whose queue is full counts what it loses, and nothing grows', async (t) => {
    const clock = settableClock();
    const { world, deps, add, answer, read } = await openDesk(t, { clock });
    answer(() => ({ outcome: 'again', error: 'It is away.' }));
    const trader = await world.makeTrader();
    const { id } = await add(trader);
    const event = {
      kind: 'fill',
      userId: trader.user.id,
      accountId: null,
      title: 'Fill',
      text: 'one',
      path: '/',
      data: {},
    } as const;
    for (let minute = 0; minute < 45; minute++) {
      clock.advance(60_000);
      const at = timestamp(clock.now());
      await deps.db.commit(
        await tell(
          deps,
          Array.from({ length: 5 }, () => ({ event: { ...event, at }, begunAt: at })),
        ),
      );
    }
    const waiting = async () =>
      (
        await world.db.get<{ waiting: number }>(
          sql`select count(*) as waiting from notification_deliveries where destination_id = ${id} and outcome = 'pending'`,
        )
      )?.waiting;
    assert.equal(await waiting(), 150);
    assert.equal((await read(trader, id)).dropped, 75);
    const at = timestamp(clock.now());
    const orders = Array.from({ length: 60 }, () => ({
      event: { ...event, at, kind: 'dead_letter' } as const,
      begunAt: at,
    }));
    await deps.db.commit(await tell(deps, orders));
    assert.equal(await waiting(), 200, 'the last places are for what somebody has to look after');
    assert.equal((await read(trader, id)).dropped, 85);
  });
});
