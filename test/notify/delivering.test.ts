// Sending: in order, once at a time, again after a while, and not for ever.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ipList } from '../../src/app/accounts/ip-list.ts';
import { mailDead } from '../../src/app/notifications/mail-dead.ts';
import { pauseMs } from '../../src/domain/told/notification.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { openChannels } from '../../src/notify/channels.ts';
import { makeSession } from '../accounts/credentials.ts';
import { settableClock } from '../world.ts';
import { openDesk } from './desk.ts';
import { answers, openReceiver } from './receiver.ts';

test('pauses double from five seconds to an hour, and a stranger makes us wait no longer than that', () => {
  assert.deepEqual(
    [1, 2, 3, 10, 11, 99].map((failures) => pauseMs(failures, 0.5)),
    [5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000],
  );
  assert.equal(pauseMs(1, 0), 4_000);
  assert.equal(pauseMs(1, 0.5, 60_000), 60_000);
  assert.equal(pauseMs(1, 0.5, 1e12), 3_600_000);
});

test('a destination that fails is tried again later, under the same id and in order, and says why it fails', async (t) => {
  const clock = settableClock();
  const { world, add, until, round, settled, sent, answer, read } = await openDesk(t, { clock });
  answer(() => ({ outcome: 'again', error: 'It answered 500.' }));
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  for (const quantity of [1, 2, 3]) await world.send(trader, { quantity });
  await until(() => sent.length === 1);
  await settled();
  assert.equal(sent.length, 1, 'not at once');
  const failing = await read(trader, id);
  assert.deepEqual([failing.state, failing.last_error], ['failing', 'It answered 500.']);
  clock.advance(7_000);
  await round();
  await until(() => sent.length === 2);
  answer(() => ({ outcome: 'delivered' }));
  clock.advance(14_000);
  await until(() => sent.length === 5);
  await settled();
  assert.equal(new Set(sent.slice(0, 3).map(({ message }) => message.id)).size, 1);
  assert.deepEqual(
    sent.slice(2).map(({ message }) => message.text.split(' ')[1]),
    ['1', '2', '3'],
  );
  const working = await read(trader, id);
  assert.deepEqual([working.state, working.last_error], ['working', null]);
});

test('Retry-After is waited for', async (t) => {
  const clock = settableClock();
  const { world, add, until, settled, sent, answer } = await openDesk(t, { clock });
  answer(() => ({ outcome: 'again', error: 'Telegram answered 429.', retryAfterMs: 600_000 }));
  const trader = await world.makeTrader();
  await add(trader);
  await world.send(trader);
  await until(() => sent.length === 1);
  clock.advance(599_000);
  await settled();
  assert.equal(sent.length, 1);
  clock.advance(1_000);
  await until(() => sent.length === 2);
});

