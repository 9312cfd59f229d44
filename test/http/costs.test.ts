// What each who can ask may cost at the most (costs.ts), measured: each asks for as much as they like, from one
// address, by a clock that stands still.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUIDv7 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { type Db, sql } from '../../src/data/engine/db.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, PASSWORD, settableClock, type World } from '../world.ts';
import { COSTS, type Cost, costsTable, MOST, type Principal } from './costs.ts';
import { countingHasher, type Visitor } from './visitor.ts';

const ADDRESS = '203.0.113.66';
const LARGE = 'x'.repeat(15_000);

/** What an order asks of its broker is another matter. */
const READS = new Set(['balance', 'positions', 'instruments', 'verify', 'quote']);

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Measures what is done between its making and `measured`. */
async function openScales(t: TestContext) {
  const [clock, hasher, broker] = [settableClock(), countingHasher(), scriptedBroker(t)];
  const mails: Mail[] = [];
  /** Of the request that is under way, and not of what the service does besides. */
  const reading = new AsyncLocalStorage<{ rows: number }>();
  const read = (count: number) => {
    const request = reading.getStore();
    if (request) request.rows += count;
  };
  const counted = <Reads extends Pick<Db, 'all' | 'get'>>(reads: Reads): Pick<Db, 'all' | 'get'> => ({
    async all<Row>(query: Parameters<Db['all']>[0]) {
      const found = await reads.all<Row>(query);
      read(found.length);
      return found;
    },
    async get<Row>(query: Parameters<Db['get']>[0]) {
      read(1);
      return reads.get<Row>(query);
    },
  });
  const world = await openWorld(t, {
    env: { EDGE: 'builtin', VERIFY_EMAIL: 'true' },
    ...{ clock, hasher, brokers: broker.brokers },
    mailer: {
      async send(mail) {
        mails.push(mail);
      },
    },
    db: (opened) => ({
      ...counted(opened),
      lists: counted(opened.lists),
      dialect: opened.dialect,
      commit: (unit) => opened.commit(unit),
      scripts: (waitMs, work) => opened.scripts(waitMs, work),
      script: (text) => opened.script(text),
      close: () => opened.close(),
    }),
  });
  const stored = async (): Promise<number> => {
    let bytes = 0;
    for (const { name } of await world.db.all<{ name: string }>(
      sql`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`,
    ))
      for (const row of await world.db.all({ parts: [`select * from ${name}`], values: [] }))
        bytes += JSON.stringify(Object.values(row as object)).length;
    return bytes;
  };
  let before = { bytes: await stored(), mails: 0, checks: 0, calls: 0 };
  let mostRows = 0;
  const checks = () => hasher.hashed + hasher.verified.length;
  return {
    world,
    clock,
    async begin() {
      before = { bytes: await stored(), mails: mails.length, checks: checks(), calls: broker.calls.length };
      mostRows = 0;
    },
    /** As often as is said, one after the other. */
    async ask(times: number, question: (n: number) => Promise<unknown>) {
      for (let n = 0; n < times; n++) {
        const request = { rows: 0 };
        await reading.run(request, () => question(n));
        mostRows = Math.max(mostRows, request.rows);
      }
    },
    async measured(): Promise<Readonly<Record<Cost, number>>> {
      const ofAddress = new Map<string, number>();
      for (const { to } of mails.slice(before.mails)) ofAddress.set(to, (ofAddress.get(to) ?? 0) + 1);
      return {
        bytes: (await stored()) - before.bytes,
        messages: Math.max(0, ...ofAddress.values()),
        passwords: checks() - before.checks,
        broker: broker.calls.slice(before.calls).filter(({ call }) => READS.has(call)).length,
        rows: mostRows,
      };
    },
  };
}

type Scales = Awaited<ReturnType<typeof openScales>>;

const post = (world: World, url: string, body: unknown, headers: Record<string, string> = {}) =>
  world.request({ method: 'POST', url, body, headers, remoteAddress: ADDRESS });

