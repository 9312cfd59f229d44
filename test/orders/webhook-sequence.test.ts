// The order of the webhook's checks, as the contract gives it, and the one audit entry of every attempt.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { randomToken } from '../../src/app/secret-box.ts';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { sql } from '../../src/data/engine/db.ts';
import type { User } from '../../src/data/identity/users.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { dayOf } from '../../src/domain/orders/entitlement.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';
import { fingerprint } from '../../src/domain/signals/webhook.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

/** Of a signal that can be read; of another nobody asks for it. */
function fingerprintOf({ user }: Pick<Trader, 'user'>, body: object): string | null {
  const reading = readSignal(readBody(Buffer.from(JSON.stringify(body))), { simulation: false });
  return 'signal' in reading ? fingerprint(user.id, reading.signal) : null;
}

const RATE_LIMIT = 3;
const DAILY_LIMIT = 100;
const PLANS = JSON.stringify({
  free: { simulation_only: true, daily_orders: DAILY_LIMIT },
  full: { simulation_only: false, daily_orders: DAILY_LIMIT },
});

/** A request to be, and all that stands around it. As it begins, it passes every check. */
interface Attempt {
  user: Partial<User>;
  account: Partial<Account>;
  fields: Record<string, unknown>;
  token: string | null;
}

interface Stage {
  readonly world: World;
  readonly trader: Trader;
  readonly body: object;
  stopWorkers(): void;
  /** As the store would if it had been decided. */
  remember(print: string | null): void;
}

interface Check {
  readonly name: string;
  readonly answer: string;
  /** Where the event is classified; all others are a failed `webhook_order`. */
  readonly action?: string;
  /** What makes the request fail this check, and no other. */
  spoil?(attempt: Attempt, now: number): void;
  /** What must have happened before it. */
  prepare?(stage: Stage): Promise<unknown>;
}

