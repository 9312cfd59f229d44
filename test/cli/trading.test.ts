// Test signals, orders, exports and dead letters from the command line, beside the running service.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { newsOnly } from '../../src/cli/orders.ts';
import { sql } from '../../src/data/engine/db.ts';
import { ACTIONS } from '../../src/domain/orders/order.ts';
import { startProxy } from '../servers/proxy.ts';
import { openWorld } from '../world.ts';
import { terminal } from './terminal.ts';

async function openDesk(t: TestContext) {
  const world = await openWorld(t);
  const url = await world.server.listen({ host: '127.0.0.1', port: 0 });
  const trader = await world.makeTrader({}, { name: 'Futures' });
  return { world, url, trader };
}

const BUY = ['--action', 'buy', '--symbol', 'BTCUSDT', '--quantity', '0.5'] as const;

test('a test signal is simulated, and is told with its price and its milliseconds', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const run = terminal(world.config, { client: { url } });
  const sent = await run('signal', 'send', '--account', 'Futures', ...BUY);
  assert.equal(sent.code, 0, sent.err);
  assert.match(
    sent.out,
    /^\S+Z filled buy 0\.5 BTCUSDT at [\d.]+ \(simulated\) [0-9a-f-]{36}\nms since arrival: validated \d+, .*answered \d+\nanswered after \d+ ms\n$/,
  );
  const [order] = await world.orders(trader);
  assert.deepEqual([order?.simulation, order?.source], [1, 'webhook']);
  // Who opened the secret stands in its owner's log.
  const opened = (await world.audits(trader)).find(({ action }) => action === 'webhook_secret_shown');
  assert.deepEqual([opened?.ip_address, opened?.request_path], ['command line', 'signal send']);
});

test('one in earnest is asked about, and sent only where it is meant', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const args = ['signal', 'send', '--account', trader.account.id, ...BUY, '--real'];
  const unasked = await terminal(world.config, { client: { url } })(...args);
  assert.deepEqual([unasked.code, unasked.out], [1, '']);
  assert.match(unasked.err, /give --yes/);
  assert.equal((await terminal(world.config, { client: { url }, typed: 'no' })(...args)).code, 1);
  assert.deepEqual(await world.orders(trader), []);
  assert.equal((await terminal(world.config, { client: { url }, typed: 'yes' })(...args)).code, 0);
  const sell = ['signal', 'send', '--account', trader.account.id, '--action', 'close', '--symbol', 'BTCUSDT'];
  assert.equal((await terminal(world.config, { client: { url } })(...sell, '--real', '--yes')).code, 0);
  const orders = await world.orders(trader);
  assert.deepEqual(
    orders.map(({ simulation, status }) => [simulation, status]),
    [
      [0, 'filled'],
      [0, 'filled'],
    ],
  );
});

test('where there are no orders, that is said to whoever looks, and to no program', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const run = terminal(world.config, { client: { url, key: trader.apiKey } });
  const none = await run('orders', 'list');
  assert.deepEqual(
    [none.code, none.out, none.err],
    [0, '', 'There are no orders yet. `npx fillpath signal send` sends a test signal.\n'],
  );
  const chosen = await run('orders', 'list', '--account', 'Futures', '--status', 'unknown');
  assert.deepEqual([chosen.out, chosen.err], ['', 'There are no such orders.\n']);
  const forPrograms = await run('orders', 'list', '--json');
  assert.deepEqual([forPrograms.out, forPrograms.err], ['[]\n', '']);
});

test('a close, which has no quantity of its own, is told by what was filled', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const client = { url, key: trader.apiKey };
  const run = terminal(world.config, { client });
  const to = ['signal', 'send', '--account', trader.account.id, '--real', '--yes'] as const;
  assert.equal((await run(...to, ...BUY)).code, 0);
  const close = ['--action', 'close', '--symbol', 'BTCUSDT'] as const;
  assert.match((await run(...to, ...close)).out, /^\S+Z filled close 0\.5 BTCUSDT at /);
  const listed = (await run('orders', 'list')).out.split('\n')[1];
  assert.match(listed ?? '', / filled +close +0\.5 +BTCUSDT /);
  // There was nothing left to close.
  const idle = await run(...to, ...close, '--id', '2');
  assert.match(idle.out, /^\S+Z \w+ close BTCUSDT /);
});

test('every action that a signal may have is in the help', async (t) => {
  const { out } = await terminal((await openDesk(t)).world.config)('signal', 'send', '--help');
  for (const action of ACTIONS) assert.match(out, new RegExp(`\\b${action}\\b`), action);
});

