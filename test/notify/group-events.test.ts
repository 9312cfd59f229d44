// What a user is told of a signal to a group: once, with what became of it at each member.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { GroupWithSecret } from '../../src/app/accounts/groups.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { settableClock, type Trader } from '../world.ts';
import { openDesk } from './desk.ts';

/** A group of accounts of one user, whose phone hears of everything. */
async function openGroupDesk(t: TestContext, names: readonly string[], options = {}) {
  const desk = await openDesk(t, options);
  const { world, sent } = desk;
  const [name = '', ...others] = names;
  const first = await world.makeTrader({}, { name });
  const traders: Trader[] = [first];
  for (const other of others) traders.push(await world.addAccount(first, { name: other }));
  const made = await world.as<GroupWithSecret>(first, 'POST', '/trading/groups', {
    name: 'Trend',
    members: traders.map(({ account }) => ({ trading_account_id: account.id })),
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  let count = 0;
  const send = async (more: object = {}) => {
    const at = timestamp(world.clock.now() - ++count);
    const body = { action: 'buy', symbol: 'BTCUSDT', quantity: 1, timestamp: at, ...more };
    return world.request<{ accepted: number; members: { order: { order_id: string } | null }[] }>({
      method: 'POST',
      url: `/webhook/${made.body.webhook_token}/order`,
      body: { ...body, secret: made.body.webhook_secret },
    });
  };
  return {
    ...desk,
    first,
    traders,
    group: made.body,
    send,
    halt: ({ account }: Trader) => world.as(first, 'POST', `/trading/accounts/${account.id}/halt`, {}),
    told: () => sent.map(({ message }) => `${message.event}: ${message.title}`),
  };
}

test('a group’s signal is one message with what became of it at each member, and leads to its story', async (t) => {
  const { world, add, first, traders, group, send, until, settled, sent, told } = await openGroupDesk(t, [
    ...['Futures', 'Shares', 'Crypto', 'Spare'],
  ]);
  await world.setPaper(traders[1] as Trader, { reject: 'insufficient_margin' });
  const { account } = traders[3] as Trader;
  await world.as(first, 'PATCH', `/trading/accounts/${account.id}`, { allowed_symbols: ['ETHUSDT'] });
  await add(first);
  assert.equal((await send()).body.accepted, 3);
  await until(() => sent.length > 0);
  await settled();
  assert.deepEqual(told(), ['order_failed: Signal to Trend: 2 filled, 1 rejected, 1 refused']);
  const [only] = sent;
  assert.ok(only);
  const { text, link, data } = only.message;
  assert.match(
    text,
    /^Spare refused it: .*BTCUSDT.* Buy 1 BTCUSDT on Shares was rejected\. .* Bought 1 BTCUSDT at [\d.]+ on Futures\. Bought 1 BTCUSDT at [\d.]+ on Crypto\.$/,
  );
  const [signal] = (await world.as<{ items: { id: string }[] }>(first, 'GET', '/trading/signals')).body.items;
  assert.equal(link, `http://localhost:8080/signals/${signal?.id}`);
  assert.deepEqual([data.group_id, data.signal_id], [group.id, signal?.id]);
  assert.deepEqual(
    (data.members as { trading_account_id: string; status: string; code: string }[]).map((member) => [
      member.trading_account_id,
      member.status,
      member.code,
    ]),
    [
      [traders[0]?.account.id, 'filled', null],
      [traders[1]?.account.id, 'rejected', 'insufficient_margin'],
      [traders[2]?.account.id, 'filled', null],
      [traders[3]?.account.id, null, 'webhook_payload_invalid'],
    ],
  );
});

test('who is for some accounts hears of those alone, and who wants no fills of no signal that went well', async (t) => {
  const { add, first, traders, send, until, settled, sent } = await openGroupDesk(t, ['One', 'Two', 'Three']);
  const [one, two] = traders.map(({ account }) => account.id);
  const at = (chatId: string) =>
    sent
      .filter(({ address }) => 'chatId' in address && address.chatId === chatId)
      .map(({ message }) => message);
  await add(first, { chat_id: '1', trading_account_ids: [one] });
  await add(first, { chat_id: '2', trading_account_ids: [one, two] });
  await add(first, { chat_id: '3', events: ['order_failed', 'order_unknown'] });
  const { body } = await send();
  await until(() => sent.length >= 2);
  await settled();
  assert.deepEqual(
    at('1').map(({ event, text, link }) => [event, text.replace(/[\d.]+ on/, '… on'), link]),
    [
      [
        'fill',
        'Bought 1 BTCUSDT at … on One.',
        `http://localhost:8080/orders/${body.members[0]?.order?.order_id}`,
      ],
    ],
    'as if it had been the only one',
  );
  assert.deepEqual(
    at('2').map(({ title }) => title),
    ['Signal to Trend: 2 filled'],
  );
  assert.doesNotMatch(at('2')[0]?.text ?? '', /Three/);
  assert.deepEqual(at('3'), []);
});

test('a member that its owner has halted is named where something is told, and is no news by itself', async (t) => {
  const { add, first, traders, send, halt, until, settled, sent } = await openGroupDesk(t, ['One', 'Two']);
  await halt(traders[1] as Trader);
  await add(first, { chat_id: '1', events: ['fill'] });
  await add(first, { chat_id: '2', events: ['order_failed'] });
  await send();
  await until(() => sent.length > 0);
  await settled();
  assert.deepEqual(
    sent.map(({ message }) => [message.event, message.title]),
    [['fill', 'Signal to Trend: 1 filled, 1 refused']],
  );
  assert.match(sent[0]?.message.text ?? '', /^Two refused it: .*kill switch is on.* Bought 1 BTCUSDT/);
});

test('a slow member is waited for for a moment, and told of alone when it has ended; nothing is told twice', async (t) => {
  const clock = settableClock();
  const { world, add, first, send, until, settled, round, sent, told } = await openGroupDesk(
    t,
    ['One', 'Two', 'Three'],
    { clock },
  );
  await add(first);
  const { body } = await send();
  await until(() => sent.length > 0);
  await settled();
  // As it stands where a broker is slow, and nobody has looked yet.
  await world.stop();
  const becomes = (status: string) =>
    world.db.commit([
      sql`update order_history set status = ${status}, version = version + 1
          where order_id = ${body.members[2]?.order?.order_id ?? ''}`,
    ]);
  await becomes('executing');
  for (const table of ['notification_deliveries', 'notification_orders', 'notification_cursor'])
    await world.db.script(`delete from ${table}`);
  sent.length = 0;
  const rounds = async () => {
    for (let count = 0; count < 4; count++) await round();
  };
  await rounds();
  assert.deepEqual(told(), []);
  clock.advance(5_500);
  await rounds();
  assert.deepEqual(told(), ['fill: Signal to Trend: 2 filled, 1 under way']);
  assert.match(sent[0]?.message.text ?? '', / Under way: Three\.$/);
  await becomes('filled');
  await Promise.all([rounds(), rounds(), rounds()]);
  assert.deepEqual(told().slice(1), ['fill: Fill']);
  assert.match(sent[1]?.message.text ?? '', /on Three\.$/);
});

test('an alert that a group never got is one message, not one for each member', async (t) => {
  const mails: string[] = [];
  const mailer = { send: async ({ subject }: Mail) => void mails.push(subject) };
  const { world, add, first, send, until, settled, sent } = await openGroupDesk(t, ['One', 'Two', 'Three'], {
    mailer,
  });
  await add(first, { events: ['gap'] });
  const stands = (size: number, before: number) => ({
    ...{ market_position: 'long', market_position_size: size },
    ...{ prev_market_position: before === 0 ? 'flat' : 'long', prev_market_position_size: before },
  });
  await send(stands(1, 0));
  await send(stands(3, 2));
  await until(() => sent.length > 0);
  await settled();
  assert.deepEqual(
    sent.map(({ message }) => message.title),
    ['An alert never arrived'],
  );
  assert.match(sent[0]?.message.text ?? '', /last alert in BTCUSDT on One, Two and Three does not begin/);
  await world.eventually(
    async () => mails.length,
    (length) => length > 0,
  );
  assert.deepEqual(mails, ['An alert never arrived: One, Two, Three'], 'and one mail');
});

test('entries of a group’s signal that rest, and end together later, are one message too', async (t) => {
  const { world, add, first, send, settled, round, sent, told } = await openGroupDesk(t, ['One', 'Two']);
  await add(first);
  await send({ limit_price: 1000 });
  await settled();
  assert.deepEqual(told(), [], 'nothing is told of what rests');
  await world.stop();
  await world.db.script(`update order_history set status = 'cancelled', version = version + 1`);
  for (let rounds = 0; rounds < 4; rounds++) await round();
  assert.deepEqual(told(), ['order_failed: Signal to Trend: 2 cancelled']);
  assert.equal(sent.length, 1);
});