/** In the contract's order. */
const CHECKS: readonly Check[] = [
  {
    name: 'size',
    answer: '413 payload_too_large',
    action: 'webhook_payload_invalid',
    spoil: ({ fields }) => void Object.assign(fields, { padding: 'x'.repeat(16 * 1024) }),
  },
  {
    name: 'level 1, the token',
    answer: '404 webhook_not_found',
    spoil: (attempt) => void Object.assign(attempt, { token: randomToken() }),
  },
  {
    name: 'level 1, the user is active',
    answer: '403 user_deactivated',
    spoil: ({ user }) => void Object.assign(user, { isActive: false }),
  },
  {
    name: 'rate limit',
    answer: '429 rate_limited',
    // Of both counts: whether the request is the owner's or a stranger's, it is one too many.
    prepare: ({ world, trader }) =>
      Promise.all(
        Array.from({ length: RATE_LIMIT }, () => ['{}', world.signal(trader, { quantity: 0 })])
          .flat()
          .map((body) => world.webhook(trader, body)),
      ),
  },
  {
    name: 'IP',
    answer: '403 webhook_ip_blocked',
    action: 'webhook_ip_blocked',
    prepare: ({ world, trader }) => world.allowIps(trader, '192.0.2.1'),
  },
  {
    name: 'certificate',
    answer: '403 platform_certificate_missing',
    spoil: ({ account }) => void Object.assign(account, { requirePlatformCertificate: true }),
  },
  {
    name: 'payload',
    answer: '400 webhook_payload_invalid',
    action: 'webhook_payload_invalid',
    spoil: ({ fields }) => void Object.assign(fields, { quantity: 0 }),
  },
  {
    name: 'level 2, the age',
    answer: '401 webhook_timestamp_expired',
    action: 'webhook_timestamp_expired',
    spoil: ({ fields }, now) => void Object.assign(fields, { timestamp: timestamp(now - 3_600_000) }),
  },
  {
    name: 'level 3, the secret',
    answer: '401 webhook_credential_attack',
    action: 'webhook_credential_attack',
    spoil: ({ fields }) => void Object.assign(fields, { secret: 'wrong' }),
  },
  {
    name: 'level 4, the replay',
    answer: '409 webhook_replay_attack',
    action: 'webhook_replay_attack',
    prepare: async ({ trader, body, remember }) => remember(fingerprintOf(trader, body)),
  },
  {
    name: 'level 4, the replay of what the store forgot',
    answer: '409 webhook_replay_attack',
    action: 'webhook_replay_attack',
    prepare: ({ world, trader: { user, account }, body }) =>
      world.db.commit([
        sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
              symbol, action, intent, quantity, status, broker_refs, submitted_at, deadline_at, auto_exit, trace,
              fingerprint)
            values (${randomUUIDv7()}, 1, ${user.id}, ${account.id}, 'paper', 'webhook', ${false}, 'BTCUSDT', 'buy',
              '{}', '1', 'filled', '[]', ${timestamp(0)}, ${timestamp(0)}, ${false}, '{}',
              ${fingerprintOf({ user }, body)})`,
      ]),
  },
  {
    name: 'halt',
    answer: '403 account_halted',
    spoil: ({ account }) => void Object.assign(account, { halted: true }),
  },
  {
    name: 'plan',
    answer: '403 plan_simulation_only',
    spoil: ({ user }) => void Object.assign(user, { plan: 'free' }),
  },
  {
    name: 'terms',
    answer: '403 terms_not_accepted',
    spoil: ({ user }) => void Object.assign(user, { termsVersion: null }),
  },
  {
    name: 'credentials',
    answer: '400 credentials_not_verified',
    spoil: ({ account }) => void Object.assign(account, { credentialsVerified: false }),
  },
  {
    name: 'daily limit',
    answer: '429 daily_limit_reached',
    prepare: ({ world, trader: { user } }) =>
      world.db.commit([
        sql`insert into daily_order_counts (user_id, day, orders)
            values (${user.id}, ${dayOf(world.clock.now())}, ${DAILY_LIMIT})
            on conflict (user_id, day) do update set orders = ${DAILY_LIMIT}`,
      ]),
  },
  {
    name: 'worker',
    answer: '503 worker_unavailable',
    prepare: async ({ stopWorkers }) => stopWorkers(),
  },
];

async function openStage(t: TestContext) {
  const clock = settableClock();
  const whole = openMemoryStore({ clock });
  const withoutWorker = new Set<string>();
  const remembered = new Set<string>();
  const world = await openWorld(t, {
    clock,
    store: {
      ...whole,
      begin: async (key, ttlMs) =>
        remembered.values().some((print) => key.endsWith(print)) ? 'done' : whole.begin(key, ttlMs),
      push: async (queue, message, ttlMs) => {
        if (queue === STARTS_QUEUE && withoutWorker.has(JSON.parse(message).user)) return;
        await whole.push(queue, message, ttlMs);
      },
    },
    env: { RATE_LIMIT_REQUESTS: String(RATE_LIMIT), PLANS, WORKER_START_TIMEOUT_SECONDS: '1' },
  });

  /** Sends one request that fails all of these, and no other check. */
  async function attempt(failing: readonly Check[]) {
    const made: Attempt = { user: { plan: 'full' }, account: {}, fields: {}, token: null };
    for (const check of failing) check.spoil?.(made, clock.now());
    const trader = await world.makeTrader(made.user, made.account);
    const body = world.signal(trader, made.fields);
    const stopWorkers = () => withoutWorker.add(trader.user.id);
    const remember = (print: string | null) => print !== null && remembered.add(print);
    const stage: Stage = { world, trader, body, stopWorkers, remember };
    for (const check of failing) await check.prepare?.(stage);

    const before = await auditCount();
    const answer = await world.request<Partial<Problem>>({
      method: 'POST',
      url: `/webhook/${made.token ?? trader.account.webhookToken}/order`,
      body,
      headers: { 'user-agent': 'Charting/1.0' },
      remoteAddress: '198.51.100.7',
    });
    const entries = await world.db.all<Record<string, string | number | null>>(
      sql`select * from audit_logs where id > ${before} order by id`,
    );
    const said = answer.status === 200 ? '200' : `${answer.status} ${answer.body.code}`;
    return { trader, answer, said, entries, token: made.token ?? trader.account.webhookToken };
  }

  async function auditCount(): Promise<number> {
    const row = await world.db.get<{ last: number | null }>(sql`select max(id) as last from audit_logs`);
    return row?.last ?? 0;
  }

  return { world, attempt };
}

describe('the checks of the webhook', () => {
  test('every attempt leaves exactly one audit entry, with where it came from and what it was', async (t) => {
    const { world, attempt } = await openStage(t);
    for (const failing of [null, ...CHECKS]) {
      await t.test(failing ? `${failing.name}: ${failing.answer}` : 'a signal that trades: 200', async () => {
        const { trader, answer, said, entries, token } = await attempt(failing ? [failing] : []);
        assert.equal(said, failing?.answer ?? '200');
        assert.equal(entries.length, 1);
        const [entry] = entries;
        assert.ok(entry);
        const { trading_account_id, ...metadata } = JSON.parse(String(entry.metadata));
        const isKnown = !failing?.answer.startsWith('404');
        assert.equal(entry.user_id, isKnown ? trader.user.id : null);
        assert.equal(trading_account_id, isKnown ? trader.account.id : undefined);
        assert.equal(entry.action, failing?.action ?? 'webhook_order');
        assert.equal(entry.success, failing ? 0 : 1);
        const { title, detail } = answer.body;
        const why = title === detail ? detail : `${title}. ${detail}`;
        assert.equal(entry.error_message, failing ? why : null);
        assert.equal(metadata.code, failing ? answer.body.code : undefined);
        assert.equal(entry.ip_address, '198.51.100.7');
        assert.equal(entry.user_agent, 'Charting/1.0');
        assert.equal(entry.request_method, 'POST');
        assert.equal(entry.request_path, `/webhook/${token.slice(0, 6)}…/order`);
        assert.equal(entry.created_at, timestamp(world.clock.now()));
        const orders = await world.paperOrders(trader.account.id);
        assert.equal(orders.length, failing ? 0 : 1);
        if (!failing)
          assert.deepEqual([entry.resource_type, entry.resource_id], ['order', orderId(answer.body)]);
        else assert.equal(entry.resource_id, isKnown ? trader.account.id : null);
        const stored = JSON.stringify(entries);
        assert.ok(!stored.includes(token) && !stored.includes(trader.secret), 'no token, no secret');
      });
    }
  });

  test('a request that fails two checks gets the answer of the earlier one', async (t) => {
    const { attempt } = await openStage(t);
    for (const [index, earlier] of CHECKS.entries())
      for (const later of CHECKS.slice(index + 1))
        await t.test(`${earlier.name} → ${later.name}`, async () => {
          assert.equal((await attempt([earlier, later])).said, earlier.answer);
        });
  });

  test('a request that fails all of them is answered by the size alone, one less by the token, and so on', async (t) => {
    const { attempt } = await openStage(t);
    for (const [index, { name, answer }] of CHECKS.entries())
      await t.test(name, async () => {
        assert.equal((await attempt(CHECKS.slice(index))).said, answer);
      });
  });
});

describe('the token never reaches the audit log, however its URL is spelled', () => {
  const spellings: [name: string, url: (token: string) => string][] = [
    ['a letter of the path in percents', (token) => `/%77ebhook/${token}/order`],
    ['a letter of the token in percents', (token) => `/webhook/%${hex(token)}${token.slice(1)}/order`],
    ['with a query', (token) => `/webhook/${token}/order?token=${token}`],
  ];
  for (const [name, url] of spellings)
    test(name, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader();
      const { webhookToken } = trader.account;
      const answer = await world.request({ method: 'POST', url: url(webhookToken), body: '{}' });
      assert.equal(answer.status, 400);
      const entries = await world.audits(trader);
      assert.equal(entries.length, 1);
      assert.ok(!JSON.stringify(entries).includes(webhookToken.slice(7)));
    });
});

const hex = (text: string): string => text.charCodeAt(0).toString(16);
const orderId = (body: object): unknown => (body as { order_id?: string }).order_id;