test('an order that is told again as it was is not printed again', () => {
  const isNews = newsOnly();
  const told = [
    ['a', 'a executing'],
    ['b', 'b executing'],
    ['a', 'a filled'],
    ['a', 'a filled'],
    ['b', 'b executing'],
  ] as const;
  assert.deepEqual(
    told.map(([id, line]) => isNews(id, line)),
    [true, true, true, false, false],
  );
});

test('nothing in the address makes a rehearsal trade in earnest', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const webhook = `${url}/webhook/${trader.account.webhookToken}/order`;
  const run = terminal(world.config, { client: { secret: trader.secret } });
  for (const behind of ['#', '#x', '?', '?x=1', '?simulation=false#']) {
    const sent = await run('signal', 'send', '--url', `${webhook}${behind}`, ...BUY);
    assert.equal(sent.code, 2, behind);
    assert.match(sent.err, /nothing after it/);
  }
  assert.equal((await run('signal', 'send', '--url', webhook, ...BUY)).code, 0);
  const orders = await world.db.all<{ simulation: number }>(sql`select simulation from order_history`);
  assert.deepEqual(
    orders.map(({ simulation }) => Boolean(simulation)),
    [true],
  );
});

test('from elsewhere a webhook needs its secret; a refusal is told in its own words', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const webhook = `${url}/webhook/${trader.account.webhookToken}/order`;
  const args = ['signal', 'send', '--url', webhook, ...BUY, '--real', '--yes', '--json'];
  const good = await terminal(world.config, { client: { secret: trader.secret } })(...args);
  assert.equal(good.code, 0, good.err);
  assert.equal(JSON.parse(good.out).status, 'filled');
  const wrong = await terminal(world.config, { client: { secret: 'wrong' } })(...args);
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.err,
    /: Put the account's current webhook secret into the alert\. \(webhook_credential_attack\)\n$/,
  );
  const run = terminal(world.config);
  assert.equal((await run('signal', 'send', ...BUY)).code, 2);
  assert.equal((await run('signal', 'send', '--account', 'none', ...BUY)).code, 1);
  const nobody = await run('signal', 'send', '--url', 'http://127.0.0.1:1/webhook/x/order', ...BUY);
  assert.equal(nobody.code, 2);
  assert.match(nobody.err, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /);
});

test('orders are listed and followed, a line for each change, over a connection that is cut', async (t) => {
  const { world, url, trader } = await openDesk(t);
  const other = await world.addAccount(trader, { name: 'Other' });
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy.close());
  const client = { url: `http://127.0.0.1:${proxy.port}`, key: trader.apiKey };
  const heard: string[] = [];
  const follow = terminal(world.config, { client, heard: (line) => heard.push(line) });
  const told = (part: string) =>
    world.eventually(
      async () => heard.join(''),
      (text) => text.includes(part),
    );

  const following = follow('orders', 'tail', '--account', 'Futures');
  // Whatever comes before the stream is open is in no stream: sent until it is told.
  await world.eventually(
    async () => {
      await world.send(trader, { symbol: 'ETHUSDT' });
      return heard.join('');
    },
    (text) => text.includes('ETHUSDT'),
  );
  proxy.cut();
  await world.send(other, { symbol: 'SOLUSDT' });
  await world.send(trader);
  await told('BTCUSDT');
  assert.equal(heard.join('').includes('SOLUSDT'), false, 'another account');
  // What is told again after the cut is what was not told before it.
  for (const line of heard.filter((text) => text.includes('USDT')))
    assert.match(line, /^\S+Z \w+ buy 1 (?:ETH|BTC)USDT( at [\d.]+)? \(paper\) [0-9a-f-]{36}\n$/);

  const run = terminal(world.config, { client });
  const listed = await run('orders', 'list', '--account', 'Other', '--json');
  assert.deepEqual(
    JSON.parse(listed.out).map(({ symbol }: { symbol: string }) => symbol),
    ['SOLUSDT'],
  );
  // With its key it ends.
  const [key] = JSON.parse((await run('key', 'list', trader.user.email, '--json')).out);
  assert.equal((await run('key', 'revoke', trader.user.email, key.id)).code, 0);
  // A shared store carries the word; in one process the stream looks for itself, with its next comment.
  if (!world.config.data.redisUrl) proxy.cut();
  const ended = await following;
  assert.equal(ended.code, 1);
  assert.match(ended.err, /trying again\n(?:.*\n)*connected again\n(?:.*\n)*.*\(unauthenticated\)\n$/);

  const refused = await terminal(world.config, { client: { ...client, key: 'x' } })('orders', 'list');
  assert.deepEqual([refused.code, refused.out], [1, '']);
  const keyless = await terminal(world.config, { client: { url } })('orders', 'tail');
  assert.equal(keyless.code, 2);
});

