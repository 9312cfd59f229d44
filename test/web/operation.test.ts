// What the operation page says, and what it asks the service to change.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../web/api/problem.ts';
import type { Asked } from '../../web/pages/operation/asked.ts';
import {
  activeSentence,
  answerOf,
  changeOf,
  lastRepliesOf,
  missingIn,
  nextVersion,
  partsOf,
  planButton,
  planSentence,
  sharedFault,
  termsWarning,
  untilWords,
  whyNot,
} from '../../web/pages/operation/words.ts';

const NOW = Date.parse('2026-11-12T09:30:00Z');
const up = { status: 'up' } as const;
const down = { status: 'down' } as const;
const healthy = {
  status: 'up',
  version: '0.1.0',
  database: { ...up, kind: 'postgres' },
  store: up,
  workers: { ...up, hosts: 2, active: 137 },
  queues: { ...up, worker_starts: 0, fill_checks: 14, dead_letters: 0 },
  audit: { ...up, unsealed_seconds: 0 },
} as const;

describe('The heading', () => {
  test('says that everything answers, and how many orders are dead letters', () => {
    assert.deepEqual(answerOf(healthy), { said: 'Everything answers', isDown: false, risk: '' });
    const letters = (count: number) =>
      answerOf({ ...healthy, queues: { ...healthy.queues, dead_letters: count } }).risk;
    assert.equal(letters(1), '1 order is a dead letter');
    assert.equal(letters(1204), '1,204 orders are dead letters');
  });

  test('names what does not answer', () => {
    assert.equal(answerOf({ ...healthy, store: down }).said, 'Store does not answer');
    const two = answerOf({ ...healthy, store: down, workers: down });
    assert.deepEqual([two.said, two.isDown], ['Store and workers do not answer', true]);
    const three = answerOf({ ...healthy, store: down, workers: down, audit: down });
    assert.equal(three.said, 'Store, workers and audit log do not answer');
  });
});

test('Each part says what it counts, and nothing while it is down', () => {
  assert.deepEqual(
    partsOf(healthy).map(({ name, detail }) => `${name}: ${detail}`),
    [
      'Database: postgres',
      'Store: answers',
      'Workers: 2 hosts, 137 active',
      'Queues: 14 fill checks, 0 starts',
      'Audit log: all sealed',
    ],
  );
  const [database, , workers, , audit] = partsOf({
    ...healthy,
    database: down,
    workers: down,
    audit: { ...up, unsealed_seconds: 12 },
  });
  assert.deepEqual([database?.detail, workers?.detail], ['does not answer', 'does not answer']);
  assert.equal(audit?.detail, '12 s not sealed');
});

test('Who may not look is told why', () => {
  const admin = { email: 'ada@example.com', is_admin: true };
  assert.equal(whyNot(admin, null), null);
  assert.equal(whyNot(admin, { status: 503, code: 'store_unavailable' }), null);
  assert.match(whyNot({ ...admin, is_admin: false }, null) ?? '', /ada@example\.com is not an admin/);
  assert.match(whyNot(admin, { status: 403, code: 'admin_required' }) ?? '', /is not an admin/);
  assert.match(whyNot(admin, { status: 403, code: 'ip_not_allowed' }) ?? '', /ADMIN_IPS/);
  assert.match(whyNot(admin, { status: 421, code: 'wrong_host' }) ?? '', /ALLOWED_HOSTS/);
  assert.ok(whyNot(admin, { status: 403, code: 'user_deactivated' }));
});

