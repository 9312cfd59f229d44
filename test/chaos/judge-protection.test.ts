// Does the judge notice? One account, one position in BTCUSDT, and what the exchange wrote down about its stops meanwhile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Desk } from '../../chaos/desks.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { BY_HAND } from '../../chaos/exchange-hands.ts';
import { judgeProtection, type ProtectionEvidence } from '../../chaos/judge-protection.ts';
import type { LegRow, OrderRow } from '../../chaos/records.ts';
import type { Outage } from '../../chaos/scene.ts';
import type { Signal } from '../../chaos/signals.ts';
import type { ToldInterval } from '../../chaos/sweep-intervals.ts';
import { timestamp } from '../../src/domain/ids.ts';

const ACCOUNT = 'a';
const START = 1_800_000_000_000;
const TIMES = { leaseMs: 3_000, protectMs: 5_000, sweepMs: 8_000 };
/** Protect, a lease and two seconds; a sweep and five. */
const AFTER_FILL = 10_000;
const AFTER_TAKEN = 13_000;
const END = 120_000;

const stopId = (n: number) => `fs${`${n}`.padStart(22, '0')}`;
const targetId = (n: number) => `fp${`${n}`.padStart(22, '0')}`;

/** When, in ms after the start, and what happened at the exchange then. */
type Happening =
  /** `sent`: before its fill, where it adds to what is held. */
  | readonly [at: number, what: 'entry', quantity: string, sent?: number]
  /** It closes so much. */
  | readonly [at: number, what: 'exit' | 'reverse', quantity: string]
  | readonly [at: number, what: 'place' | 'move', stop: number, price: string, quantity?: string | null]
  | readonly [at: number, what: 'remove' | 'fire' | 'die' | 'end', stop: number, price?: string]
  | readonly [at: number, what: 'by hand', stop: number, price: string | null]
  /** `quantity`: that it fills at once; null: it rests. */
  | readonly [at: number, what: 'target', target: number, quantity: string | null, until?: number]
  /** Somebody says something else of the stop. */
  | readonly [at: number, what: 'protect', stopLoss: string];

interface Story {
  readonly happened: readonly Happening[];
  /** What the entry asks for. */
  readonly wish?: object | null;
  readonly outages?: readonly Outage[];
  readonly deaths?: readonly number[];
  /** How far apart sweeps were, as was told then. */
  readonly sweeps?: readonly ToldInterval[];
  readonly reserves?: boolean;
  /** What our history tells of stops and targets: by the exchange's reference, with quantity and price. */
  readonly told?: readonly (readonly [ref: string, quantity: string, price: string])[];
  /** Where the strategy stood before and after each of its alerts, and when. */
  readonly strategy?: readonly (readonly [at: number, before: string, after: string])[];
  /** An entry from flat, by the alert with that number. */
  readonly opened?: { readonly at: number; readonly alert: number };
}

const PRICE = '100';

