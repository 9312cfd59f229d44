import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { components } from '../../web/api/schema.ts';
import { orderHeadline, signalHeadline, slippageInWords } from '../../web/pages/story/headline.ts';
import { curlOf, meaningOf, membersOf } from '../../web/pages/story/message.ts';
import { canRehearse } from '../../web/pages/story/rehearsable.ts';
import { brokerWords, placedBy, wayOnOf } from '../../web/pages/story/said.ts';
import { isSettleable, readSaid } from '../../web/pages/story/settleable.ts';
import { fallOf, ticksOf } from '../../web/pages/story/steps.ts';
import { legSlippage, shareOf, togetherOf } from '../../web/pages/story/sums.ts';
import { askAgainMs } from '../../web/pages/story/under-way.ts';
import { orderHappened } from '../../web/parts/happened.ts';
import { after, orderSummary, signalRecord as signal } from './records.ts';

type Order = components['schemas']['OrderRecord'];
type Leg = components['schemas']['Leg'];

const leg = (given: Partial<Leg>): Leg => ({
  leg: 'entry',
  client_order_id: 'fp1',
  broker_ref: null,
  side: 'sell',
  quantity: 0.2,
  status: 'filled',
  fill_price: 96418,
  fill_quantity: 0.2,
  fee: null,
  sent_at: null,
  acked_at: null,
  filled_at: null,
  ...given,
});

const EXIT = leg({
  leg: 'exit',
  quantity: 0.1,
  fill_quantity: 0.1,
  fill_price: 96418.3,
  sent_at: after(43),
  acked_at: after(82),
  filled_at: after(121),
});
const ENTRY = leg({ sent_at: after(122), acked_at: after(160), filled_at: after(160) });

/** A reversal, with all that is known of it. */
const order = (given: Partial<Order>): Order => ({
  ...orderSummary({
    fill_price: 96418,
    fill_quantity: 0.2,
    market_position: 'short',
    target: -0.2,
    price: 96418.5,
    slippage: -0.4,
    auto_exit: true,
    exit_quantity: 0.1,
    position_before: 0.1,
    filled_at: after(160),
  }),
  trace: { validated: 1, queued: 1, taken: 4, sent: 43, acked: 82, answered: 162 },
  legs: [EXIT, ENTRY],
  ...given,
});

const WEBHOOK = { signalTime: null, checks: 16 };

test('a status that this page does not know is named, not interpreted, and asked about', () => {
  const headline = (status: string) =>
    orderHeadline(order({ status: status as 'filled', legs: [] }), null).lead;
  assert.equal(headline('amended'), 'BTCUSDT.P: amended');
  assert.match(headline('expired'), /^Not (bought|sold|closed): /);
  assert.ok(askAgainMs('amended') && askAgainMs('placed') && askAgainMs('queued'));
  assert.ok(!askAgainMs('filled') && !askAgainMs('expired') && !askAgainMs(undefined));
});

test('the waterfall names each step, and its sums are the whole', () => {
  const { steps, total, sums } = fallOf(order({}), WEBHOOK);
  assert.deepEqual(
    steps.map(({ name, at, position }) => [name, at, position]),
    [
      ['Arrived, 16 checks passed', 1, undefined],
      ['Recorded, queued, taken up', 4, undefined],
      ['Position read, planned: close, then enter', 43, 0.1],
      ['Exit sent, acknowledged', 82, undefined],
      ['Exit filled at 96,418.3', 121, 0],
      ['Exit seen to be filled, entry released', 122, undefined],
      ['Entry sent, filled at 96,418', 160, -0.2],
      ['Recorded, answered', 162, undefined],
    ],
  );
  assert.equal(total, 162);
  assert.equal(sums.ours + sums.theirs + sums.both + sums.lost, 162);
  assert.deepEqual([sums.ours, sums.both], [7, 39]);
});