test('an export has the very lines of the API, in a file for its owner alone', async (t) => {
  const { world, trader } = await openDesk(t);
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-export-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const run = terminal(world.config);
  for (const symbol of ['BTCUSDT', 'ETHUSDT', 'SOLUSDT']) await world.send(trader, { symbol });
  // What a broker said is anybody's text: a spreadsheet is not to run it.
  await world.db.commit([
    sql`update order_history set error = ${JSON.stringify({ code: 'failed_at_broker', message: '=1+1' })} where symbol = 'SOLUSDT'`,
  ]);
  const stranger = await world.makeTrader({}, { name: 'Elsewhere' });
  await world.send(stranger);

  const api = await world.as<string>(trader, 'GET', '/trading/orders', undefined, { accept: 'text/csv' });
  assert.match(api.body, /'=1\+1/);
  const printed = await run('export', 'orders', '--user', trader.user.email);
  assert.deepEqual([printed.code, printed.err], [0, '']);
  assert.equal(printed.out, api.body);

  const file = join(dir, 'orders.csv');
  const written = await run('export', 'orders', '--account', 'Futures', '-o', file);
  assert.deepEqual([written.code, written.out, written.err], [0, '', `3 orders in ${file}\n`]);
  assert.equal(readFileSync(file, 'utf8'), api.body);
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const lines = (await run('export', 'orders', '--format', 'jsonl')).out.trimEnd().split('\n');
  assert.equal(lines.length, 4);
  const { items } = (await world.as<{ items: { order_id: string }[] }>(trader, 'GET', '/trading/orders'))
    .body;
  for (const item of items)
    assert.ok(
      lines.some((line) => line === JSON.stringify(item)),
      `${item.order_id} as the API shows it`,
    );
  const none = await run('export', 'orders', '--to', '2020-01-01', '--format', 'jsonl');
  assert.deepEqual([none.code, none.out], [0, '']);
  assert.equal((await run('export', 'orders', '--from', 'yesterday')).code, 2);
  assert.equal((await run('export', 'orders', '--user', 'nobody@example.com')).code, 1);
  assert.equal((await run('export', 'orders', '-o', join(dir, 'no', 'folder.csv'))).code, 2);
});

test('a dead letter is listed and looked at again', async (t) => {
  const { world, trader } = await openDesk(t);
  const run = terminal(world.config);
  const empty = await run('dead-letters', 'list');
  assert.deepEqual([empty.code, empty.out, empty.err], [0, '', 'There are no dead letters.\n']);
  assert.equal((await run('dead-letters', 'list', '--json')).out, '[]\n');
  const { body } = await world.send(trader);
  await world.db.commit([
    sql`insert into fill_checks (order_id, user_id, state, attempts, next_at, last_error)
        values (${body.order_id}, ${trader.user.id}, 'dead_letter', 20, '2026-01-01T00:00:00.000Z', 'timeout')
        on conflict (order_id) do update set state = 'dead_letter', attempts = 20, last_error = 'timeout'`,
  ]);
  const listed = JSON.parse((await run('dead-letters', 'list', '--json')).out);
  assert.deepEqual(
    listed.map((letter: Record<string, unknown>) => [letter.order_id, letter.last_error]),
    [[body.order_id, 'timeout']],
  );
  assert.match((await run('dead-letters', 'list')).out, /timeout\n$/);
  const retried = await run('dead-letters', 'retry', body.order_id);
  assert.equal(retried.code, 0, retried.err);
  assert.equal((await run('dead-letters', 'retry', body.order_id)).code, 1);
  const none = await run('dead-letters', 'retry', 'x');
  assert.deepEqual([none.code, none.err], [1, 'There is no such dead letter.\n']);
});

test('stops that are missing are listed first, with since when, and each is shown with its history', async (t) => {
  const world = await openWorld(t, { env: { PROTECT_SECONDS: '1' } });
  const trader = await world.makeTrader({}, { name: 'Futures' });
  const run = terminal(world.config);
  const empty = await run('protections', 'list');
  assert.deepEqual([empty.code, empty.out, empty.err], [0, '', 'No position is protected.\n']);
  assert.equal((await run('protections', 'list', '--json')).out, '[]\n');
  const refusing = await world.makeTrader(
    {},
    { name: 'Refusing', unprotected: 'alert', paper: { latency_ms: 0, protection: 'refuse' } },
  );
  await world.send(refusing, { symbol: 'ETHUSDT', stop_loss: '2%' });
  await world.send(trader, { stop_loss: '2%' });
  type Listed = { id: string; state: string; symbol: string; unprotected_since: string | null };
  const list = async (...args: string[]): Promise<Listed[]> =>
    JSON.parse((await run('protections', 'list', '--json', ...args)).out);
  const [missing, standing] = await world.eventually(list, (all) =>
    ['unprotected', 'standing'].every((state, place) => all[place]?.state === state),
  );
  assert.deepEqual([missing?.symbol, standing?.symbol], ['ETHUSDT', 'BTCUSDT']);
  assert.equal(standing?.unprotected_since, null);
  assert.deepEqual(
    (await list('--state', 'unprotected')).map(({ id }) => id),
    [missing?.id],
  );
  const { out } = await run('protections', 'list');
  const [title, first, second] = out.split('\n');
  assert.match(title ?? '', /^STATE +NO STOP SINCE +USER +ACCOUNT +MODE +SYMBOL +SIDE +STOP +SEEN /);
  assert.match(
    first ?? '',
    /^unprotected +\S+Z \(\d+ s\) +\S+ +Refusing +paper +ETHUSDT +long .* refuses every stop/,
  );
  assert.match(second ?? '', /^standing +– +\S+ +Futures +paper +BTCUSDT +long /);

  const one = await run('protections', 'show', missing?.id ?? '');
  assert.equal(one.code, 0, one.err);
  assert.match(one.out, /\nAT +WHAT +FROM +TO +BY\n\S+Z +set /);
  assert.match(one.out, /\n\S+Z +refused /);
  const { history } = JSON.parse((await run('protections', 'show', standing?.id ?? '', '--json')).out);
  assert.deepEqual(
    history.map(({ what }: { what: string }) => what),
    ['set', 'standing'],
  );
  const none = await run('protections', 'show', 'x');
  assert.deepEqual([none.code, none.err], [1, 'There is no such protection.\n']);
  const wrong = await run('protections', 'list', '--state', 'ended');
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.err, /^--state takes one of armed, standing, suspended, unprotected, unwatched\.\n$/);
});

