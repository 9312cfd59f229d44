// What owners are told of: a lost alert, a position that is not the strategy's, silence. Once each, and never in the way.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellNotices, watchSilence } from '../../src/app/operation/notices.ts';
import { sql } from '../../src/data/engine/db.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { openWorld, settableClock, type World } from '../world.ts';

/** One post for all: the service looks for itself too, every few seconds. */
function post({ fails = 0 } = {}) {
  const mails: Mail[] = [];
  let tries = 0;
  const mailer = {
    async send(mail: Mail) {
      if (++tries <= fails) throw new Error('the mail server is away');
      mails.push(mail);
    },
  };
  return {
    mails,
    mailer,
    tries: () => tries,
    depsIn: ({ db, clock }: World) => {
      const log = { warn: () => {} };
      return { db, clock, mailer, baseUrl: 'https://fillpath.example', log };
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  const start = Date.now();
  while (!isSo()) {
    assert.ok(Date.now() - start < 60_000, 'it does not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a lost alert and the drift that came of it are told once, however many processes look', async (t) => {
  const { mails, mailer, depsIn } = post();
  const world = await openWorld(t, { mailer });
  const trader = await world.makeTrader();
  const say = (size: number, prev: number) =>
    world.send(trader, {
      action: size > prev ? 'buy' : 'sell',
      market_position: size === 0 ? 'flat' : 'long',
      market_position_size: size,
      prev_market_position: prev === 0 ? 'flat' : 'long',
      prev_market_position_size: prev,
    });
  await say(1, 0);
  await say(2, 5);
  const deps = depsIn(world);
  await Promise.all([tellNotices(deps), tellNotices(deps)]);
  await tellNotices(deps);
  await until(() => mails.length >= 2);
  assert.deepEqual(mails.map(({ to, subject }) => [to, subject.split(':')[0]]).toSorted(), [
    [trader.user.email, 'An alert never arrived'],
    [trader.user.email, "The position is not the strategy's"],
  ]);
});

test('a mail server that is away is tried again, later, and given up in the end', async (t) => {
  const clock = settableClock();
  const { mails, mailer, tries, depsIn } = post({ fails: 2 });
  const world = await openWorld(t, { clock, mailer });
  const trader = await world.makeTrader();
  await world.send(trader, { market_position: 'long', market_position_size: 1 });
  await world.send(trader, {
    market_position: 'long',
    market_position_size: 3,
    prev_market_position: 'short',
  });
  const deps = depsIn(world);
  for (const attempts of [1, 2]) {
    await tellNotices(deps);
    await until(() => tries() === attempts);
    assert.equal(mails.length, 0);
    assert.equal(await tellNotices(deps), 0, 'not at once');
    clock.advance(3_600_000);
  }
  await tellNotices(deps);
  await until(() => mails.length === 1);
  clock.advance(86_400_000);
  assert.equal(await tellNotices(deps), 0);
});

test('who is deactivated is told of nothing: the webhooks are silent because nobody answers them', async (t) => {
  const clock = settableClock();
  const { mails, mailer, depsIn } = post();
  const world = await openWorld(t, { clock, mailer });
  const gone = await world.makeTrader({}, { silenceAfter: 600 });
  const there = await world.makeTrader({}, { silenceAfter: 600 });
  await world.db.commit([sql`update users set is_active = ${false} where id = ${gone.user.id}`]);
  clock.advance(3_600_000);
  const deps = depsIn(world);
  await watchSilence(deps);
  await tellNotices(deps);
  await until(() => mails.length > 0);
  await tellNotices(deps);
  assert.deepEqual(
    mails.map(({ to }) => to),
    [there.user.email],
  );
  // One that was due when that happened.
  await world.db.commit([
    sql`update users set is_active = ${false} where id = ${there.user.id}`,
    sql`update notices set next_at = created_at, attempts = 0`,
  ]);
  assert.equal(await tellNotices(deps), 0);
  await world.db.commit([sql`update users set is_active = ${true} where id = ${there.user.id}`]);
  assert.equal(await tellNotices(deps), 0, 'nor of what is old when somebody is activated again');
  assert.equal(mails.length, 1);
});

test('silence is told once, and again only after a genuine signal; a stranger is none', async (t) => {
  const clock = settableClock();
  const { mails, mailer, depsIn } = post();
  const world = await openWorld(t, { clock, mailer });
  const trader = await world.makeTrader({}, { silenceAfter: 600 });
  await world.makeTrader();
  const deps = depsIn(world);
  // The stranger's attempt is told of as well, as an attack.
  const silences = () => mails.filter(({ subject }) => subject.startsWith('No signal'));
  const told = async (times: number) => {
    await watchSilence(deps);
    await tellNotices(deps);
    await until(() => silences().length >= times);
    assert.equal(silences().length, times);
  };
  await world.send(trader);
  clock.advance(599_000);
  await world.send(trader, { secret: 'wrong' });
  await told(0);
  clock.advance(2_000);
  await told(1);
  assert.equal(silences()[0]?.subject, 'No signal has come for a while: Paper');
  clock.advance(86_400_000);
  await told(1);
  await world.send(trader);
  clock.advance(601_000);
  await told(2);
});