test('an answer that was lost is lost time, and leaves two positions possible', () => {
  const lost = leg({ status: 'unknown', fill_quantity: null, fill_price: null, sent_at: after(122) });
  const unknown = order({
    status: 'unknown',
    legs: [EXIT, lost],
    trace: { validated: 1, taken: 4, sent: 43, acked: 82, answered: 10_123 },
  });
  const { steps, sums } = fallOf(unknown, WEBHOOK);
  const silence = steps.find(({ whose }) => whose === 'lost');
  assert.deepEqual([silence?.name, silence?.doubt], ['Entry sent, no answer', [0, -0.2]]);
  assert.equal(sums.lost, 10_001);
  assert.equal(orderHeadline(unknown, null).lead, 'Is 0.2 BTCUSDT.P sold or not?');
  assert.ok(orderHeadline(unknown, null).isRisk);
});

test('an order that waited in a restored backup lost no answer: what it says of itself is told', () => {
  const message = 'The order still waited when the backup was made. Look for the client order ids a and b.';
  const restored = order({
    ...{ status: 'unknown', action: 'buy', quantity: 0.2, legs: [] },
    error: { code: 'expired', message, advice: '' },
  });
  const { lead, rest, isRisk } = orderHeadline(restored, null);
  assert.equal(lead, 'Is 0.2 BTCUSDT.P bought or not?');
  assert.equal(rest, 'It waited in a backup, and may have been sent before that was restored');
  assert.ok(isRisk);
  assert.equal(orderHappened(restored).text, message.slice(0, -1));
});

test('what became of an order is its owner’s to say once nobody looks, or after ten minutes', () => {
  const open = leg({ status: 'unknown', fill_quantity: null, fill_price: null });
  const unknown = order({ status: 'unknown', legs: [EXIT, open], trace: { answered: 10_000 } });
  const at = (ms: number) => Date.parse(after(ms));
  assert.ok(!isSettleable(unknown, at(609_999)));
  assert.ok(isSettleable(unknown, at(610_000)));
  const dead = { state: 'dead_letter', attempts: 4, next_at: null } as const;
  assert.ok(isSettleable({ ...unknown, status: 'placed', verification: dead }, at(0)));
  assert.ok(!isSettleable({ ...unknown, status: 'executing', verification: dead }, at(0)));
  assert.ok(!isSettleable(order({}), at(1_000_000)));
  assert.deepEqual(readSaid({ outcome: 'filled', price: '96,418.5', quantity: '.2' }, 0.2), {
    outcome: 'filled',
    price: 96418.5,
    quantity: 0.2,
  });
  assert.deepEqual(readSaid({ outcome: 'not_filled', price: '', quantity: '' }, 0.2), {
    outcome: 'not_filled',
  });
  for (const [price, quantity] of [
    ['', '1'],
    ['0', '0.1'],
    ['1e3', '0.1'],
    ['1', '0.3'],
    ['1', '-1'],
  ] as const)
    assert.ok('problem' in readSaid({ outcome: 'filled', price, quantity }, 0.2), `${price} ${quantity}`);
  assert.ok('problem' in readSaid({ outcome: '', price: '1', quantity: '0.1' }, null));
});

test('a fill that was seen after the answer stands after it', () => {
  const late = leg({ sent_at: after(122), acked_at: after(160), filled_at: after(60_000) });
  const { steps, total } = fallOf(order({ legs: [EXIT, late] }), WEBHOOK);
  assert.deepEqual(
    steps.slice(-2).map(({ name, isLate = false }) => [name, isLate]),
    [
      ['Waited for the broker, answered', false],
      ['Entry filled at 96,418', true],
    ],
  );
  assert.equal(total, 162);
});

test('what is under way has no end yet', () => {
  const sending = leg({ status: 'sending', fill_quantity: null, sent_at: after(5) });
  const { steps, total } = fallOf(
    order({ status: 'executing', legs: [sending], trace: { validated: 1, taken: 4, sent: 5 } }),
    WEBHOOK,
  );
  assert.equal(total, null);
  assert.deepEqual(steps.at(-1)?.at, null);
});