function evidenceOf(story: Story): ProtectionEvidence {
  const { happened, wish = { stop_loss: '2%' }, outages = [], deaths = [], reserves = false } = story;
  const [held, fills, stops, orders] = [[], [], [], []] as object[][] as [
    object[],
    object[],
    object[],
    object[],
  ];
  const [rows, legs]: [OrderRow[], LegRow[]] = [[], []];
  let position = 0;
  const standing = new Map<number, { price: string; quantity: string | null }>();
  const trade = (at: number, id: string, side: 'buy' | 'sell', quantity: string) => {
    position += (side === 'buy' ? 1 : -1) * Number(quantity);
    const quantities = position === 0 ? {} : { BTCUSDT: `${position}` };
    held.push({ at: START + at, account: ACCOUNT, quantities });
    const order = { account: ACCOUNT, client_order_id: id, symbol: 'BTCUSDT', side, fill_quantity: quantity };
    fills.push({ at: START + at, fill_price: PRICE, ...order });
    orders.push({
      ...order,
      ...{ broker_ref: `ref ${id}`, status: 'filled', fill_price: PRICE, limit_price: null, quantity },
      ...{ accepted_at: timestamp(START + at), updated_at: timestamp(START + at) },
    });
  };
  const note = (at: number, what: string, n: number, asker: string | null, more: object = {}) =>
    stops.push({
      ...{ at: START + at, noted_at: START + at, account: ACCOUNT, client_order_id: stopId(n), what, asker },
      ...{ symbol: 'BTCUSDT', side: 'sell', order_id: null, reason: null, ...standing.get(n), ...more },
    });
  const row = (id: string, at: number, more: object) =>
    rows.push({
      ...{ order_id: id, source: 'webhook', trading_account_id: ACCOUNT, symbol: 'BTCUSDT', action: 'buy' },
      ...{ status: 'filled', quantity: '1', position_before: null, ended_at: START + at, wish: null },
      intent: JSON.stringify({ operation: 'PLACE_ENTRY_ORDER', side: 'buy' }),
      ...more,
    } as unknown as OrderRow);
  for (const [index, each] of happened.entries()) {
    const [at, what] = each;
    if (what === 'entry') {
      const sent = timestamp(START + (each[3] ?? at));
      row(`entry ${index}`, at, {
        wish: wish && JSON.stringify({ own: wish }),
        ...{ submitted_at: sent, position_before: `${position}` },
      });
      const leg = { order_id: `entry ${index}`, leg: 'entry', client_order_id: `fe${index}`, sent_at: sent };
      legs.push(leg as LegRow);
      trade(at, `fe${index}`, 'buy', each[2]);
    } else if (what === 'exit' || what === 'reverse') trade(at, `fx${index}`, 'sell', each[2]);
    else if (what === 'place' || what === 'move') {
      standing.set(each[2], { price: each[3], quantity: each[4] ?? null });
      note(at, what === 'place' ? 'placed' : 'moved', each[2], 'w1');
    } else if (what === 'remove') note(at, 'cancelled', each[2], 'w1', { reason: 'cancelled as asked' });
    else if (what === 'end') note(at, 'cancelled', each[2], null, { reason: 'the position is closed' });
    else if (what === 'die') note(at, 'rejected', each[2], null);
    else if (what === 'by hand') {
      if (each[3] !== null) standing.set(each[2], { price: each[3], quantity: null });
      note(at, each[3] === null ? 'cancelled' : 'moved', each[2], BY_HAND, { reason: 'cancelled as asked' });
    } else if (what === 'fire') {
      note(at, 'triggered', each[2], null, { order_id: `${stopId(each[2])}#stop` });
      trade(at, `${stopId(each[2])}#stop`, 'sell', each[3] ?? `${position}`);
    } else if (what === 'target') {
      const [, , n, quantity, until] = each;
      if (quantity !== null) trade(at, targetId(n), 'sell', quantity);
      else
        orders.push({
          ...{ account: ACCOUNT, client_order_id: targetId(n), symbol: 'BTCUSDT', side: 'sell' },
          ...{ broker_ref: `ref ${targetId(n)}`, fill_quantity: '0', fill_price: null, quantity: '1' },
          status: until === undefined ? 'placed' : 'cancelled',
          ...{ accepted_at: timestamp(START + at), updated_at: timestamp(START + (until ?? at)) },
        });
    } else
      row(`protect ${index}`, at, {
        ...{ action: 'protect', status: 'done', wish: JSON.stringify({ own: { stop_loss: each[2] } }) },
        intent: JSON.stringify({ operation: 'PROTECT_POSITION' }),
      });
  }
  for (const [ref, quantity, price] of story.told ?? toldAll(orders)) {
    const id = `told ${rows.length}`;
    row(id, 0, { source: 'protection', action: 'close_long' });
    legs.push({
      ...{ order_id: id, leg: 'exit', client_order_id: ref.replace(/^ref /, '').replace('#stop', '') },
      ...{ broker_ref: ref, fill_quantity: quantity, fill_price: price },
    } as LegRow);
  }
  const desk = {
    trader: { account: { id: ACCOUNT } },
    strategy: story.strategy ? new Map() : null,
    protects: true,
  } as unknown as Desk;
  const signals = (story.strategy ?? []).map(
    ([at, before, after], n) =>
      ({
        ...{ desk, accountId: ACCOUNT, symbol: 'BTCUSDT', key: `${ACCOUNT} ${n + 50}` },
        body: JSON.stringify({ prev_market_position: before, market_position: after }),
        deliveries: [{ api: 'a1', sentAt: START + at, ms: 5, answer: { status: 200 } }],
      }) as unknown as Signal,
  );
  if (story.opened) {
    const { at, alert } = story.opened;
    row('again', at, { quantity: `${alert + 50}`, position_before: '0' });
    legs.push({ order_id: 'again', leg: 'entry', client_order_id: 'feagain' } as LegRow);
    trade(at, 'feagain', 'buy', '1');
  }
  return {
    desks: [desk],
    signals,
    sweepIntervals: (story.sweeps ?? []).map(({ at, ms }) => ({ at: START + at, ms })),
    ledger: {
      held,
      fills,
      stops,
      orders,
      not_found: [],
      denials: [],
      looks: [],
    } as unknown as ExchangeLedger,
    records: { orders: rows, legs, audited: [], openChecks: [], memberEnds: [] },
    outages: outages.map((each) => ({ ...each, from: START + each.from, to: START + each.to })),
    deaths: deaths.map((at) => START + at),
    times: TIMES,
    reserving: new Set(reserves ? [ACCOUNT] : []),
    verifiedAt: START,
    until: START + END,
  };
}

