// Does the judge notice? One account, one order of ours, and what the exchange wrote down meanwhile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Desk } from '../../chaos/desks.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { PLAIN } from '../../chaos/exchange-traits.ts';
import { judgeCredentials, judgeExits, judgeFlattens } from '../../chaos/judge-exits.ts';
import type { LegRow, OrderRow } from '../../chaos/records.ts';
import type { Signal } from '../../chaos/signals.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, timestamp } from '../../src/domain/ids.ts';
import type { OrderIntent } from '../../src/domain/orders/order.ts';

const ACCOUNT = 'a' as AccountId;
/** When the signal set out; its order may take 40 s. */
const START = 1_000_000;
const DEADLINE_MS = 40_000;

const DESK = {
  name: 'well 1a',
  trader: { account: { id: ACCOUNT } },
  traits: PLAIN,
  paper: {},
  isFilling: true,
  strategy: null,
  burst: 1,
} as unknown as Desk;

const SIGNAL = {
  desk: DESK,
  accountId: ACCOUNT,
  symbol: 'BTCUSDT',
  quantity: decimal('1'),
  key: `${ACCOUNT} 1`,
  deliveries: [{ api: 'a1', sentAt: START, ms: 5, answer: null }],
} as unknown as Signal;

const CLOSE: OrderIntent = { operation: 'CLOSE_POSITION', direction: null };
const SELL: OrderIntent = { operation: 'PLACE_ENTRY_ORDER', side: 'sell' };
const exitOf = (direction: 'long' | 'short'): OrderIntent => ({ operation: 'PLACE_EXIT_ORDER', direction });
const towards = (position: string): OrderIntent => ({
  ...SELL,
  target: { position: decimal(position), opens: null },
});

interface Story {
  readonly intent?: OrderIntent;
  readonly status: OrderRow['status'];
  readonly code?: string;
  /** What was held when it was planned. */
  readonly before?: string;
  /** After the start, in ms. */
  readonly endsAfter?: number;
  /** What is held from when on, in ms after the start. */
  readonly held?: readonly (readonly [number, string])[];
  /** When positions were looked at. */
  readonly looks?: readonly number[];
  readonly leg?: Partial<LegRow>;
  /** What the exchange took of the leg, and when it was filled. */
  readonly taken?: { readonly status: string; readonly fill: string; readonly at?: number };
  /** Another close of ours, by the exchange's journal. */
  readonly beside?: { readonly accepted: number; readonly updated: number };
  readonly request?: { readonly outcome: string; readonly code: string | null };
  readonly denials?: readonly number[];
  readonly jumps?: readonly { from: number; to: number }[];
  /** Until when the account is halted, in ms after the start. */
  readonly haltedUntil?: number;
}

function ledgerOf({ held = [], looks = [], taken, beside, request, denials = [] }: Story): ExchangeLedger {
  const order = { account: ACCOUNT, client_order_id: 'fx1', symbol: 'BTCUSDT', side: 'sell', quantity: '1' };
  return {
    orders: [
      ...(taken
        ? [
            {
              ...order,
              status: taken.status,
              fill_quantity: taken.fill,
              updated_at: timestamp(START + (taken.at ?? 0)),
            },
          ]
        : []),
      ...(beside
        ? [
            {
              ...order,
              client_order_id: 'fx2',
              accepted_at: timestamp(START + beside.accepted),
              updated_at: timestamp(START + beside.updated),
            },
          ]
        : []),
    ],
    requests: request ? [{ ...order, ...request }] : [],
    positions: [],
    looks: looks.map((at) => ({ at: START + at, account: ACCOUNT, asker: 'w1', lag_ms: 0 })),
    held: held.map(([at, quantity]) => ({
      at: START + at,
      account: ACCOUNT,
      quantities: quantity === '0' ? {} : { BTCUSDT: quantity },
    })),
    denials: denials.map((at) => ({ at: START + at, account: ACCOUNT })),
    not_found: [],
  } as unknown as ExchangeLedger;
}

function problemsOf(story: Story): readonly string[] {
  const { intent = CLOSE, status, code, before = null, endsAfter = 1_000 } = story;
  const { leg, jumps = [], haltedUntil } = story;
  const row = {
    order_id: 'o1',
    source: 'webhook',
    trading_account_id: ACCOUNT,
    symbol: 'BTCUSDT',
    action: 'close',
    intent: JSON.stringify(intent),
    quantity: '1',
    status,
    position_before: before,
    error: code === undefined ? null : JSON.stringify({ code, message: '' }),
    submitted_at: timestamp(START),
    deadline_at: timestamp(START + DEADLINE_MS),
    ended_at: START + endsAfter,
  } as unknown as OrderRow;
  const legs = leg ? [{ order_id: 'o1', leg: 'exit', client_order_id: 'fx1', ...leg } as LegRow] : [];
  return judgeExits({
    desks: [DESK],
    signals: [SIGNAL],
    flattens:
      haltedUntil === undefined
        ? []
        : [
            {
              desk: DESK,
              sentAt: START - 1_000,
              answeredAt: START,
              resumedAt: START + haltedUntil,
              answer: null,
            },
          ],
    records: { orders: [row], legs, audited: [], openChecks: [], memberEnds: [] },
    ledger: ledgerOf(story),
    jumps,
  }).problems;
}

