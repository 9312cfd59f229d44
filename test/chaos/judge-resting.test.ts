// Does the judge notice? One account, its entries that rest in BTCUSDT, and what else happened there meanwhile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Flatten } from '../../chaos/flattens.ts';
import { judgeResting, type RestingEvidence } from '../../chaos/judge-resting.ts';
import type { LegRow, OrderRow } from '../../chaos/records.ts';
import type { Signal } from '../../chaos/signals.ts';
import { timestamp } from '../../src/domain/ids.ts';

const ACCOUNT = 'a';
const START = 1_800_000_000_000;
const END = 120_000;
const TIMES = { leaseMs: 3_000, protectMs: 5_000, sweepMs: 8_000 };
/** A sweep and five seconds. */
const BOUND = 13_000;

/** From when to when it stood at the exchange, in ms after the start; null: it still does. */
interface Entry {
  readonly from: number;
  readonly to: number | null;
  readonly side?: 'buy' | 'sell';
  readonly name?: string;
  readonly expires?: number;
  readonly status?: string;
  readonly reason?: string;
  /** What our own row says. */
  readonly told?: string | null;
  /** What our own leg says. */
  readonly leg?: string;
  /** The exchange cannot tell of it any more, and it is shown as unknown; `lost`: it is shown so, and the exchange could. */
  readonly end?: 'forgotten' | 'lost';
}

/** Something else in the symbol. */
interface Other {
  readonly at: number;
  readonly what: 'exit' | 'market entry' | 'cancel' | 'cancel of A';
  readonly ended: number;
}

interface Story {
  readonly entries: readonly Entry[];
  readonly others?: readonly Other[];
  readonly flattened?: number;
  readonly jumps?: RestingEvidence['jumps'];
}