/** Once, and as it was. */
const toldAll = (orders: readonly object[]) =>
  (orders as { client_order_id: string; broker_ref: string; fill_quantity: string }[])
    .filter(({ client_order_id: id, fill_quantity }) => /^f[sp]/.test(id) && fill_quantity !== '0')
    .map(({ broker_ref, fill_quantity }) => [broker_ref, fill_quantity, PRICE] as const);

const problemsOf = (story: Story): string[] =>
  judgeProtection(evidenceOf(story)).flatMap(({ invariant, problems }) =>
    problems.map((problem) => `${invariant}: ${problem}`),
  );

const ENTRY: Happening = [0, 'entry', '2'];
const STOP: Happening = [200, 'place', 1, '98'];
/** It ends well. */
const OUT: readonly Happening[] = [
  [100_000, 'exit', '2'],
  [100_001, 'end', 1],
];
/** Nobody wants its stop any more. */
const NONE: readonly Happening[] = [ENTRY, STOP, [5_000, 'protect', 'none'], [5_100, 'remove', 1]];
const STOPPED: readonly Happening[] = [ENTRY, STOP, [20_000, 'fire', 1]];

describe('the judge of protection lets pass', () => {
  for (const [how, story] of Object.entries<Story>({
    'a stop that stands from the fill to the end': { happened: [ENTRY, STOP, ...OUT] },
    'a position that nobody wants to protect': { wish: null, happened: [ENTRY, [100_000, 'exit', '2']] },
    'a stop that fires': { happened: STOPPED },
    'a stop that comes just in time': {
      happened: [ENTRY, [AFTER_FILL - 1, 'place', 1, '98'], ...OUT],
    },
    'a position that is closed instead': { happened: [ENTRY, [AFTER_FILL - 1, 'exit', '2']] },
    'a stop that comes late because the exchange was away': {
      happened: [ENTRY, [AFTER_FILL + 5_900, 'place', 1, '98'], ...OUT],
      outages: [{ from: 1_000, to: 6_000, accounts: [ACCOUNT] }],
    },
    'a stop that comes late because hosts died one after the other': {
      happened: [ENTRY, [AFTER_FILL + 3_000, 'place', 1, '98'], ...OUT],
      deaths: [500, 6_000],
    },
    'a stop that was taken away by hand and is put back': {
      happened: [
        ENTRY,
        STOP,
        [5_000, 'by hand', 1, null],
        [5_000 + AFTER_TAKEN - 1, 'place', 2, '98'],
        ...OUT,
        [100_001, 'end', 2],
      ],
    },
    'one that is put back by a sweep that came later, and was told to': {
      happened: [
        ENTRY,
        STOP,
        [5_000, 'by hand', 1, null],
        [5_000 + AFTER_TAKEN + 5_000, 'place', 2, '98'],
        ...OUT,
        [100_001, 'end', 2],
      ],
      sweeps: [{ at: 7_000, ms: AFTER_TAKEN + 1_000 }],
    },
    'one that takes the place of another': {
      happened: [
        ENTRY,
        STOP,
        [5_000, 'place', 2, '99'],
        [9_900, 'remove', 1],
        [100_000, 'exit', '2'],
        [100_001, 'end', 2],
      ],
    },
    'one that leaves for another, which somebody takes at that very moment': {
      happened: [
        ENTRY,
        STOP,
        [5_000, 'place', 2, '99'],
        [9_000, 'by hand', 2, null],
        [9_010, 'remove', 1],
        [10_000, 'place', 3, '99'],
        [100_000, 'exit', '2'],
        [100_001, 'end', 3],
      ],
    },
    'one for each part, where they reserve': {
      reserves: true,
      happened: [
        ENTRY,
        [200, 'place', 1, '98', '1'],
        [300, 'place', 2, '98', '1'],
        [100_000, 'exit', '2'],
        [100_001, 'end', 1],
        [100_001, 'end', 2],
      ],
    },
    'one that somebody has moved back': {
      happened: [ENTRY, STOP, [5_000, 'protect', '95'], [5_100, 'move', 1, '95'], ...OUT],
    },
    'one that nobody wants any more': {
      happened: [...NONE, [100_000, 'exit', '2']],
    },
    'one that nobody wanted any more when what it was for was filled': {
      happened: [...NONE, [6_000, 'entry', '2', 4_000], [100_000, 'exit', '4']],
    },
    'a target that fills': {
      happened: [ENTRY, STOP, [5_000, 'target', 1, '1'], [100_000, 'exit', '1'], [100_001, 'end', 1]],
    },
    'a strategy that was flat meanwhile, and opens again': {
      happened: STOPPED,
      strategy: [
        [0, 'flat', 'long'],
        [30_000, 'long', 'flat'],
        [40_000, 'flat', 'long'],
      ],
      opened: { at: 40_000, alert: 2 },
      wish: { stop_loss: '2%' },
    },
  }))
    it(how, () => assert.deepEqual(problemsOf(story), []));
});

