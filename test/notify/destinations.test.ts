// Destinations as their owners see them: what is an address and what is not, who may add one, and what nobody ever reads again.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { readAddress } from '../../src/domain/told/destination-address.ts';
import { MOST_DESTINATIONS, nextSummary } from '../../src/domain/told/notification.ts';
import type { Problem } from '../world.ts';
import { openDesk, type Shown, TELEGRAM } from './desk.ts';

const URL_OF = '/settings/notifications';
const SLACK = 'https://hooks.slack.com/services/T0000/B0000/secret-part-of-it';
const DISCORD = 'https://discord.com/api/webhooks/123456789012345678/secret-part-of-it-0123';

describe('An address', () => {
  const isRead = (given: Parameters<typeof readAddress>[0], mayBePlain = false) =>
    'address' in readAddress(given, { mayBePlain });

  test('of a chat is one of that chat', () => {
    assert.equal(isRead({ kind: 'slack', url: SLACK }), true);
    assert.equal(isRead({ kind: 'discord', url: DISCORD }), true);
    assert.equal(isRead({ kind: 'telegram', botToken: TELEGRAM.bot_token, chatId: '@channel_name' }), true);
    for (const url of [
      SLACK.replace('https', 'http'),
      SLACK.replace('hooks.slack.com', 'hooks.slack.com.evil.example'),
      SLACK.replace('hooks.slack.com', 'evil.example/hooks.slack.com'),
      SLACK.replace('hooks.slack.com', 'hooks.slack.com:8443'),
      SLACK.replace('hooks.slack.com', 'user@hooks.slack.com'),
      `${SLACK}?to=else`,
      'https://hooks.slack.com/../../admin',
      DISCORD,
    ])
      assert.equal(isRead({ kind: 'slack', url }), false, url);
    for (const url of [
      SLACK,
      DISCORD.replace('discord.com', 'discord.co'),
      'https://discord.com/api/users/@me',
      `${DISCORD}/../..`,
    ])
      assert.equal(isRead({ kind: 'discord', url }), false, url);
    for (const chatId of ['', 'a b', '1/../../', '@x', '12 34'])
      assert.equal(isRead({ kind: 'telegram', botToken: TELEGRAM.bot_token, chatId }), false, chatId);
    for (const botToken of ['', 'abc', '123:short', `${TELEGRAM.bot_token}/../x`])
      assert.equal(isRead({ kind: 'telegram', botToken, chatId: '1' }), false, botToken);
  });

  test('of a webhook is https, without a user name; http only where the operator allows networks of their own', () => {
    assert.equal(isRead({ kind: 'webhook', url: 'https://example.com/hook?key=1' }), true);
    for (const url of [
      'ftp://example.com',
      'https://a:b@example.com',
      'https://example.com/#x',
      'example.com',
      'https://',
      'file:///etc/passwd',
    ])
      assert.equal(isRead({ kind: 'webhook', url }), false, url);
    assert.equal(isRead({ kind: 'webhook', url: 'http://10.0.0.1/' }), false);
    assert.equal(isRead({ kind: 'webhook', url: 'http://10.0.0.1/' }, true), true);
  });

  test('has what its kind needs, and nothing of another', () => {
    assert.equal(isRead({ kind: 'webhook' }), false);
    assert.equal(isRead({ kind: 'telegram', url: SLACK }), false);
    assert.equal(isRead({ kind: 'slack', url: SLACK, botToken: TELEGRAM.bot_token }), false);
  });
});

test('the next summary is at its hour, today or tomorrow', () => {
  const at = (text: string) => Date.parse(`2026-11-16T${text}Z`);
  assert.equal(nextSummary(20, at('19:59:59')), at('20:00:00'));
  assert.equal(nextSummary(20, at('20:00:00')), at('20:00:00') + 86_400_000);
  assert.equal(nextSummary(0, at('23:00:00')), at('00:00:00') + 86_400_000);
});