/** Nobody's, again and again: registering one address, guessing, forgetting, looking for webhooks and links. */
async function asStranger({ world, ask }: Scales) {
  await ask(120, (n) =>
    n % 3 === 0
      ? post(world, '/auth/register', { email: 'victim@example.com', password: PASSWORD })
      : post(world, '/auth/login', { email: `${n}@example.com`, password: LARGE.slice(0, 200) }),
  );
  await ask(120, (n) =>
    post(world, '/auth/token', { grant_type: 'password', username: `${n}@example.com`, password: 'wrong' }),
  );
  await ask(100, (n) => post(world, `/webhook/${n}/order`, LARGE, { 'user-agent': LARGE.slice(0, 8_000) }));
  await ask(100, (n) => post(world, '/auth/verify-email', { token: `${n}` }));
}

/** Rehearsals, wrong secrets and rubbish, as large as they may be. */
const withUrl = ({ world, ask }: Scales, webhookToken: string) =>
  ask(240, (n) => {
    const url = `/webhook/${webhookToken}/order`;
    const signal = { action: 'buy', symbol: 'BTCUSDT', quantity: 1, comment: LARGE };
    if (n % 3 === 0) return post(world, `${url}?simulation=true`, signal);
    if (n % 3 === 1) return post(world, url, LARGE);
    return post(world, url, {
      ...signal,
      timestamp: new Date(world.clock.now()).toISOString(),
      secret: 'wrong',
    });
  });

type Call = (method: Method, url: string, body?: unknown) => Promise<unknown>;

/** The own webhook, the trading routes, settings and every list. */
async function asUser(
  { world, ask }: Scales,
  call: Call,
  account: {
    readonly id: string;
    readonly token: string;
    readonly secret: string;
    /** The last of many, with a long history. */
    readonly protections: readonly string[];
  },
) {
  const now = world.clock.now();
  await ask(90, (n) =>
    post(world, `/webhook/${account.token}/order`, {
      ...{ action: 'buy', symbol: 'BTCUSDT', quantity: 0.01, secret: account.secret, comment: LARGE },
      timestamp: new Date(now).toISOString().replace('Z', `${String(n).padStart(6, '0')}Z`),
    }),
  );
  const order = { trading_account_id: account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 0.01 };
  await ask(60, () => call('POST', '/trading/order', order));
  await ask(100, (n) => call('PATCH', `/trading/accounts/${account.id}`, { name: `${n}`.padEnd(60, 'x') }));
  const lists = ['/trading/orders', '/trading/signals', '/settings/audit-log', '/trading/accounts'];
  for (const list of [...lists, '/trading/protections']) await ask(5, () => call('GET', `${list}?limit=200`));
  await ask(5, () => call('GET', '/trading/protections?limit=200&state=standing'));
  for (const id of account.protections) {
    await ask(5, () => call('GET', `/trading/protections/${id}`));
    await ask(60, () => call('POST', `/trading/protections/${id}/look`));
  }
  await ask(5, () => call('GET', '/trading/overview'));
  for (const what of ['balance', 'positions', 'quote?symbol=BTCUSDT'])
    await ask(20, () => call('GET', ofAccount(what)));
  await ask(20, () => call('POST', ofAccount('verify')));
  // No two ask the same, so that nobody is answered with what is young.
  await ask(300, (n) => call('GET', ofAccount(`symbols?q=${n}`)));

  function ofAccount(what: string): string {
    return `/trading/accounts/${account.id}/${what}`;
  }
}

/** What only a session does: passwords, and the mails about them. */
async function inSession({ ask }: Scales, visitor: Visitor) {
  let [current, other] = [PASSWORD, 'another horse, another staple'];
  await ask(40, async (n) => {
    if (n % 4 === 3) return visitor.call('POST', '/auth/totp/disable', { password: current });
    if (n % 4 === 2) return visitor.call('POST', '/auth/totp/enrol', { password: current });
    const change = { current_password: current, password: other };
    if ((await visitor.call('POST', '/auth/password', change)).status === 204)
      [current, other] = [other, current];
  });
}

