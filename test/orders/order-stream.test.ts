import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { journalOf } from '../../src/app/orders/changes.ts';
import { openOrderStream, type StreamDeps } from '../../src/app/orders/stream-orders.ts';
import { sql } from '../../src/data/engine/db.ts';
import { isDenial } from '../../src/domain/denial.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { makeApiKey, makeSession } from '../accounts/credentials.ts';
import { stopwatch } from '../stopwatch.ts';
import { openWorld, type Trader } from '../world.ts';
import { type EventStream, openEventStream, type StreamEvent } from './event-stream.ts';

const ticking = { now: () => performance.timeOrigin + performance.now() };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const UNKNOWN = `0123456789ab-7`;
/** A comment comes after this time, and what comes with it. */
const A_COMMENT_MS = 20_000;

/** A world that can be reached over the network, and its store. */
async function openDesk(t: TestContext, { store: own = (made: Store) => made } = {}) {
  const store = own(openMemoryStore({ clock: ticking }));
  const world = await openWorld(t, { store });
  await world.server.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(world.server.server.address() as AddressInfo).port}`;
  const open = async (headers: Record<string, string>, after?: string): Promise<EventStream> => {
    const stream = await openEventStream(base, { headers, after });
    t.after(() => stream.close());
    if (stream.status === 200) await stream.until('a place', () => stream.place() !== '');
    return stream;
  };
  const follow = ({ apiKey }: Trader, after?: string) => open(bearer(apiKey), after);
  return { world, store, base, open, follow };
}

const isFilled =
  ({ order_id }: { order_id: string }) =>
  (record: OrderRecord) =>
    record.order_id === order_id && record.status === 'filled';

describe('The stream of orders', { concurrency: true }, () => {
  test('tells of an order that arrives and is filled, as its record is read, without its surroundings', async (t) => {
    const { world, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    const stream = await follow(trader);
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.headers['cache-control'], 'no-store');
    assert.equal(stream.headers['x-accel-buffering'], 'no');
    assert.equal(stream.headers['x-content-type-options'], 'nosniff');
    const { body } = await world.send(trader);
    const told = await stream.order('the fill', isFilled(body));
    assert.deepEqual(told, await world.order(trader, body.order_id));
    assert.ok(stream.events.every(({ event }) => event === 'order'));
  });

  test('tells a page that a signal was refused, or reported; a program hears of orders alone', async (t) => {
    const { world, open, follow } = await openDesk(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const page = await open((await makeSession(world, trader.user)).cookie);
    const [program, stranger] = [
      await follow(trader),
      await open((await makeSession(world, other.user)).cookie),
    ];
    const heard = ({ events }: EventStream) => events.filter(({ event }) => event === 'signals').length;
    const first = page.place();
    assert.equal((await world.send(trader, { secret: 'wrong' })).status, 401);
    await page.until('the refused one', () => heard(page) === 1);
    assert.deepEqual(page.events.find(({ event }) => event === 'signals')?.data, {});
    await world.send(trader, {
      action: 'sync',
      quantity: null,
      market_position: 'flat',
      market_position_size: 0,
    });
    await page.until('the report', () => heard(page) === 2);
    // A flood is one: what comes within a second is told together.
    await Promise.all(Array.from({ length: 20 }, () => world.send(trader, { secret: 'wrong' })));
    const { body } = await world.send(trader);
    await program.order('the order', isFilled(body));
    await page.order('the order', isFilled(body));
    assert.ok(heard(page) < 10, String(heard(page)));
    assert.ok(program.events.every(({ event }) => event === 'order'));
    assert.deepEqual(stranger.events, []);
    // Who was cut off is told of what was missed.
    const back = await open((await makeSession(world, trader.user)).cookie, first);
    await back.until('what was missed', () => heard(back) === 1);
  });

  test('tells a user of nobody else’s orders, even where the journal names one', async (t) => {
    const { world, store, follow } = await openDesk(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const stream = await follow(trader);
    const foreign = await world.send(other);
    await store.note(journalOf(trader.user.id), [foreign.body.order_id, 'no id', randomUUIDv7(), '']);
    const own = await world.send(trader);
    await stream.order('the own order', isFilled(own.body));
    assert.deepEqual([...new Set(stream.events.map(({ data }) => data.order_id))], [own.body.order_id]);
  });

  test('continues where it was cut off, and resets at a place that nobody knows', async (t) => {
    const { world, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    const first = await follow(trader);
    const one = await world.send(trader);
    await first.order('the first order', isFilled(one.body));
    const place = first.place();
    first.close();
    const missed = await world.send(trader, { action: 'sell' });

    const second = await follow(trader, place);
    await second.order('the order that was missed', isFilled(missed.body));
    assert.ok(second.events.every(({ event }) => event === 'order'));

    for (const lost of [UNKNOWN, 'anything', place.replace(/\d+$/, '9999')]) {
      const reset = await follow(trader, lost);
      assert.deepEqual(
        reset.events.map(({ event }) => event),
        ['reset'],
      );
      assert.notEqual(reset.place(), lost);
      const next = await world.send(trader);
      await reset.order('what comes after it', isFilled(next.body));
      reset.close();
    }
  });

  test('more changes at once than are told one by one are one reset, for open streams and for those who come back', async (t) => {
    const { world, store, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    const stream = await follow(trader);
    const before = stream.place();
    const many = Array.from({ length: 201 }, () => randomUUIDv7());
    await store.note(journalOf(trader.user.id), many);
    await stream.until('a reset', () => stream.events.length > 0);
    const back = await follow(trader, before);
    const resets = [stream, back].map(({ events, place }) => [events.map(({ event }) => event), place()]);
    assert.deepEqual(resets[0], resets[1]);
    assert.deepEqual(resets[0]?.[0], ['reset']);
    const { body } = await world.send(trader);
    await Promise.all([stream, back].map((each) => each.order('what comes after it', isFilled(body))));
  });

  test('a journal that is lost under an open stream is a reset, and the stream goes on', async (t) => {
    // From the call on, everything that was kept is gone.
    let kept: Store = openMemoryStore({ clock: ticking });
    const journals = {
      keepJournal: ((...args) => kept.keepJournal(...args)) as Store['keepJournal'],
      readJournal: ((...args) => kept.readJournal(...args)) as Store['readJournal'],
      note: ((...args) => kept.note(...args)) as Store['note'],
    };
    let wake = () => {};
    const { world, follow } = await openDesk(t, {
      store: (made) => ({
        ...made,
        ...journals,
        watchJournal(journal, look) {
          wake = look;
          return kept.watchJournal(journal, look);
        },
      }),
    });
    const trader = await world.makeTrader();
    const stream = await follow(trader);
    const before = stream.place();
    kept = openMemoryStore({ clock: ticking });
    wake();
    await stream.until('a reset', () => stream.events.some(({ event }) => event === 'reset'));
    assert.notEqual(stream.place(), before);
    const { body } = await world.send(trader);
    wake();
    await world.eventually(
      async () => wake(),
      () => stream.events.some(({ event, data }) => event === 'order' && isFilled(body)(data)),
    );
  });

  test('an eleventh of one user is refused, until one of the ten is closed', async (t) => {
    const { world, follow } = await openDesk(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const ten = await Promise.all(Array.from({ length: 10 }, () => follow(trader)));
    assert.deepEqual(new Set(ten.map(({ status }) => status)), new Set([200]));
    const refused = await follow(trader);
    await refused.ended;
    assert.equal(refused.status, 429);
    assert.match(refused.text(), /"code":"too_many_at_once"/);
    assert.equal(refused.headers['retry-after'], '15');
    assert.equal((await follow(other)).status, 200);
    ten[3]?.close();
    await world.eventually(
      async () => (await follow(trader)).status,
      (status) => status === 200,
    );
  });

  test('one that the store has forgotten frees no number of another when it closes', async () => {
    let kept = openMemoryStore({ clock: ticking });
    const store: StreamDeps['store'] = {
      acquireLease: (...args) => kept.acquireLease(...args),
      renewLease: (...args) => kept.renewLease(...args),
      releaseLease: (...args) => kept.releaseLease(...args),
    };
    const user = randomUUIDv7() as UserId;
    const reader = { tell() {}, checkAccess() {} };
    const open = () => openOrderStream({ store, feeds: { open: async () => () => {} } }, user, null, reader);
    const old = await open();
    assert.ok(!isDenial(old));
    kept = openMemoryStore({ clock: ticking });
    for (let count = 0; count < 10; count++) assert.ok(!isDenial(await open()));
    await old.close();
    assert.ok(isDenial(await open()));
  });

  test('HEAD answers and holds nothing; a parameter is refused', async (t) => {
    const { world, base, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    for (let count = 0; count < 12; count++) {
      const url = `${base}/trading/orders/stream`;
      const head = await fetch(url, { method: 'HEAD', headers: bearer(trader.apiKey) });
      assert.equal(head.status, 200);
      assert.equal(head.headers.get('content-type'), 'text/event-stream');
    }
    assert.equal((await follow(trader)).status, 200);
    const { status } = await world.as(trader, 'GET', '/trading/orders/stream?after=1');
    assert.equal(status, 400);
  });

  test('ends at once when the service stops, and does not hold it', async (t) => {
    const { world, follow } = await openDesk(t);
    const stream = await follow(await world.makeTrader());
    const passed = stopwatch();
    await world.stop();
    await stream.ended;
    assert.ok(passed() < 5_000);
  });
});

describe('The stream of orders ends', { concurrency: true }, () => {
  test('when its session logs out, and no other of the user does', async (t) => {
    const { world, open, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    const [lost, kept] = [await makeSession(world, trader.user), await makeSession(world, trader.user)];
    const [ending, going, byKey] = [await open(lost.cookie), await open(kept.cookie), await follow(trader)];
    const answer = await world.request({ method: 'POST', url: '/auth/logout', headers: lost.cookie });
    assert.equal(answer.status, 204);
    await ending.ended;
    const { body } = await world.send(trader);
    await Promise.all([going, byKey].map((stream) => stream.order('a fill', isFilled(body))));
  });

  test('when its session is ended by another one, and its API key removed', async (t) => {
    const { world, open } = await openDesk(t);
    const trader = await world.makeTrader();
    const [lost, kept] = [await makeSession(world, trader.user), await makeSession(world, trader.user)];
    const key = await makeApiKey(world, trader.user);
    const [bySession, byKey] = [await open(lost.bearer), await open(key.headers)];
    const remove = (url: string) => world.request({ method: 'DELETE', url, headers: kept.bearer });
    assert.equal((await remove(`/auth/sessions/${lost.id}`)).status, 204);
    await bySession.ended;
    assert.equal((await remove(`/settings/api-keys/${key.id}`)).status, 204);
    await byKey.ended;
  });

  test('when its user is deactivated', async (t) => {
    const { world, open, follow } = await openDesk(t);
    const [trader, admin] = [await world.makeTrader(), await world.makeTrader({ isAdmin: true })];
    const streams = [await open((await makeSession(world, trader.user)).cookie), await follow(trader)];
    const url = `/deployment/users/${trader.user.id}`;
    assert.equal((await world.as(admin, 'PATCH', url, { is_active: false })).status, 200);
    await Promise.all(streams.map(({ ended }) => ended));
  });

  test('when an admin ends its session', async (t) => {
    const { world, open } = await openDesk(t);
    const [trader, admin] = [await world.makeTrader(), await world.makeTrader({ isAdmin: true })];
    const session = await makeSession(world, trader.user);
    const stream = await open(session.cookie);
    const answer = await world.as(admin, 'DELETE', `/deployment/sessions/${session.id}`);
    assert.equal(answer.status, 204);
    await stream.ended;
  });
});

describe('With every comment of the stream of orders', { concurrency: true }, () => {
  test('it is looked whether the session lives: one that can be refreshed goes on beyond its access token', async (t) => {
    const { world, open } = await openDesk(t);
    const trader = await world.makeTrader();
    const short = { lifetimeMs: 2_000 };
    const [lives, expired, key] = [
      await makeSession(world, trader.user, short),
      await makeSession(world, trader.user, short),
      await makeApiKey(world, trader.user),
    ];
    const [going, ending, byKey] = [
      await open(lives.cookie),
      await open(expired.cookie),
      await open(key.headers),
    ];
    const now = timestamp(Date.now());
    await world.db.commit([
      sql`update refresh_tokens set expires_at = ${now} where session_id = ${expired.id}`,
      // By somebody who does not say so.
      sql`update api_keys set revoked_at = ${now} where user_id = ${trader.user.id}`,
    ]);
    await Promise.all([ending.ended, byKey.ended]);
    await going.until('a comment', () => going.comments() > 0, A_COMMENT_MS);
    await going.until('its event for pages', () => going.events.some(({ event }) => event === 'alive'));
    const { body } = await world.send(trader);
    await going.order('a fill', isFilled(body));
  });

  test('a change that nobody noted is found, though somebody who came back has been told of it', async (t) => {
    const { world, follow } = await openDesk(t);
    const trader = await world.makeTrader();
    const stream = await follow(trader);
    const place = stream.place();
    const { body } = await world.send(trader);
    await stream.order('the fill', isFilled(body));
    // The first round has been.
    await pause(1_500);
    await world.db.commit([
      sql`update order_history set version = version + 1, symbol = 'CHANGED' where order_id = ${body.order_id}`,
    ]);
    const isChanged = ({ data }: StreamEvent) => data.symbol === 'CHANGED';
    const back = await follow(trader, place);
    assert.ok(back.events.some(isChanged));
    await stream.until('the change', () => stream.events.some(isChanged), A_COMMENT_MS);
  });

  test('changes that nobody noted are found, in streams that are open and for those who come back', async (t) => {
    const { world, follow } = await openDesk(t);
    const [here, away] = [await world.makeTrader(), await world.makeTrader()];
    const [stream, left] = [await follow(here), await follow(away)];
    const [seen, missed] = [await world.send(here), await world.send(away)];
    await stream.order('the fill', isFilled(seen.body));
    await left.order('the fill', isFilled(missed.body));
    const place = left.place();
    left.close();
    // As by somebody who dies before noting it.
    await world.db.commit([
      sql`update order_history set version = version + 1, symbol = 'CHANGED'
          where order_id in (${seen.body.order_id}, ${missed.body.order_id})`,
    ]);
    const isChanged = ({ data }: StreamEvent) => data.symbol === 'CHANGED';
    const back = world.eventually(
      async () => {
        const again = await follow(away, place);
        const found = again.events.some(isChanged);
        again.close();
        return found;
      },
      (found) => found,
      A_COMMENT_MS,
    );
    await stream.until('the change', () => stream.events.some(isChanged), A_COMMENT_MS);
    await back;
  });
});

test('whatever changes and however often the client is cut off, in the end it has seen every order as it is', async (t) => {
  const { world, follow } = await openDesk(t);
  const step = fc.constantFrom('order', 'order', 'simulated', 'cut', 'cut at once', 'rest');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const trader = await world.makeTrader();
      const view = new Map<string, OrderRecord>();
      let stream = await follow(trader);
      let resets = 0;
      let taken = 0;
      const take = () => {
        for (const { event, data } of stream.events.slice(taken))
          if (event === 'reset') resets++;
          else view.set(data.order_id, data);
        taken = stream.events.length;
      };
      const cut = async (place: string) => {
        stream.close();
        stream = await follow(trader, place);
        taken = 0;
      };
      const orders: Promise<unknown>[] = [];
      for (const each of steps)
        if (each === 'order') orders.push(world.send(trader));
        else if (each === 'simulated') orders.push(world.send(trader, {}, { query: '?simulation=true' }));
        else if (each === 'rest') await Promise.all(orders);
        else {
          if (each === 'cut') await Promise.all(orders);
          // What it has shown is what it has the place of.
          take();
          await cut(stream.place());
        }
      await Promise.all(orders);
      const { body } = await world.as<{ items: { order_id: string }[] }>(trader, 'GET', '/trading/orders');
      const truth = new Map<string, object>();
      for (const { order_id } of body.items) truth.set(order_id, await world.order(trader, order_id));
      await stream.until('the view to be the truth', () => {
        take();
        return [...truth].every(([id, record]) => JSON.stringify(view.get(id)) === JSON.stringify(record));
      });
      stream.close();
      assert.equal(resets, 0);
      assert.equal(view.size, truth.size);
    }),
    { numRuns: 15 },
  );
});
