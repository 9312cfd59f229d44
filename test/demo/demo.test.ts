// `npm start -- --demo` as a visitor finds it: the real program, and what its API shows a moment later.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompactEncrypt, importJWK } from 'jose';
import { sql } from '../../src/data/engine/db.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { assertDescribed } from '../http/documented.ts';
import { COMPILED } from '../servers/compiled.ts';
import { freePort } from '../servers/free-port.ts';
import { stopwatch } from '../stopwatch.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const dirs: string[] = [];
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-demo-'));
  dirs.push(dir);
  return dir;
}

/** Of our own environment only PATH reaches it, and what was compiled; no .env of ours. */
function start(dir: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: dir,
    env: { PATH: process.env.PATH, ...COMPILED, DATA_DIR: dir, PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  const ready = Promise.withResolvers<string>();
  const read = (text: string) => {
    output += text;
    const address = /ready at (http:\S+)/.exec(output)?.[1];
    if (address) ready.resolve(address.replace('localhost', '127.0.0.1'));
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', read);
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  void ended.then(() => ready.reject(new Error(`it ended before it was ready:\n${output}`)));
  // Who waits for its end does not wait for that.
  ready.promise.catch(() => {});
  return { ready: ready.promise, ended, printed: () => output, kill: () => child.kill('SIGTERM') };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of the API, of which each test names what it means
type Json = any;

async function visitor(address: string) {
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(address + path, {
      method,
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    await assertDescribed(address, { method, path }, { status: response.status, type, body: text });
    return { status: response.status, body: (text ? JSON.parse(text) : null) as Json };
  };
  const { demo } = (await call('GET', '/public/config')).body;
  const { email: username, password } = demo;
  const tokens = await call('POST', '/auth/token', { grant_type: 'password', username, password });
  assert.equal(tokens.status, 200);
  const { access_token, csrf_token } = tokens.body;
  const headers = { authorization: `Bearer ${access_token}`, 'x-csrf-token': csrf_token };
  return {
    login: demo as { email: string; password: string },
    ask: (method: string, path: string, body?: object) => call(method, path, body, headers),
    items: async (path: string): Promise<Json[]> => (await call('GET', path, undefined, headers)).body.items,
  };
}

/** Asks until it is so. */
async function eventually(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(200))
    if (await isSo()) return;
  assert.fail(`not within two minutes: ${what}`);
}

const all = (found: readonly string[], wanted: readonly string[]) =>
  wanted.every((one) => found.includes(one));

describe('--demo', () => {
  test('every page has something to show, all of it on paper, and it stops when told to', async () => {
    const dir = folder();
    const program = start(dir, ['--demo']);
    const { login, ask, items } = await visitor(await program.ready);
    assert.match(program.printed(), /THIS IS A DEMO/);
    assert.ok(program.printed().includes(login.email) && program.printed().includes(login.password));

    const accounts = await items('/trading/accounts');
    assert.ok(accounts.length >= 4);
    for (const { name, broker } of accounts) {
      assert.equal(broker, 'paper');
      assert.match(name, /^Demo .*\(paper\)$/);
    }
    assert.equal((await ask('GET', '/auth/session')).body.user.is_admin, true);
    assert.equal((await ask('GET', '/deployment/workers')).status, 200);

    // The past is there from the beginning.
    const { body: performance } = await ask('GET', '/trading/performance');
    const traded = performance.days.filter(({ orders }: Json) => orders.filled > 0);
    assert.ok(traded.length >= 5, JSON.stringify(performance.days));
    assert.ok(traded.some(({ realised }: Json) => realised !== 0));
    assert.equal((await items('/trading/orders?status=filled')).length > 20, true);

    // Trades of the past: enough to say something of them, and not only losses.
    const { body: trades } = await ask('GET', '/trading/trades/summary');
    assert.ok(trades.trades >= 20, `${trades.trades} trades`);
    assert.ok(trades.won > trades.trades / 4 && trades.lost > 0, `${trades.won} of ${trades.trades} won`);
    assert.ok(trades.strategies.some(({ strategy }: Json) => strategy === 'Pullback'));

    await eventually('signals of each outcome', async () =>
      all(
        (await items('/trading/signals?limit=200')).map(({ outcome }) => outcome),
        ['order', 'refused', 'sync'],
      ),
    );
    await eventually('attacks of each kind', async () =>
      all(
        (await items('/settings/security-attacks?limit=200')).map(({ action }) => action),
        [
          'webhook_credential_attack',
          'webhook_replay_attack',
          'webhook_timestamp_expired',
          'webhook_payload_invalid',
          'webhook_ip_blocked',
          'csrf_validation_failed',
        ],
      ),
    );
    await eventually('a position that is not the strategy’s', async () => {
      const held = await Promise.all(accounts.map(({ id }) => items(`/trading/accounts/${id}/positions`)));
      return held.flat().some(({ in_sync }) => in_sync === false);
    });
    await eventually('a halted account', async () =>
      (await items('/trading/accounts')).some(({ halted }) => halted),
    );
    await eventually('orders of each end, and one that is being verified', async () =>
      all(
        (await items('/trading/orders?limit=200')).map(({ status }) => status),
        ['filled', 'rejected', 'cancelled', 'failed', 'placed'],
      ),
    );
    await eventually('orders by hand, held back by a guard, and simulated', async () => {
      const orders = await items('/trading/orders?limit=200');
      return (
        orders.some(({ source }) => source === 'dashboard') &&
        orders.some(({ error }) => error?.code === 'guard_refused') &&
        orders.some(({ simulation }) => simulation)
      );
    });
    const stopped = (await items('/trading/orders?limit=200')).filter(
      ({ exit_reason }) => exit_reason === 'stop_loss',
    );
    assert.ok(stopped.length >= 2, 'stops have fired in the past');
    assert.ok(performance.symbols.some(({ exit_reasons }: Json) => exit_reasons?.stop_loss >= 2));
    await eventually('a stop that follows the price', async () => {
      const [trailed] = await items('/trading/protections?symbol=SOLUSDT&state=standing');
      if (!trailed) return false;
      const { history } = (await ask('GET', `/trading/protections/${trailed.id}`)).body;
      return history.some(({ what }: Json) => what === 'moved');
    });
    await eventually('half at the target, and the stop at the entry', async () => {
      const [kept] = await items('/trading/protections?symbol=XRPUSDT&state=standing');
      return kept?.take_profit[0].filled === 4_000 && kept.stop_loss >= 2.2;
    });
    await eventually('stopped out, and staying so', async () =>
      (await items('/trading/orders?limit=200')).some(({ error }) => error?.code === 'stopped_out'),
    );
    await eventually('a position whose stop is refused', async () => {
      const [missing] = await items('/trading/protections?state=unprotected');
      return missing?.unprotected_since !== null && /refuses every stop/.test(missing?.reason);
    });
    await eventually('a signal to a group for money: two traded, one refused and why', async () => {
      const [group] = await items('/trading/groups');
      const signals = await items(`/trading/signals?group_id=${group?.id}`);
      const became = signals.find(({ action }) => action === 'buy')?.orders;
      const orders = await items('/trading/orders?limit=200');
      const bought = orders.filter(
        ({ group_id, action, quantity_type }) =>
          group_id === group?.id && action === 'buy' && quantity_type === 'cash',
      );
      return (
        JSON.stringify(became?.map(({ code }: Json) => code)) === '[null,null,"account_halted"]' &&
        bought.some(({ sizing, status }) => sizing?.factor === 0.5 && status === 'filled')
      );
    });
    await eventually('an entry that rests, one that was replaced, and one that was filled', async () => {
      const priced = await items('/trading/orders?symbol=ADAUSDT&limit=200');
      return (
        priced.some(({ status, entry_id }) => status === 'placed' && entry_id === 'Dip') &&
        priced.some(({ error }) => error?.code === 'replaced') &&
        priced.some(({ status, limit_price }) => status === 'filled' && limit_price !== null)
      );
    });
    const sized = await items('/trading/orders?symbol=AVAXUSDT&source=webhook&limit=200');
    for (const type of ['risk_percent', 'percent_of_position'])
      assert.ok(
        sized.some(({ quantity_type, status }) => quantity_type === type && status === 'filled'),
        type,
      );
    const limited = await items('/trading/signals?code=rate_limited');
    assert.deepEqual(limited, [], 'it keeps within the rate limit');

    program.kill();
    const passed = stopwatch();
    const { code, output } = await program.ended;
    assert.equal(code, 0, output);
    assert.ok(passed() < 5_000);
    // A machine that has no time for it for seconds is no fault of the demo's.
    const said = output.split('\n').filter((line) => !line.includes('the worker host was silent'));
    assert.doesNotMatch(said.join('\n'), /"level":[456]0/, 'neither a warning nor an error is logged');

    const log = await start(dir, ['audit', 'verify']).ended;
    assert.equal(log.code, 0, log.output);

    const again = await start(dir, ['--demo']).ended;
    assert.equal(again.code, 2);
    assert.match(again.output, /--demo is refused: there are users in .*; set DATA_DIR to an empty folder/);
    assert.doesNotMatch(again.output, / at /, 'a sentence, not a stack');
  });

  test('an account of a real broker that a visitor makes reaches nobody', async () => {
    const program = start(folder(), ['--demo']);
    const { ask } = await visitor(await program.ready);
    const made = await ask('POST', '/trading/accounts', { name: 'Mine', broker: 'binance' });
    assert.equal(made.status, 201);
    const { id } = made.body;
    const { body: key } = await ask('GET', '/auth/public-key');
    const { body: session } = await ask('GET', '/auth/session');
    const credentials = { api_key: 'a-key-of-mine', api_secret: 'a-secret-of-mine' };
    const plain = { user_id: session.user.id, trading_account_id: id, credentials };
    const sealed = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(plain)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid })
      .encrypt(await importJWK(key, 'ECDH-ES'));
    assert.equal((await ask('PUT', `/trading/accounts/${id}/credentials`, { sealed })).status, 200);
    const verified = await ask('POST', `/trading/accounts/${id}/verify`);
    assert.equal(verified.status, 503);
    assert.match(verified.body.detail, /demo/);
    program.kill();
    assert.equal((await program.ended).code, 0);
  });

  test('refused in production', async () => {
    const { code, output } = await start(folder(), ['--demo'], {
      NODE_ENV: 'production',
      APP_KEY: Buffer.alloc(32, 7).toString('base64url'),
      JWT_SECRET: 'x'.repeat(40),
      ALLOWED_ORIGINS: 'https://fillpath.example',
    }).ended;
    assert.equal(code, 2);
    assert.match(output, /--demo is refused with NODE_ENV=production/);
  });

  test('refused where other processes could take part', async () => {
    const redis = await start(folder(), ['--demo'], { REDIS_URL: 'redis://127.0.0.1:1' }).ended;
    assert.equal(redis.code, 2);
    assert.match(redis.output, /--demo is refused with REDIS_URL/);
  });

  test('refused on the database of a first start, which has its user', async () => {
    const dir = folder();
    const real = start(dir, []);
    const address = await real.ready;
    const { body } = await fetch(`${address}/public/config`).then(async (answer) => ({
      body: (await answer.json()) as Json,
    }));
    assert.equal(body.demo, null);
    real.kill();
    assert.equal((await real.ended).code, 0);
    const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
    await db.script(`delete from migrations where name = '013-standing-indexes'`);
    const migrations = sql`select name from migrations`;
    const before = await db.all(migrations);
    const { code, output } = await start(dir, ['--demo']).ended;
    assert.equal(code, 2);
    assert.match(output, /--demo is refused: there are users in/);
    assert.deepEqual(await db.all(migrations), before, 'of an earlier version it stays');
    await db.close();
  });

  test('a port that is taken is noticed before anything is played: another start may follow', async () => {
    const dir = folder();
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const { code, output } = await start(dir, ['--demo'], { PORT: String(port) }).ended;
    other.close();
    assert.equal(code, 2);
    assert.match(output, new RegExp(`${port}`));
    assert.doesNotMatch(output, /\n {4}at /, 'a sentence, and no stack');
    assert.equal(existsSync(join(dir, 'fillpath.sqlite')), false);
  });
});