/** A session, and an account to trade on. */
async function enter(scales: Scales, { plan, isAdmin = false }: { plan: string; isAdmin?: boolean }) {
  const { world } = scales;
  const visitor = await world.login();
  await world.db.commit([
    sql`update users set plan = ${plan}, is_admin = ${isAdmin}, email_verified = ${true} where email = ${visitor.user.email}`,
  ]);
  const made = await visitor.call<{ id: string; webhook_token: string; webhook_secret: string }>(
    ...(['POST', '/trading/accounts', { name: 'Paper', broker: 'paper', paper: { latency_ms: 0 } }] as const),
  );
  const { id, webhook_token: token, webhook_secret: secret } = made.body;
  const protections = await protectedBefore(world, { user: visitor.user.id, account: id });
  return { visitor, account: { id, token, secret, protections: protections.slice(-1) } };
}

/** So many have ended that they fill a page, and one was moved more often than is shown. */
async function protectedBefore({ db }: World, of: { readonly user: string; readonly account: string }) {
  const ids = Array.from({ length: 300 }, () => randomUUIDv7());
  const at = '2026-07-01T00:00:00.000Z';
  await db.commit(
    ids.map(
      (
        id,
      ) => sql`insert into protections (id, version, user_id, trading_account_id, broker_name, simulation, symbol, instrument,
          side, state, set_by, created_at, ended_at)
        values (${id}, 1, ${of.user}, ${of.account}, 'paper', ${false}, 'BTCUSDT', 'BTCUSDT', 'long', 'ended', ${id}, ${at}, ${at})`,
    ),
  );
  const last = ids.at(-1) ?? '';
  await db.commit(
    Array.from(
      { length: 900 },
      () => sql`insert into protection_history (protection_id, at, what, from_price, to_price, by_whom)
        values (${last}, ${at}, 'moved', '1', '2', null)`,
    ),
  );
  return ids;
}

async function bySession(scales: Scales, who: { plan: string; isAdmin?: boolean }) {
  const { visitor, account } = await enter(scales, who);
  await scales.begin();
  await asUser(scales, (...call) => visitor.call(...call), account);
  if (who.isAdmin) await scales.ask(5, () => visitor.call('GET', '/deployment/users?limit=200'));
  await inSession(scales, visitor);
}

const FLOODS: Readonly<Record<Principal, (scales: Scales) => Promise<unknown>>> = {
  async stranger(scales) {
    await scales.begin();
    await asStranger(scales);
  },
  async url(scales) {
    const { account } = await enter(scales, { plan: 'desk' });
    await scales.begin();
    await withUrl(scales, account.token);
  },
  free: (scales) => bySession(scales, { plan: 'free' }),
  user: (scales) => bySession(scales, { plan: 'desk' }),
  async api_key(scales) {
    const { visitor, account } = await enter(scales, { plan: 'desk' });
    const { body } = await visitor.call<{ key: string }>('POST', '/settings/api-keys', { name: 'mine' });
    const headers = { authorization: `Bearer ${body.key}` };
    await scales.begin();
    const call: Call = (method, url, given) =>
      scales.world.request({ method, url, headers, ...(given === undefined ? {} : { body: given }) });
    await asUser(scales, call, account);
  },
  admin: (scales) => bySession(scales, { plan: 'desk', isAdmin: true }),
};

describe('the most that it costs', () => {
  for (const [principal, flood] of Object.entries(FLOODS) as [Principal, (typeof FLOODS)[Principal]][])
    test(`${principal}: measured, and no more than the table says`, async (t) => {
      const scales = await openScales(t);
      await flood(scales);
      const measured = await scales.measured();
      t.diagnostic(JSON.stringify(measured));
      for (const [cost, value] of Object.entries(measured) as [Cost, number][]) {
        const most = MOST[principal][cost];
        assert.ok(value <= most, `${COSTS[cost]}: ${value} of ${most}`);
      }
      // A bound that nobody comes near would say nothing.
      assert.ok(measured.bytes > MOST[principal].bytes / 10, `only ${measured.bytes} bytes were stored`);
      assert.ok(
        measured.broker >= MOST[principal].broker / 10,
        `only ${measured.broker} calls to the broker`,
      );
      assert.ok(measured.rows > 0);
    });

  test('stands in SECURITY.md as it is in the table', () => {
    const document = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
    assert.ok(document.includes(costsTable()), `the table is to be:\n${costsTable()}\n`);
  });
});