const HELD_BEFORE = [[-5_000, '1']] as const;
const SENT = { status: 'filled' };

describe('the judge lets an exit end', () => {
  for (const [how, story] of Object.entries<Story>({
    'by a fill that leaves what another close has taken on, whose position is noted a moment after its fill':
      {
        status: 'filled',
        leg: SENT,
        taken: { status: 'filled', fill: '0.002', at: 400 },
        beside: { accepted: 100, updated: 1_100 },
        held: [
          [-5_000, '1'],
          [400, '0.998'],
          [1_101, '0'],
        ],
      },
    'by a fill at the exchange at its deadline, where it says that nobody has looked for the rest': {
      intent: exitOf('long'),
      status: 'filled',
      code: 'expired',
      endsAfter: DEADLINE_MS,
      leg: SENT,
      taken: { status: 'filled', fill: '0.5', at: 500 },
      held: HELD_BEFORE,
    },
    'by a fill that leaves nothing': {
      status: 'filled',
      leg: SENT,
      taken: { status: 'filled', fill: '1', at: 500 },
      held: [...HELD_BEFORE, [500, '0']],
    },
    'by a fill of all that it asked for': {
      intent: exitOf('long'),
      status: 'filled',
      leg: SENT,
      taken: { status: 'filled', fill: '1', at: 500 },
      held: [
        [-5_000, '3'],
        [500, '2'],
      ],
    },
    "by the exchange's refusal": {
      status: 'rejected',
      code: 'insufficient_margin',
      leg: { status: 'rejected' },
      request: { outcome: 'rejected', code: 'insufficient_margin' },
      held: HELD_BEFORE,
    },
    "by the exchange's cancelling": {
      status: 'cancelled',
      leg: { status: 'cancelled' },
      taken: { status: 'cancelled', fill: '0' },
      held: HELD_BEFORE,
    },
    'because nothing is held on its side': {
      intent: exitOf('short'),
      status: 'rejected',
      code: 'no_position',
      held: HELD_BEFORE,
    },
    'because nothing was held when it looked': {
      status: 'rejected',
      code: 'no_position',
      held: [
        [-5_000, '1'],
        [-100, '0'],
        [900, '2'],
      ],
      looks: [800],
    },
    'where it stands as it is to stand': { intent: towards('1'), status: 'done', held: HELD_BEFORE },
    'at its deadline': { status: 'expired', code: 'expired', endsAfter: DEADLINE_MS, held: HELD_BEFORE },
    "at its deadline by somebody's wrong clock": {
      status: 'expired',
      code: 'expired',
      held: HELD_BEFORE,
      jumps: [{ from: START - 10, to: START + 10 }],
    },
    'where the account is halted, and it would have opened something': {
      intent: towards('-1'),
      status: 'rejected',
      code: 'account_halted',
      held: HELD_BEFORE,
      haltedUntil: 500,
    },
    'that had nothing to close when its entry was sent': {
      intent: towards('-1'),
      status: 'expired',
      code: 'expired',
      before: '0',
      leg: { leg: 'entry', client_order_id: 'fe1', status: 'expired' },
      held: [[500, '1']],
    },
    'by credentials that are refused for good': {
      status: 'failed',
      code: 'credentials_rejected',
      endsAfter: 9_000,
      held: HELD_BEFORE,
      denials: [0, 3_000, 8_000],
    },
    'that never arrived, while its credentials were refused for good': {
      status: 'expired',
      code: 'expired',
      endsAfter: 20_000,
      leg: { status: 'expired', sent_at: timestamp(START) },
      held: HELD_BEFORE,
      denials: [1_000, 4_000, 9_000],
    },
  }))
    it(how, () => assert.deepEqual(problemsOf(story), []));

  it('that is none: an entry that is given up', () =>
    assert.deepEqual(problemsOf({ intent: SELL, status: 'failed', code: 'broker_unavailable' }), []));
});