describe('the judge of protection finds', () => {
  for (const [how, { says, ...story }] of Object.entries<Story & { says: RegExp }>({
    'a stop that never comes': {
      says: /soon after the fill.*for 100\.0 s/,
      happened: [ENTRY, [100_000, 'exit', '2']],
    },
    'an entry after that whose stop never stood': {
      says: /soon after the fill.*for 94\.0 s/,
      happened: [...NONE, [6_000, 'entry', '2', 5_500], [100_000, 'exit', '4']],
    },
    'a stop that comes late': {
      says: /soon after the fill/,
      happened: [ENTRY, [AFTER_FILL + 100, 'place', 1, '98'], ...OUT],
    },
    'a stop that comes more than a second later than the exchange was away': {
      says: /soon after the fill/,
      happened: [ENTRY, [AFTER_FILL + 6_100, 'place', 1, '98'], ...OUT],
      outages: [{ from: 1_000, to: 6_000, accounts: [ACCOUNT] }],
    },
    'a stop that comes late while the exchange is away from somebody else': {
      says: /soon after the fill/,
      happened: [ENTRY, [AFTER_FILL + 100, 'place', 1, '98'], ...OUT],
      outages: [{ from: 1_000, to: 6_000, accounts: ['b'] }],
    },
    'a stop of less than is held': {
      says: /soon after the fill/,
      happened: [ENTRY, [200, 'place', 1, '98', '1'], ...OUT],
    },
    'an add that is not covered': {
      says: /soon after the fill.*for 90\.0 s/,
      happened: [
        ENTRY,
        [200, 'place', 1, '98', '2'],
        [10_000, 'entry', '1'],
        [100_000, 'exit', '3'],
        [100_001, 'end', 1],
      ],
    },
    'one that was taken away by hand and is not put back': {
      says: /taken away is put back/,
      happened: [
        ENTRY,
        STOP,
        [5_000, 'by hand', 1, null],
        [5_000 + AFTER_TAKEN + 100, 'place', 2, '98'],
        ...OUT,
        [100_001, 'end', 2],
      ],
    },
    'one that was moved by hand and is left there': {
      says: /taken away is put back/,
      happened: [ENTRY, STOP, [5_000, 'by hand', 1, '90'], ...OUT],
    },
    'one that leaves for another which somebody took long before': {
      says: /leaves when another stands/,
      happened: [
        ENTRY,
        STOP,
        [5_000, 'place', 2, '99'],
        [7_000, 'by hand', 2, null],
        [9_000, 'remove', 1],
        [10_000, 'place', 3, '99'],
        [100_000, 'exit', '2'],
        [100_001, 'end', 3],
      ],
    },
    'one whose order died': {
      says: /taken away is put back/,
      happened: [ENTRY, STOP, [5_000, 'die', 1], [100_000, 'exit', '2']],
    },
    'two that stand beside each other': {
      says: /two stops of one position.*for 5\.1 s/,
      happened: [
        ENTRY,
        STOP,
        [5_000, 'place', 2, '99'],
        [10_100, 'remove', 1],
        [100_000, 'exit', '2'],
        [100_001, 'end', 2],
      ],
    },
    'a stop that outlives its position': {
      says: /goes with it/,
      happened: [ENTRY, STOP, [20_000, 'exit', '2'], [20_000 + AFTER_TAKEN + 100, 'remove', 1]],
    },
    'a target that outlives its position': {
      says: /goes with it/,
      happened: [ENTRY, STOP, [300, 'target', 1, null], ...OUT],
    },
    'that the old one leaves before the new one stands': {
      says: /leaves when another stands.*took fs0+1 of a away/,
      happened: [
        ENTRY,
        STOP,
        [5_000, 'remove', 1],
        [5_050, 'place', 2, '99'],
        [100_000, 'exit', '2'],
        [100_001, 'end', 2],
      ],
    },
    'a stop that turns the position': {
      says: /opens or turns.*took 2 BTCUSDT to -1/,
      happened: [ENTRY, STOP, [20_000, 'fire', 1, '3']],
    },
    'a target that opens one': {
      says: /opens or turns.*took 0 BTCUSDT to -1/,
      happened: [ENTRY, STOP, [20_000, 'exit', '2'], [20_001, 'end', 1], [21_000, 'target', 1, '1']],
    },
    'a stop that gives way': {
      says: /nearer to the market.*from 98 to 97/,
      happened: [ENTRY, STOP, [5_000, 'move', 1, '97'], ...OUT],
    },
    'one that is put back further away': {
      says: /nearer to the market.*from 98 to 97/,
      happened: [
        ENTRY,
        STOP,
        [5_000, 'by hand', 1, null],
        [6_000, 'place', 2, '97'],
        [100_000, 'exit', '2'],
        [100_001, 'end', 2],
      ],
    },
    'a close that nobody tells of': { says: /told 0 times/, happened: STOPPED, told: [] },
    'a close that is told twice': {
      says: /told 2 times/,
      happened: STOPPED,
      told: [
        [`ref ${stopId(1)}#stop`, '2', PRICE],
        [`ref ${stopId(1)}#stop`, '2', PRICE],
      ],
    },
    'a close that is told otherwise': {
      says: /is 2,101 with us and 2,100 at the exchange/,
      happened: STOPPED,
      told: [[`ref ${stopId(1)}#stop`, '2', '101']],
    },
    'a close that never was': {
      says: /closed nothing/,
      happened: [ENTRY, STOP, ...OUT],
      told: [[`ref ${stopId(1)}#stop`, '2', PRICE]],
    },
    'a strategy that was stopped out and opens again': {
      says: /stays out.*opened long again 20\.0 s after/,
      happened: STOPPED,
      strategy: [
        [0, 'flat', 'long'],
        [40_000, 'long', 'long'],
      ],
      opened: { at: 40_000, alert: 1 },
    },
  }))
    it(how, () => {
      const problems = problemsOf(story);
      assert.ok(problems.length > 0, 'nothing was noticed');
      assert.match(problems.join('\n'), says);
    });
});