test('ticks stand at round numbers, from zero', () => {
  assert.deepEqual(ticksOf(201), [0, 100, 200]);
  assert.deepEqual(ticksOf(105), [0, 50, 100]);
  assert.deepEqual(ticksOf(3), [0, 1, 2, 3]);
});

test('the headline says what was traded, from where to where, and how well', () => {
  assert.deepEqual(orderHeadline(order({}), 0.1), {
    lead: 'Sold 0.3 BTCUSDT.P: was long 0.1, now short 0.2',
    rest: '4 ticks worse than the signal',
  });
});

test('slippage is in ticks where the tick is known, without dust', () => {
  assert.equal(slippageInWords(-0.3, 0.1), '3 ticks worse than the signal');
  assert.equal(slippageInWords(0.1, 0.1), '1 tick better than the signal');
  assert.equal(slippageInWords(-0.2, 0.25), '0.8 ticks worse than the signal');
  assert.equal(slippageInWords(0.08, null), '0.08 better than the signal’s price');
  assert.equal(slippageInWords(0, 0.1), 'at the signal’s own price');
  assert.equal(slippageInWords(null, 0.1), null);
});

test('a reversal that stopped half way is a risk, and says so', () => {
  const refused = leg({ status: 'rejected', fill_quantity: null, fill_price: null });
  const half = orderHeadline(
    order({
      status: 'rejected',
      legs: [EXIT, refused],
      error: { code: 'insufficient_margin', message: 'Too little margin.', advice: 'Add funds.' },
    }),
    null,
  );
  assert.deepEqual(half, {
    lead: 'BTCUSDT.P: closed long 0.1 at 96,418.3, now flat',
    rest: 'but the entry was rejected: too little margin',
    isRisk: true,
  });
});

test('what was refused says what it was, as far as it was read', () => {
  const refused = { outcome: 'refused', order_id: null, code: 'webhook_replay_attack' } as const;
  assert.deepEqual(signalHeadline(signal(refused)), {
    lead: 'Refused: sell 0.3 BTCUSDT.P',
    rest: 'this signal was received before',
  });
  assert.equal(
    signalHeadline(signal({ ...refused, action: null, quantity: null, symbol: null })).lead,
    'Refused',
  );
});

const MESSAGE =
  '{ "action": "sell",\n "symbol":"BTCUSDT.P", "quantity": 0.30, "secret":"••••••", "timestamp":"2026-11-12T14:48:02Z", "comment": "it\'s {a, \\"b\\"}", "more": [1, 2] }';

test('a message is split as it was written', () => {
  const members = membersOf(MESSAGE) ?? [];
  assert.deepEqual(
    members.map(({ name, value }) => [name, value]),
    [
      ['action', '"sell"'],
      ['symbol', '"BTCUSDT.P"'],
      ['quantity', '0.30'],
      ['secret', '"••••••"'],
      ['timestamp', '"2026-11-12T14:48:02Z"'],
      ['comment', '"it\'s {a, \\"b\\"}"'],
      ['more', '[1, 2]'],
    ],
  );
  assert.equal(membersOf('buy now'), null);
  assert.equal(membersOf('[1]'), null);
  assert.deepEqual(membersOf('{}'), []);
});

test('each line says what was understood of it', () => {
  const known = { gap: false, maxAgeSeconds: 300, instrument: null, protection: null };
  const read = signal({
    ignored: ['comment'],
    checks: [{ check: 'secret', outcome: 'passed', detail: null }],
    understood: {
      action: 'sell',
      symbol: 'BTCUSDT.P',
      quantity: 0.3,
      target: -0.2,
      market_position: 'short',
      strategy_position: -0.2,
      prev_strategy_position: 0.1,
      price: 96418.5,
      signal_time: '2026-11-12T14:48:02.000Z',
    },
  });
  const said = (name: string) => meaningOf(name, read, known);
  assert.deepEqual(said('market_position'), { words: 'target: ', held: -0.2 });
  assert.ok(said('quantity').isLess);
  assert.equal(said('timestamp').words, '1.2 s old, of 300 s');
  assert.equal(said('comment').words, 'ignored');
  assert.match(said('secret').words, /^equal; masked/);
  assert.deepEqual(said('prev_market_position'), { words: 'was ', held: 0.1, after: ', no gap' });
  assert.equal(meaningOf('action', signal({}), known).words, '');
});