describe('A dead destination', () => {
  test('is one that says that it is gone: nothing more is sent, its owner sees it on the first page and is mailed once', async (t) => {
    const mails: Mail[] = [];
    const mailer = { send: async (mail: Mail) => void mails.push(mail) };
    const { world, deps, add, until, settled, sent, answer, read } = await openDesk(t, { mailer });
    answer(() => ({
      outcome: 'gone',
      error: 'Telegram answered 403: Forbidden: bot was blocked by the user.',
    }));
    const trader = await world.makeTrader();
    const { id } = await add(trader, { name: 'My\nphone' });
    await world.send(trader);
    await until(async () => (await read(trader, id)).state === 'dead');
    await world.send(trader);
    await settled();
    assert.equal(sent.length, 1);
    const { body } = await world.as<{ todo: { kind: string; title: string; detail: string }[] }>(
      trader,
      'GET',
      '/trading/overview',
    );
    const [trouble] = body.todo.filter(({ kind }) => kind === 'notification_dead');
    assert.equal(trouble?.title, 'Notifications no longer arrive at My phone.');
    assert.match(trouble?.detail ?? '', /bot was blocked by the user.*Send a test/);
    await Promise.all([1, 2, 3].map(() => mailDead({ ...deps, mailer })));
    const told = mails.filter(({ subject }) => subject.startsWith('Notifications no longer arrive'));
    assert.deepEqual(
      told.map(({ to, subject }) => [to, subject]),
      [[trader.user.email, 'Notifications no longer arrive: My phone']],
    );
  });

  test('is also one that took nothing for a day of tries; a test that arrives revives it', async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, sent, answer, read } = await openDesk(t, { clock });
    answer(() => ({ outcome: 'again', error: 'It is away.' }));
    const trader = await world.makeTrader();
    const { id } = await add(trader, { events: ['fill', 'daily_summary'] });
    await world.send(trader);
    await until(() => sent.length === 1);
    for (let tries = 2; tries <= 10; tries++) {
      clock.advance(9_000_000);
      // The first one is too old by the end.
      if (tries === 5) await world.send(trader);
      if (tries === 5) await settled();
      await until(() => sent.length === tries);
      assert.equal((await read(trader, id)).state, 'failing', `after ${tries} tries`);
    }
    clock.advance(9_000_000);
    await until(async () => (await read(trader, id)).state === 'dead');
    const attempts = sent.length;
    clock.advance(86_400_000);
    await settled();
    assert.equal(sent.length, attempts);
    const { bearer } = await makeSession(world, trader.user);
    const trial = () =>
      world.request({ method: 'POST', url: `/settings/notifications/${id}/test`, headers: bearer });
    const { body: failed } = await trial();
    assert.deepEqual(failed, { delivered: false, error: 'It is away.' });
    answer(() => ({ outcome: 'delivered' }));
    const { body: passed } = await trial();
    assert.deepEqual(passed, { delivered: true, error: null });
    assert.equal((await read(trader, id)).state, 'working');
  });
});

test('a message that a chat refuses is said of the destination; those behind it have their own chance, and a whole day', async (t) => {
  const clock = settableClock();
  const { world, add, until, settled, sent, answer, read } = await openDesk(t, { clock });
  answer(() => ({ outcome: 'unfit', error: 'Telegram answered 400.' }));
  const trader = await world.makeTrader();
  const { id } = await add(trader, { events: ['fill'] });
  await world.send(trader);
  await until(async () => (await read(trader, id)).state === 'failing');
  assert.equal((await read(trader, id)).last_error, 'Telegram answered 400.');
  clock.advance(2 * 86_400_000);
  answer(() => ({ outcome: 'again', error: 'It is away.' }));
  await world.send(trader);
  for (let tries = 2; tries <= 11; tries++) {
    await until(() => sent.length === tries);
    await settled();
    assert.equal((await read(trader, id)).state, 'failing', `after ${tries - 1} tries`);
    clock.advance(4_320_000);
  }
});

test('a message that a webhook still refuses after ten minutes is given up: those behind it wait for it no longer', async (t) => {
  const clock = settableClock();
  const { world, add, until, settled, sent, answer, read } = await openDesk(t, { clock });
  const isFirst = (text: string) => / 1 BTCUSDT /.test(text);
  answer(({ text }) => {
    if (!isFirst(text)) return { outcome: 'delivered' };
    // The fourth time it is away.
    if (sent.length === 4) return { outcome: 'again', error: 'It answered 503.' };
    return { outcome: 'again', error: 'It answered 422.', isRefusal: true };
  });
  const trader = await world.makeTrader();
  const { id } = await add(trader, { events: ['fill'] });
  for (const quantity of [1, 2]) await world.send(trader, { quantity });
  // Three refusals within a minute, then an outage, then the first refusal after it: none of these is its end.
  for (const [place, pause] of [15_000, 15_000, 600_000, 60_000, 120_000].entries()) {
    await until(() => sent.length > place);
    await settled();
    clock.advance(pause);
  }
  await until(() => sent.length === 7);
  assert.deepEqual(
    sent.map(({ message }) => isFirst(message.text)),
    [true, true, true, true, true, true, false],
  );
  await settled();
  assert.equal((await read(trader, id)).state, 'working');
  const { body } = await world.as<{ items: { outcome: string; last_error: string | null }[] }>(
    trader,
    'GET',
    `/settings/notifications/${id}/deliveries`,
  );
  assert.deepEqual(
    body.items.map(({ outcome }) => outcome),
    ['delivered', 'given_up'],
  );
});