test('what is secret in an address is in no answer, no audit entry and not in the database as it is', async (t) => {
  const { world, add } = await openDesk(t);
  const trader = await world.makeTrader();
  await add(trader);
  await add(trader, { kind: 'slack', url: SLACK, bot_token: undefined, chat_id: undefined });
  await add(trader, { kind: 'discord', url: DISCORD, bot_token: undefined, chat_id: undefined });
  const { secret } = await add(trader, {
    kind: 'webhook',
    url: 'https://example.com/secret-part-of-it',
    bot_token: undefined,
    chat_id: undefined,
  });
  assert.match(secret ?? '', /^whsec_/);
  const secrets = [TELEGRAM.bot_token, 'secret-part-of-it', secret ?? ''];
  const list = await world.as<{ items: Shown[] }>(trader, 'GET', URL_OF);
  assert.deepEqual(
    list.body.items.map(({ address }) => address),
    ['chat 42, bot 123456789', 'hooks.slack.com', 'discord.com, webhook 123456789012345678', 'example.com'],
  );
  const stored = await world.db.all(sql`select * from notification_destinations`);
  const seen = JSON.stringify([list.body, await world.audits(trader), stored]);
  for (const each of secrets) assert.ok(!seen.includes(each), each);
  assert.deepEqual(
    (await world.audits(trader)).map(({ action }) => action),
    new Array(4).fill('notification_destination_added'),
  );
});

test('an API key can look, and neither add, change, try nor remove: a stolen one redirects nothing', async (t) => {
  const { world, add } = await openDesk(t);
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  const body = { ...TELEGRAM, name: 'x', events: [] };
  for (const [method, url, given] of [
    ['POST', URL_OF, body],
    ['PATCH', `${URL_OF}/${id}`, { paused: true }],
    ['POST', `${URL_OF}/${id}/test`, {}],
    ['DELETE', `${URL_OF}/${id}`, undefined],
  ] as const) {
    const { status, body: problem } = await world.as<Problem>(trader, method, url, given);
    assert.deepEqual([status, problem.code], [403, 'session_required'], `${method} ${url}`);
  }
  assert.equal((await world.as(trader, 'GET', `${URL_OF}/${id}`)).status, 200);
});

test('nobody reaches another user’s destination, nor names another user’s account', async (t) => {
  const { world, add } = await openDesk(t);
  const [trader, stranger] = [await world.makeTrader(), await world.makeTrader()];
  const { id } = await add(trader);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { paused: true }],
    ['DELETE', '', undefined],
    ['POST', '/test', {}],
    ['GET', '/deliveries', undefined],
  ] as const)
    assert.equal(
      (await world.inSession(stranger, method, `${URL_OF}/${id}${path}`, body)).status,
      404,
      method + path,
    );
  const { status, body } = await world.inSession<Problem>(stranger, 'POST', URL_OF, {
    ...TELEGRAM,
    name: 'x',
    events: ['fill'],
    trading_account_ids: [trader.account.id],
  });
  assert.deepEqual([status, body.code], [400, 'request_invalid']);
  assert.equal((await world.as<{ items: [] }>(stranger, 'GET', URL_OF)).body.items.length, 0);
});

test('a wrong address is refused with what is right, and says so to programs too', async (t) => {
  const { world } = await openDesk(t);
  const trader = await world.makeTrader();
  const body = { kind: 'slack', name: 'x', events: [], url: 'https://example.com' };
  const { status, body: problem } = await world.inSession<Problem>(trader, 'POST', URL_OF, body);
  assert.deepEqual([status, problem.code], [400, 'notification_address_invalid']);
  assert.match(problem.detail, /https:\/\/hooks\.slack\.com\/services/);
});