test('each line of an entry with a price does, and its stop is set by its first fill', () => {
  const armed = { id: null, state: 'armed', stop_loss: null, take_profit: [] };
  const known = { gap: null, maxAgeSeconds: 300, instrument: null, protection: armed as never };
  const priced = { limit_price: 59_000, stop_price: null, time_in_force: 'gtc', expires_in: 7_200 };
  const read = signal({ understood: { action: 'buy', symbol: 'BTCUSDT', quantity: 1, ...priced } });
  const said = (name: string) => meaningOf(name, read, known).words;
  assert.equal(said('limit_price'), 'fills at 59,000 or better');
  assert.equal(said('stop_price'), '');
  assert.equal(said('time_in_force'), 'gtc');
  assert.equal(said('expires_in'), 'taken back after 2 h 0 min');
  assert.equal(said('id'), 'its name: the next entry of it takes its place');
  assert.equal(said('stop_loss'), 'set by its first fill');
});

test('the curl is one that a shell takes, without secret and time, whatever is in the message', () => {
  const members = membersOf(MESSAGE) ?? [];
  const command = curlOf('https://fillpath.example.com/webhook/wh_x/order', members, []);
  assert.ok(!command.includes('secret') && !command.includes('••'));
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$2" "$4"; }; ${command}`], {
    encoding: 'utf8',
  });
  const [url, ...body] = printed.split('\n');
  assert.equal(url, 'https://fillpath.example.com/webhook/wh_x/order?simulation=true');
  assert.deepEqual(JSON.parse(body.join('\n')), {
    action: 'sell',
    symbol: 'BTCUSDT.P',
    quantity: 0.3,
    comment: 'it\'s {a, "b"}',
    more: [1, 2],
  });
  assert.ok(!curlOf('https://x', members, ['comment', 'more']).includes('comment'));
});

test('legs come to exact sums, and to the average of what was filled', () => {
  assert.deepEqual(
    togetherOf([
      { ...EXIT, fee: 0.1 },
      { ...ENTRY, fee: 0.2 },
    ]),
    {
      quantity: 0.3,
      filled: 0.3,
      price: 96418.1,
      fees: 0.3,
    },
  );
  assert.equal(togetherOf([EXIT, { ...ENTRY, fee: 0.2 }]).fees, null);
  assert.equal(legSlippage(EXIT, 96418.5), -0.2);
  assert.equal(legSlippage({ ...EXIT, side: 'buy' }, 96418.5), 0.2);
});

test('who made an order that no signal made is said as its record and its audit entry have it', () => {
  const entry = (metadata: Record<string, unknown>) => [{ action: 'dashboard_order', metadata }];
  const close = order({ source: 'dashboard', action: 'close_long', operation: 'CLOSE_POSITION' });
  assert.equal(placedBy(order({}), []), null);
  assert.equal(placedBy(order({ source: 'dashboard' }), undefined), 'placed by hand or with an API key');
  assert.match(placedBy(order({ source: 'dashboard', action: 'sync' }), undefined) ?? '', /by Align/);
  assert.match(placedBy(close, entry({ kill_switch: true })) ?? '', /by the kill switch/);
  assert.equal(placedBy(close, entry({})), 'placed by hand or with an API key');
  assert.equal(placedBy(close, undefined), null, 'nothing is said before it is known');
  assert.equal(placedBy(close, []), 'placed without a signal', 'its entry is no longer kept');
});