describe('A user', () => {
  const user = {
    id: '01890000-0000-7000-8000-000000000001',
    email: 'j.ito@example.com',
    is_admin: false,
    is_active: true,
    plan: 'starter',
    effective_plan: 'starter',
    plan_expires_at: '2026-11-20T23:59:59.000Z',
    email_verified: true,
    terms_version: '3',
    terms_accepted_at: null,
    created_at: '2026-01-01T00:00:00.000Z',
  };
  const plans = [
    { name: 'free', simulation_only: true, daily_orders: 100 },
    { name: 'starter', simulation_only: false, daily_orders: 200 },
    { name: 'desk', simulation_only: false, daily_orders: null },
  ];

  test('has a plan until a day, without an end, or expired', () => {
    assert.equal(untilWords(user, NOW), '20 Nov 2026');
    assert.equal(untilWords({ plan_expires_at: null }, NOW), 'no end');
    assert.equal(untilWords({ plan_expires_at: '2026-11-02T00:00:00.000Z' }, NOW), 'expired 2 Nov 2026');
  });

  test('is changed by what is different alone', () => {
    assert.equal(changeOf(user, { plan: 'starter', until: '2026-11-20' }), null);
    assert.deepEqual(changeOf(user, { plan: 'desk', until: '2026-11-20' }), { plan: 'desk' });
    assert.deepEqual(changeOf(user, { plan: 'starter', until: '' }), { plan_expires_at: null });
    assert.deepEqual(changeOf(user, { plan: 'starter', until: '2027-03-01' }), {
      plan_expires_at: '2027-03-01T23:59:59Z',
    });
  });

  test('is told about before it happens', () => {
    assert.equal(
      planSentence(user, { plan: 'desk', until: '' }, plans, NOW),
      'From the next order on j.ito@example.com may place real orders, as many as they like. The plan has no end.',
    );
    assert.equal(
      planSentence(user, { plan: 'free', until: '2027-03-01' }, plans, NOW),
      'From the next order on j.ito@example.com may place simulated orders only, 100 a day. ' +
        'After 1 Mar 2027 (UTC) it behaves as free. Positions can still be closed.',
    );
    assert.match(
      planSentence(user, { plan: 'desk', until: '2026-11-11' }, plans, NOW),
      /^That day is over: the plan behaves as free\. .* simulated orders only, 100 a day; positions can still be closed\.$/,
    );
    assert.equal(
      planButton(user, { plan: 'desk', until: '2027-03-01' }),
      'Give j.ito@example.com desk until 1 Mar 2027',
    );
    assert.match(activeSentence(user), /no webhook, and so no exit either/);
    assert.match(activeSentence({ ...user, is_active: false }), /can get in again/);
  });
});

describe('New terms', () => {
  test('say what they stop, and what passes', () => {
    assert.match(
      termsWarning('4'),
      /no user can open a position with real money.*until.*accepted version 4\./,
    );
    assert.match(termsWarning('4'), /Exits pass for those who have accepted an earlier version/);
  });

  test('have the number after the last, where it is a number', () => {
    assert.deepEqual([null, '3', '2026-11', '9'.repeat(30)].map(nextVersion), ['1', '4', '', '']);
  });
});

describe('what could not be read', () => {
  const away = () => new Problem({ title: 'The database is unavailable', code: 'database_unavailable' }, 503);
  const part = (name: string, fault: unknown = null, isKnown = fault === null): Asked => ({
    name,
    isKnown,
    fault,
    again() {},
  });

  test('is said once where everything failed alike, and nothing is said to be missing: nothing is there', () => {
    const all = [part('workers', away()), part('users', away()), part('terms', away())];
    const shared = sharedFault(all);
    assert.ok(shared);
    assert.deepEqual(shared.of, all);
    assert.equal(missingIn(shared, all), '');
  });

  test('is said by the part itself where it failed alone, or otherwise than the rest', () => {
    assert.equal(sharedFault([part('workers'), part('users')]), null);
    assert.equal(sharedFault([part('workers', away()), part('users')]), null);
    const other = new Problem({ title: 'Not now', code: 'busy' }, 503);
    assert.equal(sharedFault([part('workers', away()), part('users', other)]), null);
  });

  test('is named where the rest is there, and what was read before is not missing but old', () => {
    const some = [part('workers', away()), part('users', away()), part('queues', away()), part('terms')];
    const shared = sharedFault(some);
    assert.ok(shared);
    assert.equal(missingIn(shared, some), 'Not shown: workers, users and queues.');
    const old = [part('workers', away(), true), part('users', away(), true)];
    const sharedByOld = sharedFault(old);
    assert.ok(sharedByOld);
    assert.equal(missingIn(sharedByOld, old), 'What is below may be out of date.');
  });
});

test('What a broker said stands with the call that it answered', () => {
  const reply = (broker: string, call: string, said: string) => ({
    ...{ broker, call, status: 200, reply: said, seen_at: '2026-11-12T09:30:00.000Z' },
  });
  const unreadable = {
    counts: [],
    replies: [reply('okx', 'GET /a', '1'), reply('bybit', 'GET /a', '2'), reply('okx', 'GET /b', '3')],
  };
  const said = lastRepliesOf(unreadable, { broker: 'okx', call: 'GET /a' }).map((each) => each.reply);
  assert.deepEqual(said, ['1']);
});