test('what is sent and what cannot be is counted by its channel, tests too', async (t) => {
  const { world, add, round, answer } = await openDesk(t);
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  // The first look of all only marks where to begin. From here on the rounds are the service's, as the figures are.
  await round();
  const counted = async () => {
    const { body } = await world.request<string>({ method: 'GET', url: '/metrics' });
    return Object.fromEntries(
      [...body.matchAll(/^fillpath_notifications_total\{channel="telegram",outcome="(\w+)"\} (\d+)$/gm)].map(
        ([, outcome, count]) => [outcome, Number(count)],
      ),
    );
  };
  await world.send(trader);
  await world.eventually(counted, ({ sent }) => sent === 1);
  answer(() => ({ outcome: 'again', error: 'Telegram answered 502.' }));
  await world.send(trader);
  await world.eventually(counted, ({ failed }) => failed === 1);
  answer(() => ({ outcome: 'gone', error: 'Telegram answered 403.' }));
  await world.inSession(trader, 'POST', `/settings/notifications/${id}/test`);
  assert.deepEqual(await counted(), { sent: 1, failed: 2 });
});

test('a destination that hangs holds up no other, and no order', async (t) => {
  const { world, add, until, sent, answer } = await openDesk(t);
  let release = () => {};
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  t.after(() => release());
  const [slow, quick] = [await world.makeTrader(), await world.makeTrader()];
  const { id } = await add(slow);
  await add(quick, { chat_id: '43' });
  answer(async (message) => {
    if (message.data.trading_account_id === slow.account.id) await hanging;
    return { outcome: 'delivered' };
  });
  await world.send(slow);
  // By the rounds of the service itself.
  await world.eventually(
    async () => sent.length,
    (count) => count >= 1,
  );
  const { body } = await world.send(quick);
  assert.equal(body.status, 'filled');
  await world.eventually(
    async () => sent.map(({ message }) => message.data.trading_account_id),
    (accounts) => accounts.includes(quick.account.id),
  );
  release();
  await until(async () => {
    const { body: page } = await world.as<{ items: { outcome: string }[] }>(
      slow,
      'GET',
      `/settings/notifications/${id}/deliveries`,
    );
    return page.items.every(({ outcome }) => outcome === 'delivered');
  });
});

test('a whole way: an order, a signed webhook on the loopback that the operator has allowed, and what was sent is listed', async (t) => {
  const receiver = await openReceiver(t, answers(204));
  const channels = openChannels({
    allowed: ipList(['127.0.0.0/8']),
    clock: { now: () => Date.now() },
    log: { warn: () => {} },
  });
  const { world } = await openDesk(t, { channels, env: { NOTIFY_PRIVATE_NETWORKS: '127.0.0.0/8' } });
  const trader = await world.makeTrader();
  const url = `${receiver.url}/hook`;
  const body = { kind: 'webhook', name: 'Mine', events: ['fill'], url };
  const made = await world.inSession<{ id: string; secret: string; address: string }>(
    trader,
    'POST',
    '/settings/notifications',
    body,
  );
  assert.equal(made.status, 201);
  assert.match(made.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(made.body.address, `127.0.0.1:${receiver.port}`);
  await world.send(trader);
  await receiver.arrived(1);
  const { signatureOf } = await import('../../src/notify/webhook.ts');
  const [got] = receiver.received;
  assert.ok(got);
  assert.equal(
    got.headers['webhook-signature'],
    signatureOf(made.body.secret, {
      id: String(got.headers['webhook-id']),
      timestamp: Number(got.headers['webhook-timestamp']),
      body: got.body,
    }),
  );
  const list = await world.eventually(
    async () =>
      (
        await world.as<{ items: { id: string; outcome: string; attempts: number }[] }>(
          trader,
          'GET',
          `/settings/notifications/${made.body.id}/deliveries`,
        )
      ).body.items,
    ([first]) => first?.outcome === 'delivered',
  );
  assert.deepEqual(
    list.map(({ id, outcome, attempts }) => [id, outcome, attempts]),
    [[got.headers['webhook-id'], 'delivered', 1]],
  );
});