test('an error has its way on, and the market its next opening', () => {
  assert.equal(wayOnOf(null), null);
  const closed = {
    code: 'market_closed',
    message: 'Closed.',
    advice: 'Send it again when it opens.',
  } as const;
  assert.deepEqual(wayOnOf(closed), { advice: 'Send it again when it opens.', nextOpen: null });
  const market_hours = { timezone: 'UTC', session: '09:00-17:00', next_open: after(60_000) };
  assert.equal(wayOnOf({ ...closed, market_hours })?.nextOpen, after(60_000));
});

test('what the broker said is told leg by leg, and nothing that it did not say', () => {
  const said = (of: Order, look: string | null = null) =>
    brokerWords(of, look, 'USDT').map(({ about, said: words }) => `${about}: ${words}`);
  assert.deepEqual(said(order({ legs: [] })), []);
  assert.deepEqual(said(order({ legs: [{ ...EXIT, broker_ref: '7c1d', fee: 5.3 }, ENTRY] })), [
    'exit, acknowledged: 7c1d',
    'exit, filled: 0.1 at 96,418.3, fee 5.3 USDT',
    'entry, acknowledged: no reference given',
    'entry, filled: 0.2 at 96,418',
  ]);
  const error = { code: 'failed_at_broker', message: 'Reduce only.', advice: 'Ask the broker.' } as const;
  assert.deepEqual(said(order({ legs: [], status: 'rejected', error })), ['rejected: Reduce only.']);
  const ours = { ...error, code: 'out_of_sync' } as const;
  assert.deepEqual(said(order({ legs: [], status: 'failed', error: ours })), [], 'that is our own word');
  assert.deepEqual(said(order({ legs: [], status: 'placed' }), 'not yet'), ['last look: not yet']);
});

test('the ring is filled by what is filled of what was wanted', () => {
  assert.equal(shareOf([]), null);
  assert.equal(shareOf([leg({ quantity: 0.4, fill_quantity: 0.1 })]), 0.25);
  assert.equal(
    shareOf([leg({ quantity: 1, fill_quantity: null }), leg({ quantity: 1, fill_quantity: 1 })]),
    0.5,
  );
});

test('an order is told by its units; before they are computed, by what it asked for', () => {
  const sizing = {
    quantity_type: 'cash',
    asked: 500,
    factor: 2,
    price: 68_000,
    equity: null,
    stop: null,
    units: 0.014,
    text: '500 USDT times 2 is 0.014 BTC at 68,000. Fees and slippage are not counted.',
  } as const;
  const sized = { ...order({ status: 'rejected', legs: [] }), quantity: 500, quantity_type: 'cash' } as const;
  const lead = (units: number | null) => orderHeadline({ ...sized, sizing: { ...sizing, units } }, null).lead;
  assert.equal(lead(0.014), 'Not sold: 0.014 BTCUSDT.P');
  assert.equal(lead(null), 'Not sold: 1,000 in money of BTCUSDT.P');
});

test('what is rehearsed is as much as was traded, or else what was asked for', () => {
  const asked = { ...order({ legs: [] }), quantity: 5 };
  const sizing = { asked: 5, factor: 1, price: 1, equity: null, stop: null, text: null };
  const of = (quantity_type: 'cash' | 'risk_cash', units: number | null) =>
    canRehearse(null, { ...asked, quantity_type, sizing: { ...sizing, quantity_type, units } });
  const wish = (found: ReturnType<typeof of>) => [found?.quantity, found?.quantity_type];
  assert.deepEqual(wish(of('cash', 0.3)), [0.3, 'units']);
  assert.deepEqual(wish(of('cash', null)), [5, 'cash']);
  assert.deepEqual(wish(of('risk_cash', 0.3)), [0.3, 'units']);
  assert.equal(of('risk_cash', null), null);
  assert.deepEqual(wish(canRehearse(null, asked)), [5, 'units']);
});