describe('the judge notices an exit', () => {
  for (const [how, story, words] of [
    [
      'on the way to a target that is given up, and that had something to close',
      {
        intent: towards('-1'),
        status: 'expired',
        code: 'expired',
        before: '1',
        leg: { leg: 'entry', client_order_id: 'fe1', status: 'expired' },
        held: HELD_BEFORE,
      },
      /was given up/,
    ],
    [
      'that finds nothing to close, and something is held',
      { status: 'rejected', code: 'no_position', held: HELD_BEFORE, looks: [900] },
      /nothing is left to take, and 1 was/,
    ],
    [
      'that finds nothing because it looked before the fill of an entry of ours',
      { status: 'rejected', code: 'no_position', held: [[300, '1']], looks: [100, 900] },
      /nothing is left to take, and 1 was/,
    ],
    [
      'that is done with more held than its target',
      { intent: towards('0'), status: 'done', held: HELD_BEFORE },
      /nothing is left to take, and 1 was/,
    ],
    [
      'that is filled and leaves a part',
      {
        status: 'filled',
        leg: SENT,
        taken: { status: 'filled', fill: '1', at: 500 },
        held: [
          [-5_000, '3'],
          [500, '2'],
        ],
      },
      /is filled with 1, and left 2/,
    ],
    [
      'that makes a target of 2 into 3',
      {
        intent: towards('2'),
        status: 'filled',
        leg: { ...SENT, leg: 'entry' },
        taken: { status: 'filled', fill: '2', at: 500 },
        held: [...HELD_BEFORE, [500, '3']],
      },
      /is filled with 2, and left 1/,
    ],
    [
      'that is filled with us alone',
      { status: 'filled', leg: SENT, held: HELD_BEFORE },
      /the exchange has filled nothing/,
    ],
    [
      'that is given up in a second',
      { status: 'failed', code: 'broker_unavailable', held: HELD_BEFORE },
      /given up after 1\.0 s: failed broker_unavailable/,
    ],
    [
      'that expires before its time',
      {
        status: 'expired',
        code: 'expired',
        endsAfter: 20_000,
        leg: { status: 'expired' },
        held: HELD_BEFORE,
      },
      /given up after 20\.0 s: expired/,
    ],
    [
      'that expires before its time, while its credentials are refused twice',
      {
        status: 'expired',
        code: 'expired',
        endsAfter: 20_000,
        leg: { status: 'expired', sent_at: timestamp(START) },
        held: HELD_BEFORE,
        denials: [1_000, 4_000],
      },
      /given up after 20\.0 s: expired/,
    ],
    [
      'that is given up because the broker was busy for a moment',
      {
        status: 'rejected',
        code: 'broker_rate_limited',
        leg: { status: 'rejected' },
        request: { outcome: 'rejected', code: 'broker_rate_limited' },
        held: HELD_BEFORE,
      },
      /rejected broker_rate_limited/,
    ],
    [
      'that is given up for one refusal of its credentials',
      { status: 'failed', code: 'credentials_rejected', held: HELD_BEFORE, denials: [500] },
      /failed credentials_rejected/,
    ],
    [
      'of a reversal that is given up before the exchange had the close',
      {
        intent: SELL,
        status: 'failed',
        code: 'broker_unavailable',
        leg: { status: 'planned' },
        held: HELD_BEFORE,
      },
      /given up after 1\.0 s/,
    ],
    [
      'that a halt holds back',
      { status: 'rejected', code: 'account_halted', held: HELD_BEFORE, haltedUntil: 500 },
      /rejected account_halted/,
    ],
    [
      'that a halt holds back which was over before',
      {
        intent: towards('-1'),
        status: 'rejected',
        code: 'account_halted',
        held: HELD_BEFORE,
        haltedUntil: -500,
      },
      /rejected account_halted/,
    ],
  ] as const satisfies readonly (readonly [string, Story, RegExp])[])
    it(how, () => {
      const [problem = 'nothing', ...more] = problemsOf(story);
      assert.match(problem, words);
      assert.deepEqual(more, []);
    });
});

describe('of a kill switch the judge', () => {
  const said = (flatten_error: { code: string } | null, story: Story) =>
    judgeFlattens({
      flattens: [
        {
          desk: DESK,
          sentAt: START,
          answeredAt: START + 1_000,
          resumedAt: START + 2_000,
          answer: { flatten_error },
        },
      ],
      ledger: ledgerOf(story),
    }).problems;

  it('believes that nothing is left where that is so', () => {
    const closed: Story = { status: 'filled', held: [...HELD_BEFORE, [600, '0']], looks: [100, 800] };
    assert.deepEqual(said(null, closed), []);
    assert.deepEqual(said({ code: 'close_unconfirmed' }, { status: 'filled', held: HELD_BEFORE }), []);
  });

  it('notices that something is', () => {
    const [problem = ''] = said(null, { status: 'filled', held: HELD_BEFORE, looks: [500] });
    assert.match(problem, /was told that nothing is left, and 1 BTCUSDT was/);
  });
});

describe('of credentials the judge', () => {
  const refused = (denials: readonly number[], looks: readonly number[] = []) =>
    judgeCredentials([DESK], new Set([ACCOUNT]), ledgerOf({ status: 'done', denials, looks })).problems;

  it('notices that they count as refused after one refusal, or two, or three with answers in between', () => {
    for (const denials of [[0], [0, 100]]) assert.equal(refused(denials).length, 1);
    assert.equal(refused([0, 2_000, 40_000], [30_000]).length, 1);
  });

  it('lets them count as refused after three in one go, whatever else was told, and after three without another word', () => {
    assert.deepEqual(refused([0, 20_000, 24_000, 30_000], [25_000]), []);
    assert.deepEqual(refused([0, 20_000, 40_000]), []);
  });
});