const INTENTS = {
  exit: { operation: 'PLACE_EXIT_ORDER', direction: 'long' },
  'market entry': { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
  cancel: { operation: 'CANCEL_ENTRIES', direction: null },
  'cancel of A': { operation: 'CANCEL_ENTRIES', direction: null, id: 'A' },
};

function evidenceOf({ entries, others = [], flattened, jumps = [] }: Story): RestingEvidence {
  const at = (ms: number) => timestamp(START + ms);
  const orders: object[] = [];
  const rows: object[] = [];
  const legs: object[] = [];
  const signals: object[] = [];
  const forgotten = new Set<string>();
  for (const [n, entry] of entries.entries()) {
    const id = `fe${n}`;
    const { from, to, side = 'buy', name = null, expires = END, told = 'cancelled_on_request' } = entry;
    const status = to === null ? 'placed' : (entry.status ?? 'cancelled');
    orders.push({
      ...{ account: ACCOUNT, client_order_id: id, symbol: 'BTCUSDT', side, quantity: '1', status },
      ...{ fill_quantity: status === 'filled' ? '1' : '0', reason: entry.reason ?? 'cancelled as asked' },
      ...{ accepted_at: at(from), updated_at: at(to ?? from) },
    });
    legs.push({ order_id: id, leg: 'entry', client_order_id: id, status: entry.leg ?? status });
    if (entry.end === 'forgotten') forgotten.add(id);
    rows.push({
      ...{
        order_id: id,
        trading_account_id: ACCOUNT,
        symbol: 'BTCUSDT',
        action: side,
        quantity: '1',
        status: entry.end ? 'unknown' : status,
      },
      ...{ source: 'webhook', intent: JSON.stringify(INTENTS['market entry']), submitted_at: at(from) },
      ...{ priced: { limit: '1', stop: null, timeInForce: 'gtc', expiresAt: at(expires), id: name } },
      error: told && JSON.stringify({ code: told }),
      ended_at: to === null ? null : START + to,
    });
  }
  for (const [n, { at: begun, what, ended }] of others.entries()) {
    const id = `fx${n}`;
    const action = what.startsWith('cancel') ? 'cancel' : what;
    rows.push({
      ...{ order_id: id, trading_account_id: ACCOUNT, symbol: 'BTCUSDT', action, quantity: `${n + 100}` },
      ...{ source: 'webhook', intent: JSON.stringify(INTENTS[what]), submitted_at: at(begun), priced: null },
      ...{
        status: action === 'cancel' ? 'done' : 'filled',
        error: null,
        ended_at: START + ended,
        fingerprint: id,
      },
    });
    const key = action === 'cancel' ? `${ACCOUNT} ${id}` : `${ACCOUNT} ${n + 100}`;
    signals.push({ key, deliveries: [{ sentAt: START + begun, ms: 1, answer: null }] });
    if (action === 'cancel') continue;
    legs.push({
      order_id: id,
      leg: what === 'exit' ? 'exit' : 'entry',
      client_order_id: id,
      status: 'filled',
    });
    orders.push({
      ...{
        account: ACCOUNT,
        client_order_id: id,
        symbol: 'BTCUSDT',
        side: 'sell',
        quantity: '1',
        status: 'filled',
      },
      ...{ fill_quantity: '1', reason: null, accepted_at: at(ended), updated_at: at(ended) },
    });
  }
  const flatten = {
    desk: { trader: { account: { id: ACCOUNT } } },
    ...{ sentAt: START + (flattened ?? 0) - 1_000, answeredAt: START + (flattened ?? 0) },
    ...{ resumedAt: START + END, answer: { flatten_error: null } },
  };
  return {
    ledger: { orders, requests: [], denials: [] },
    records: {
      orders: rows as OrderRow[],
      legs: legs as LegRow[],
      audited: [],
      openChecks: [],
      memberEnds: [],
    },
    forgotten,
    signals: signals as Signal[],
    flattens: flattened === undefined ? [] : [flatten as unknown as Flatten],
    ...{ outages: [], deaths: [], times: TIMES, jumps, verifiedAt: START, until: START + END },
  } as unknown as RestingEvidence;
}

const found = (story: Story): string[] =>
  judgeResting(evidenceOf(story)).flatMap(({ invariant, problems }) =>
    problems.length > 0 ? [invariant.replace(/:.*/, '')] : [],
  );

const KNOWN = 'nothing rests at the exchange that we do not know of';
const NAMES = 'of a name one entry rests, and all of a symbol on one side';
const WAY = 'an entry at the market is sent when what rests in its symbol has ended';
const CANCELS = 'what a cancel took back has ended when the cancel is done';
const LAPSES = 'an entry that rests ends when its time is over';
const EXITS = 'nothing rests after an exit, a close or a kill switch';
const TOLD = 'an entry that we took back is told as cancelled, and why';

describe('the judge of entries that rest has nothing to say of', () => {
  const good: Record<string, Story> = {
    'one after the other under one name': {
      entries: [
        { from: 0, to: 5_000, name: 'A' },
        { from: 5_001, to: 9_000, name: 'A' },
      ],
    },
    'two names beside each other': {
      entries: [
        { from: 0, to: 9_000, name: 'A' },
        { from: 1_000, to: 8_000, name: 'B' },
      ],
    },
    'one that lapsed within a sweep': {
      entries: [{ from: 0, to: 10_000 + BOUND, expires: 10_000, told: 'lapsed' }],
    },
    'one whose cancel nobody heard of before the exchange had forgotten it': {
      entries: [{ from: 0, to: 5_000, told: null, end: 'forgotten' }],
    },
    'a cancel of another name': {
      entries: [{ from: 0, to: 60_000, name: 'B' }],
      others: [{ at: 5_000, what: 'cancel of A', ended: 6_000 }],
    },
    'an exit that was made before the end was confirmed': {
      entries: [{ from: 0, to: 1_000 + BOUND, told: 'cancelled_on_request' }],
      others: [{ at: 1_000, what: 'exit', ended: 6_000 }],
    },
  };
  for (const [what, story] of Object.entries(good)) it(what, () => assert.deepEqual(found(story), []));
});

describe('the judge of entries that rest finds', () => {
  const wrong: Record<string, readonly [string, Story]> = {
    'one that nobody knows of': [KNOWN, { entries: [{ from: 0, to: null, leg: 'cancelled' }] }],
    'two of one name': [
      NAMES,
      {
        entries: [
          { from: 0, to: 5_000, name: 'A' },
          { from: 4_000, to: 9_000, name: 'A' },
        ],
      },
    ],
    'two without a name': [
      NAMES,
      {
        entries: [
          { from: 0, to: 5_000 },
          { from: 4_000, to: 9_000 },
        ],
      },
    ],
    'both sides at once': [
      NAMES,
      {
        entries: [
          { from: 0, to: 5_000, name: 'A' },
          { from: 4_000, to: 9_000, name: 'B', side: 'sell' },
        ],
      },
    ],
    'an entry at the market beside one that rests': [
      WAY,
      { entries: [{ from: 0, to: 9_000 }], others: [{ at: 1_000, what: 'market entry', ended: 2_000 }] },
    ],
    'one that is filled after its cancel was done': [
      CANCELS,
      {
        entries: [{ from: 0, to: 9_000, status: 'filled', told: null }],
        others: [{ at: 1_000, what: 'cancel', ended: 2_000 }],
      },
    ],
    'one that outlives its time': [
      LAPSES,
      { entries: [{ from: 0, to: 10_001 + BOUND, expires: 10_000, told: 'lapsed' }] },
    ],
    'one that rests on until it lapses, while an exit waits': [
      EXITS,
      {
        entries: [{ from: 0, to: 30_000, expires: 30_000, told: 'lapsed' }],
        others: [{ at: 1_000, what: 'exit', ended: 30_001 }],
      },
    ],
    'one that rests on after an exit': [
      EXITS,
      { entries: [{ from: 0, to: 6_001 + BOUND }], others: [{ at: 1_000, what: 'exit', ended: 6_000 }] },
    ],
    'one that rests on after a kill switch': [
      EXITS,
      { entries: [{ from: 0, to: 6_001 + BOUND }], flattened: 6_000 },
    ],
    'one that lapsed before its time': [
      TOLD,
      { entries: [{ from: 0, to: 5_000, expires: 9_000, told: 'lapsed' }] },
    ],
    'one that is shown as unknown, and the exchange knows it': [
      TOLD,
      { entries: [{ from: 0, to: 5_000, told: null, end: 'lost' }] },
    ],
    'one that is told as ended by the broker': [
      TOLD,
      { entries: [{ from: 0, to: 5_000, told: 'cancelled_by_broker' }] },
    ],
  };
  for (const [what, [invariant, story]] of Object.entries(wrong))
    it(what, () => assert.deepEqual(found(story), [invariant]));
});