test('ten are as many as there can be, however many are added at once', async (t) => {
  const { world } = await openDesk(t);
  const trader = await world.makeTrader();
  const body = { ...TELEGRAM, name: 'x', events: [] };
  const answers = await Promise.all(
    Array.from({ length: MOST_DESTINATIONS + 5 }, () =>
      world.inSession<Problem>(trader, 'POST', URL_OF, body),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, MOST_DESTINATIONS);
  assert.deepEqual(
    [...new Set(answers.filter(({ status }) => status !== 201).map(({ body: { code } }) => code))],
    ['too_many'],
  );
});

test('a test is sent at once and audited, five times in a minute', async (t) => {
  const { world, add, sent, answer } = await openDesk(t);
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  const test = () => world.inSession<Problem>(trader, 'POST', `${URL_OF}/${id}/test`);
  assert.deepEqual((await test()).body, { delivered: true, error: null });
  assert.deepEqual(
    sent.map(({ message }) => message.event),
    ['test'],
  );
  answer(() => ({ outcome: 'gone', error: 'Telegram answered 401.' }));
  assert.deepEqual((await test()).body, { delivered: false, error: 'Telegram answered 401.' });
  for (let times = 0; times < 3; times++) await test();
  const { status, body, headers } = await test();
  assert.deepEqual([status, body.code, sent.length], [429, 'rate_limited', 5]);
  assert.ok(Number(headers['retry-after']) >= 1);
  const tested = (await world.audits(trader)).filter(
    ({ action }) => action === 'notification_destination_tested',
  );
  assert.deepEqual(
    tested.map(({ success }) => success),
    [1, 1, 1, 1, 1],
  );
});

test('a test that does not arrive is said of the destination too, with its reason, until something arrives', async (t) => {
  const { world, add, answer, read } = await openDesk(t);
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  const test = () => world.inSession(trader, 'POST', `${URL_OF}/${id}/test`);
  answer(() => ({ outcome: 'again', error: 'The address does not answer.' }));
  await test();
  const failing = await read(trader, id);
  assert.deepEqual([failing.state, failing.last_error], ['failing', 'The address does not answer.']);
  answer(() => ({ outcome: 'delivered' }));
  await test();
  const working = await read(trader, id);
  assert.deepEqual([working.state, working.last_error], ['working', null]);
});

test('what is changed is changed, and what is removed is gone with what waited for it', async (t) => {
  const { world, add, read } = await openDesk(t);
  const trader = await world.makeTrader();
  const { id } = await add(trader);
  const change = { name: 'Desk', events: ['gap'], trading_account_ids: [trader.account.id], summary_hour: 3 };
  const { status, body } = await world.inSession<Shown>(trader, 'PATCH', `${URL_OF}/${id}`, change);
  assert.equal(status, 200);
  assert.deepEqual({ ...body, ...change }, body);
  await world.inSession(trader, 'PATCH', `${URL_OF}/${id}`, { paused: true });
  assert.equal((await read(trader, id)).state, 'paused');
  assert.equal((await world.inSession(trader, 'DELETE', `${URL_OF}/${id}`)).status, 204);
  assert.equal((await world.inSession(trader, 'DELETE', `${URL_OF}/${id}`)).status, 404);
});

describe('A destination of an account that was removed', () => {
  const removed = async (t: TestContext) => {
    const desk = await openDesk(t);
    const { world, add } = desk;
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader, { name: 'Other' });
    const { id } = await add(trader, { trading_account_ids: [other.account.id] });
    assert.equal(
      (await world.inSession(trader, 'DELETE', `/trading/accounts/${other.account.id}`)).status,
      204,
    );
    const change = (body: object) => world.inSession<Shown>(trader, 'PATCH', `${URL_OF}/${id}`, body);
    return { ...desk, trader, gone: other.account.id, id, change };
  };

  test('does not show it any more, and is of none instead of all', async (t) => {
    const { world, trader, id } = await removed(t);
    const { body } = await world.as<Shown>(trader, 'GET', `${URL_OF}/${id}`);
    assert.deepEqual(body.trading_account_ids, []);
    const list = await world.as<{ items: Shown[] }>(trader, 'GET', URL_OF);
    assert.deepEqual(list.body.items[0]?.trading_account_ids, []);
  });

  test('can be changed as it was read before, and is still not of all', async (t) => {
    const { world, trader, gone, change, settled, sent } = await removed(t);
    const changed = await change({ events: ['fill'], trading_account_ids: [gone] });
    assert.deepEqual([changed.status, changed.body.trading_account_ids], [200, []]);
    const wider = await change({ trading_account_ids: [gone, trader.account.id] });
    assert.deepEqual([wider.status, wider.body.trading_account_ids], [200, [trader.account.id]]);
    await change({ trading_account_ids: [] });
    await world.send(trader);
    await settled();
    assert.deepEqual(sent, []);
  });

  test('cannot be given one that was never its own', async (t) => {
    const { world, change } = await removed(t);
    const stranger = await world.makeTrader();
    assert.equal((await change({ trading_account_ids: [stranger.account.id] })).status, 400);
  });
});