test('an order that no broker can tell of is settled by its owner, with the password', async (t) => {
  const { world, url, trader } = await openDesk(t);
  await world.setPaper(trader, { fill: 'never' });
  const { body } = await world.send(trader);
  await world.eventually(
    () => world.order(trader, body.order_id),
    ({ verification }) => verification.state === 'scheduled',
  );
  await world.db.commit([
    sql`update fill_checks set state = 'dead_letter', visible_at = null where order_id = ${body.order_id}`,
  ]);
  const { email } = trader.user;
  const password = 'a password that nobody guesses 7';
  const run = (stdin: string) => terminal(world.config, { client: { url }, stdin });
  const set = await run(password)('user', 'reset-password', email, '--password-stdin');
  assert.equal(set.code, 0, set.err);
  const args = ['orders', 'settle', body.order_id, '--user', email];
  assert.equal((await run(password)(...args)).code, 2);
  assert.equal((await run(password)(...args, '--filled', '--price', '1')).code, 2);
  const wrong = await run('a wrong one')(...args, '--not-filled');
  assert.deepEqual([wrong.code, wrong.out], [1, '']);
  assert.match(wrong.err, /^Not logged in: Check the email address and the password/);
  for (let tries = 0; tries < 9; tries++) await run('a wrong one')(...args, '--not-filled');
  assert.match(
    (await run(password)(...args, '--not-filled')).err,
    /^Not logged in: (?!Check)/,
    'it is not the password',
  );
  await world.db.commit([sql`delete from tries`]);
  const settled = await run(password)(...args, '--filled', '--price', '60000', '--quantity', '0.5');
  assert.deepEqual(
    [settled.code, settled.out],
    [0, "The order is filled, by its owner's word.\n"],
    settled.err,
  );
  const again = await run(password)(...args, '--not-filled');
  assert.match(again.err, /not_settleable/);
  assert.equal(
    (
      await world.db.all(
        sql`select id from user_sessions where user_id = ${trader.user.id} and is_active = ${true}`,
      )
    ).length,
    0,
    'the session ends with the command',
  );
});
