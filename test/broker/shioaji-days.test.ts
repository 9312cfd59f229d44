// SinoPac on its bad days: each has a code, and words that tell what to do.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccountUnfit,
  BrokerBusy,
  type BrokerOrder,
  BrokerUnavailable,
  CredentialsRejected,
  type PlaceOutcome,
} from '../../src/broker/broker.ts';
import { hoursOf, isOpen } from '../../src/broker/shioaji/hours.ts';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { RejectionCode } from '../../src/domain/orders/order.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';
import { patient } from './patient.ts';
import { stubHarness } from './stub-harness.ts';

const KEYS = { api_key: 'an-api-key', api_secret: 'a-secret-of-somebody' };
const ID = 'fe0123456789012345678901' as ClientOrderId;
const ADDRESS = 'http://10.0.0.5:8080';
const NOW = Date.parse('2026-11-17T10:00:00+08:00');
const taipei = (time: string) => Date.parse(`${time}+08:00`);

const TXF = {
  security_type: 'FUT',
  region: 'TW',
  exchange: 'TAIFEX',
  code: 'TXFL6',
  target_code: null,
  name: '臺股期貨 202612',
};
const MONTH = { ...TXF, delivery_month: '202612', multiplier: 200, tick: 1 };
const STOCK = { ...TXF, security_type: 'STK', exchange: 'TSE', code: '2330', name: '台積電' };
const ACCOUNTS = [
  { account_type: 'F', broker_id: 'F002000', account_id: '1234567', signed: true },
  { account_type: 'S', broker_id: '9A95', account_id: '7654321', signed: true },
];

const trade = (status: object = {}, order: object = {}, contract: object = TXF) => ({
  contract,
  order: { id: '531e27af', seqno: '000002', action: 'Buy', price: 0, quantity: 2, ...order },
  status: {
    id: '531e27af',
    status: 'PendingSubmit',
    status_code: '00',
    order_ts: Date.now() / 1000,
    deal_quantity: 0,
    cancel_quantity: 0,
    msg: '',
    deals: [],
    ...status,
  },
});
const deals = (...rows: [price: number, quantity: number][]) =>
  rows.map(([price, quantity], index) => ({ seq: `${index}`, price, quantity, ts: Date.now() / 1000 }));

type Said = (init: RequestInit) => Response | Promise<Response>;
const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Said =>
  () =>
    Response.json(body, { status, headers });
const fault = (status: number, message: string): Said =>
  json({ code: status, message, details: null }, status);
const NONE = fault(404, 'Contract not found');

/** The server as it is on a good day, but for what is given, by "POST order/trades". */
async function opened(answers: Record<string, Said> = {}, environment = 'live', now = () => NOW) {
  const asked: string[] = [];
  const good: Record<string, Said> = {
    'GET info': json({ name: 'Shioaji API Server', simulation: environment === 'simulation' }),
    'GET auth/accounts': json(ACCOUNTS),
    'GET data/contracts/TXFR1': json({ ...TXF, code: 'TXFR1', target_code: 'TXFL6' }),
    'GET data/contracts/TXFL6': json(TXF),
    'GET data/contracts/2330': json(STOCK),
    'GET data/contracts/futures': json([MONTH, { ...MONTH, code: 'TXFR1', target_code: 'TXFL6' }]),
    'GET data/contracts': json({ contracts: [TXF, STOCK, { ...TXF, code: 'TXFR1' }] }),
    'POST portfolio/position_unit': json([]),
    'POST order/place_order': json(trade()),
    'POST order/trades': json([]),
  };
  const open = openShioaji({
    url: ADDRESS,
    clock: { now },
    fetch: async (url, init) => {
      const what = `${init.method ?? 'GET'} ${new URL(url).pathname.replace('/api/v1/', '')}`;
      asked.push(what);
      return ({ ...good, ...answers }[what] ?? NONE)(init);
    },
  });
  const account = { id: 'a' as AccountId, environment, paper: null, credentials: KEYS };
  const connection = await open(account, NO_HURRY);
  return { asked, connection, broker: patient(connection) };
}

const instrument = {
  symbol: 'TXFL6',
  description: '',
  contractSize: decimal(200),
  quantityStep: decimal(1),
  minQuantity: decimal(1),
  tickSize: decimal(1),
  open: true,
  nextOpen: null,
};

const order = (more: Partial<BrokerOrder> = {}): BrokerOrder => ({
  clientOrderId: ID,
  instrument,
  side: 'buy',
  quantity: decimal(2),
  reduceOnly: false,
  sendBefore: NEVER,
  ...more,
});

function isRejected(outcome: PlaceOutcome, code: RejectionCode, words: RegExp) {
  assert.equal(outcome.outcome, 'rejected', JSON.stringify(outcome));
  const { error } = outcome as Extract<PlaceOutcome, { outcome: 'rejected' }>;
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return error;
}

const fails = (kind: typeof BrokerUnavailable, words: RegExp) => (problem: unknown) => {
  assert.ok(problem instanceof kind, String(problem));
  assert.match(problem.message, words);
  assert.ok(!problem.message.includes(KEYS.api_secret));
  return true;
};

describe('the Shioaji server', () => {
  it('is asked where the operator says it is, with both keys as a bearer', async () => {
    const seen: string[] = [];
    const open = openShioaji({
      url: ADDRESS,
      clock: { now: () => NOW },
      fetch: async (url, { headers }) => {
        seen.push(`${url} ${new Headers(headers).get('authorization')}`);
        return url.endsWith('info')
          ? Response.json({ name: 'x', simulation: false })
          : Response.json(ACCOUNTS);
      },
    });
    await open({ id: 'a' as AccountId, environment: 'live', paper: null, credentials: KEYS }, NO_HURRY);
    assert.deepEqual(seen, [
      `${ADDRESS}/api/v1/info null`,
      `${ADDRESS}/api/v1/auth/accounts Bearer an-api-key:a-secret-of-somebody`,
    ]);
  });

  it('that no operator named is not looked for: whoever listens on this machine gets no keys, and lends no account', async () => {
    const open = openShioaji({ clock: { now: () => NOW }, fetch: () => assert.fail('nobody is asked') });
    const account = { id: 'a' as AccountId, environment: 'live', paper: null, credentials: KEYS };
    await assert.rejects(open(account, NO_HURRY), fails(AccountUnfit, /operator.*BROKER_URLS/));
  });

  for (const [status, said, kind, words] of [
    [401, 'Invalid API credentials', CredentialsRejected, /with which the Shioaji server runs/],
    [401, 'key: abc not match signature.', CredentialsRejected, /secret key/],
    [400, 'key: abc not exist.', CredentialsRejected, /API key/],
    [406, 'abc is expired.', CredentialsRejected, /run out/],
    [401, 'ip: 203.0.113.7 not allow.', CredentialsRejected, /203.0.113.7.*Allow that address/],
    [401, "Token doesn't have permission", AccountUnfit, /Give the API key that permission/],
    [401, "Token doesn't have production permission.", AccountUnfit, /permission/],
    [406, 'Please sign F0021234567 first.', AccountUnfit, /Sign for the API/],
    [401, 'Token is expired', BrokerUnavailable, /started again/],
    [406, 'Sign data is timeout.', BrokerUnavailable, /clock.*Set it right/],
    [451, 'Too Many Connections.', BrokerUnavailable, /five connections/],
    [503, '系統維護中', BrokerUnavailable, /maintenance/],
    [500, 'Internal Server Error', BrokerUnavailable, /Internal/],
  ] as const)
    it(`that says ${status} “${said}” is ${kind.name}, with what to do`, async () => {
      await assert.rejects(opened({ 'GET auth/accounts': fault(status, said) }), (problem: unknown) => {
        assert.equal((problem as Error).constructor.name, kind.name);
        return fails(kind, words)(problem);
      });
    });

  it('that wants to be left alone for a minute is', async () => {
    await assert.rejects(
      opened({ 'GET auth/accounts': fault(503, '操作異常，請1分鐘後再重新登入') }),
      (problem: unknown) => {
        assert.ok(problem instanceof BrokerBusy);
        assert.equal(problem.retryAfterMs, 60_000);
        return true;
      },
    );
  });

  it('that simulates is no place for a live account, and the other way round', async () => {
    const simulating = json({ name: 'x', simulation: true });
    await assert.rejects(opened({ 'GET info': simulating }), fails(AccountUnfit, /Start it for production/));
    await assert.rejects(
      opened({ 'GET info': json({ name: 'x', simulation: false }) }, 'simulation'),
      fails(AccountUnfit, /trades for real/),
    );
    await opened({ 'GET info': simulating }, 'simulation');
  });

  it('that checks no keys is warned about', async () => {
    const { broker } = await opened();
    assert.match((await broker.verify()).warnings.join(), /does not check keys/);
    const guarded = await opened({
      'GET auth/accounts': ({ headers }) =>
        new Headers(headers).has('authorization')
          ? Response.json(ACCOUNTS)
          : Response.json(
              { code: 401, message: 'Missing Authorization header', details: null },
              { status: 401 },
            ),
    });
    assert.deepEqual((await guarded.broker.verify()).warnings, []);
  });

  it('whose accounts are not signed is unfit, and one that has only shares is warned about', async () => {
    const unsigned = ACCOUNTS.map((account) => ({ ...account, signed: false }));
    await assert.rejects(
      (await opened({ 'GET auth/accounts': json(unsigned) })).broker.verify(),
      fails(AccountUnfit, /Sign on SinoPac/),
    );
    const { broker } = await opened({ 'GET auth/accounts': json(ACCOUNTS.slice(1)) });
    assert.match((await broker.verify()).warnings.join(), /No account for futures/);
  });

  it('with both sides of a contract is told to close one', async () => {
    const row = { id: 0, code: 'TXFL6', direction: 'Buy', quantity: 1, price: 22_000 };
    const both = [row, { ...row, direction: 'Sell' }];
    await assert.rejects(
      (await opened({ 'POST portfolio/position_unit': json(both) })).broker.verify(),
      fails(AccountUnfit, /TXFL6 is held on both sides.*Close one side/),
    );
  });
});

describe('a symbol at SinoPac', () => {
  it('is pinned to its month, however it is spelt', async () => {
    const { broker } = await opened();
    for (const symbol of ['TXF1!', 'TAIFEX:TXF1!', 'taifex_dly:txf1!', 'TXFR1', 'TXFL6', 'TAIFEX:TXFZ2026']) {
      const found = await broker.resolve(symbol);
      assert.ok('symbol' in found, `${symbol}: ${JSON.stringify(found)}`);
      assert.deepEqual([found.symbol, found.contractSize, found.quantityStep], ['TXFL6', '200', '1']);
    }
    const lots = await broker.resolve('TWSE:2330');
    assert.deepEqual('symbol' in lots && [lots.symbol, lots.contractSize], ['2330', '1000']);
  });

  it('that stands for another month tomorrow means that one from then on', async () => {
    let target = 'TXFL6';
    const { broker } = await opened({
      'GET data/contracts/TXFR1': () => Response.json({ ...TXF, code: 'TXFR1', target_code: target }),
      'GET data/contracts/TXFA7': json({ ...TXF, code: 'TXFA7' }),
      'GET data/contracts/futures': json([MONTH, { ...MONTH, code: 'TXFA7', delivery_month: '202701' }]),
    });
    const code = async () => {
      const found = await broker.resolve('TXF1!');
      return 'symbol' in found && found.symbol;
    };
    assert.equal(await code(), 'TXFL6');
    target = 'TXFA7';
    assert.equal(await code(), 'TXFA7');
  });

  it('that means something else, or nothing, is refused, and the nearest names are offered', async () => {
    const { broker } = await opened();
    for (const [symbol, words] of [
      ['TXG1!', /Did you mean TXF1!\?/],
      ['TWSE:2331', /Did you mean 2330\?/],
      // The world's letter for March is SinoPac's for August: never guessed.
      ['TXFH2026', /not found in the broker contracts/],
      ['NASDAQ:2330', /not found in the broker contracts/],
      ['TWSE:TXF1!', /not found in the broker contracts/],
      ['2330.P', /not found in the broker contracts/],
      ['../orders', /not found in the broker contracts/],
    ] as const) {
      const found = await broker.resolve(symbol);
      assert.ok('rejection' in found, symbol);
      assert.equal(found.rejection.code, 'invalid_symbol');
      assert.match(found.rejection.message, words);
    }
  });

  it('is not believed to be nothing where the answer is none', async () => {
    for (const answer of [
      json({}),
      json({ ...TXF, code: 'MXFL6' }),
      () => new Response('<html>', { status: 404 }),
    ])
      await assert.rejects(
        (await opened({ 'GET data/contracts/TXFL6': answer })).broker.resolve('TXFL6'),
        BrokerUnavailable,
      );
  });
});

describe('an order at SinoPac', () => {
  async function sentWith(given: Partial<BrokerOrder>, contract: object) {
    let body = '';
    const { broker } = await opened({
      'POST order/place_order': async (init) => {
        body = await new Response(init.body).text();
        return Response.json(trade({}, { action: given.side === 'sell' ? 'Sell' : 'Buy' }, contract));
      },
    });
    assert.equal((await broker.place(order(given))).outcome, 'accepted');
    return JSON.parse(body);
  }

  it('that would rest is refused in words, and nothing is sent: no limit and no stop is kept there', async () => {
    const { broker, connection, asked } = await opened();
    const before = asked.length;
    for (const more of [{ limit: decimal(22_000) }, { limit: decimal(22_000), stop: decimal(21_000) }])
      isRejected(
        await broker.place(order(more)),
        'failed_at_broker',
        /No limit and no stop.*Nothing was sent/,
      );
    assert.equal(asked.length, before);
    assert.deepEqual([connection.stops, connection.capabilities.stop], [undefined, 'none']);
  });

  it('is not sent once its time is over, though its contract was asked for in time', async () => {
    let now = NOW;
    const { broker, asked } = await opened(
      {
        'GET data/contracts/TXFL6': () => {
          now += 1_000;
          return Response.json(TXF);
        },
      },
      'live',
      () => now,
    );
    const late = order({ sendBefore: timestamp(NOW + 1_000) });
    isRejected(await broker.place(late), 'expired', /not sent.*before/);
    assert.ok(!asked.includes('POST order/place_order'));
  });

  it('for futures is at the market, now or not at all, with a word of ours', async () => {
    const { contract, futures_order } = await sentWith({}, TXF);
    assert.deepEqual(contract, { security_type: 'FUT', exchange: 'TAIFEX', code: 'TXFL6' });
    const { custom_field, ...terms } = futures_order;
    assert.deepEqual(terms, {
      action: 'Buy',
      price: 0,
      quantity: 2,
      price_type: 'MKT',
      order_type: 'IOC',
      octype: 'Auto',
    });
    assert.match(custom_field, /^[0-9a-z]{6}$/);
    const { futures_order: close } = await sentWith({ side: 'sell', reduceOnly: true }, TXF);
    assert.deepEqual([close.action, close.octype], ['Sell', 'Cover']);
  });

  it('for shares is for lots, with cash', async () => {
    const { contract, stock_order } = await sentWith(
      { instrument: { ...instrument, symbol: '2330' } },
      STOCK,
    );
    assert.deepEqual(contract, { security_type: 'STK', exchange: 'TSE', code: '2330' });
    assert.deepEqual(
      [stock_order.order_lot, stock_order.order_cond, stock_order.quantity],
      ['Common', 'Cash', 2],
    );
  });

  for (const [said, ours, words] of [
    ['非委託時間', 'market_closed', /closed/],
    ['非交易時間, 暫不開放, 請稍候再作業', 'market_closed', /closed/],
    ['集合競價時段不可輸入市價／ IOC ／ FOK 委託', 'market_closed', /auction/],
    ['無此商品代碼', 'invalid_symbol', /not found in the broker contracts/],
    ['圈存失敗，餘額不足', 'insufficient_margin', /pay in, or order less/],
    ['集保賣出餘股數不足，餘股數 0 股', 'no_position', /not held/],
    ['超過當日委託口數上限', 'failed_at_broker', /limit of the day/],
    ['委託數量有錯', 'invalid_quantity', /whole number/],
    ['憑證驗章失敗', 'failed_at_broker', /certificate/],
    ['由於風險條件,無法下單', 'failed_at_broker', /Ask SinoPac/],
    ['', 'failed_at_broker', /no reason given/],
  ] as const)
    it(`that failed with “${said}” is ${ours}, with HTTP 200`, async () => {
      const { broker } = await opened({
        'POST order/place_order': json(trade({ status: 'Failed', msg: said })),
      });
      const error = isRejected(await broker.place(order()), ours, words);
      assert.match(error.message, new RegExp(said.slice(0, 4)));
      if (ours === 'market_closed') assert.equal(error.market_hours?.timezone, 'Asia/Taipei');
    });

  for (const said of ['處理中, 請再確認委託狀態', '連線逾時,請再確認委託狀態', '忙線中, 請稍後再查'])
    it(`that failed with “${said}” is unknown, and stays so while it says no more`, async () => {
      const undecided = trade({ status: 'Failed', msg: said });
      const { broker } = await opened({
        'POST order/place_order': json(undecided),
        'POST order/trades': json([undecided]),
      });
      assert.equal((await broker.place(order())).outcome, 'unknown');
      await assert.rejects(broker.find(order()), fails(BrokerUnavailable, /does not yet say/));
    });

  it('is unknown where nobody says that it was not taken', async () => {
    const silent: Said[] = [
      fault(408, 'STS Request Timeout'),
      fault(503, 'STS Service Unavailable'),
      fault(500, 'STS Sending Error'),
      fault(504, 'SOR Gateway API call timed out'),
      () => new Response('<html>maintenance</html>', { status: 503 }),
      () => new Response('<html>', { status: 200 }),
      json({}),
      json(trade({}, { id: '' })),
      json(trade({}, { action: 'Sell' })),
      json(trade({}, { quantity: 1 })),
      json(trade({}, {}, { ...TXF, code: 'MXFL6' })),
      json(trade({ status: 'Perhaps' })),
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
        ),
    ];
    for (const [index, answer] of silent.entries()) {
      const { broker } = await opened({ 'POST order/place_order': answer });
      assert.equal((await broker.place(order())).outcome, 'unknown', `answer ${index}`);
    }
  });

  it('was certainly not taken in maintenance, with too many connections, or without any', async () => {
    for (const answer of [
      fault(503, '系統維護中'),
      fault(451, 'Too Many Connections.'),
      () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect' })),
    ])
      await assert.rejects(
        (await opened({ 'POST order/place_order': answer })).broker.place(order()),
        BrokerUnavailable,
      );
    await assert.rejects(
      (await opened({ 'POST order/place_order': json({}, 429, { 'retry-after': '3' }) })).broker.place(
        order(),
      ),
      (problem: unknown) => problem instanceof BrokerBusy && problem.retryAfterMs === 3_000,
    );
  });

  for (const [words, said, status, filled, price] of [
    [
      'is filled at once',
      { status: 'Filled', deal_quantity: 2, deals: deals([22_000, 1], [22_001, 1]) },
      'filled',
      '2',
      '22000.5',
    ],
    [
      'is filled under another word',
      { status: 'Submitted', deal_quantity: 2, deals: deals([22_000, 2]) },
      'filled',
      '2',
      '22000',
    ],
    [
      'is filled in part',
      { status: 'PartFilled', deal_quantity: 1, deals: deals([22_000, 1]) },
      'partially_filled',
      '1',
      '22000',
    ],
    [
      'is filled in part and the rest taken back',
      { status: 'PartFilled', deal_quantity: 1, cancel_quantity: 1, deals: deals([22_000, 1]) },
      'cancelled',
      '1',
      '22000',
    ],
    ['is cancelled', { status: 'Cancelled', cancel_quantity: 2 }, 'cancelled', '0', null],
    ['waits', { status: 'PreSubmitted' }, 'placed', '0', null],
    ['is of no use', { status: 'Inactive' }, 'placed', '0', null],
  ] as const)
    it(`that ${words} is ${status} with ${filled}`, async () => {
      const { broker } = await opened({ 'POST order/trades': json([trade(said)]) });
      const found = await broker.find(order(), { brokerRef: '531e27af' });
      assert.deepEqual([found?.status, found?.fillQuantity, found?.fillPrice], [status, filled, price]);
    });

  it('that says of itself what cannot be is not believed, and when it was placed it is there all the same', async () => {
    for (const status of [
      { status: 'Filled' },
      { status: 'Filled', deal_quantity: 2 },
      { status: 'Filled', deal_quantity: 1, deals: deals([22_000, 1]) },
      { status: 'PartFilled', deal_quantity: 2, deals: deals([22_000, 1]) },
      { status: 'Filled', deal_quantity: 3, deals: deals([22_000, 3]) },
      { status: 'Cancelled', cancel_quantity: 1 },
    ]) {
      const { broker } = await opened({
        'POST order/trades': json([trade(status)]),
        'POST order/place_order': json(trade(status)),
      });
      await assert.rejects(broker.find(order(), { brokerRef: '531e27af' }), BrokerUnavailable);
      const outcome = await broker.place(order());
      assert.deepEqual(outcome.outcome === 'accepted' && [outcome.state.brokerRef, outcome.state.status], [
        '531e27af',
        'placed',
      ]);
    }
  });

  it('is nobody where two could be meant: neither found nor missing', async () => {
    const two = [trade(), trade({ id: 'b' }, { id: 'b' })];
    const { broker } = await opened({ 'POST order/trades': json(two) });
    await assert.rejects(
      broker.find(order()),
      fails(BrokerUnavailable, /2 of the broker's orders look like it.*Look there/),
    );
    assert.equal((await broker.find(order(), { rivals: async () => [], brokerRef: 'b' }))?.brokerRef, 'b');
  });

  it('is found among the orders of a long day too', async () => {
    const others = Array.from({ length: 4_000 }, (_, nth) => {
      const id = `other-${nth}`;
      return trade({ id }, { id, custom_field: 'none' });
    });
    assert.ok(JSON.stringify(others).length > 1_048_576);
    const { broker } = await opened({ 'POST order/trades': json([...others, trade()]) });
    const found = await broker.find(order(), { rivals: async () => [], brokerRef: '531e27af' });
    assert.equal(found?.brokerRef, '531e27af');
  });

  it('is compared with what else was sent only after the list was read', async () => {
    const seen: string[] = [];
    const { broker, asked } = await opened({ 'POST order/trades': json([trade()]) });
    const rivals = async () => {
      seen.push(asked.at(-1) ?? '');
      return [];
    };
    assert.equal((await broker.find(order(), { rivals }))?.brokerRef, '531e27af');
    assert.deepEqual(seen, ['POST order/trades']);
  });
});

describe('the positions at SinoPac', () => {
  const row = {
    id: 0,
    code: 'TXFL6',
    direction: 'Sell',
    quantity: 3,
    price: 22_000.5,
    last_price: 22_010,
    pnl: -5_700,
  };

  it('are signed, one for each contract, and what no order of ours can close is marked', async () => {
    const { broker } = await opened({
      'POST portfolio/position_unit': async (init) => {
        const { account_type } = JSON.parse(await new Response(init.body).text());
        const shares = { id: 1, code: '2330', direction: 'Buy', quantity: 1, price: 1_000, cond: 'Cash' };
        return Response.json(
          account_type === 'F'
            ? [
                row,
                { ...row, code: 'TXO22000L6', direction: 'Buy' },
                { ...row, code: 'MXFL6', quantity: 2 },
                { ...row, code: 'MXFL6', quantity: 3, direction: 'Buy' },
              ]
            : [
                shares,
                { ...shares, quantity: 3, price: 1_004 },
                { ...shares, code: '2317', cond: 'MarginTrading' },
              ],
        );
      },
    });
    const positions = await broker.positions();
    assert.deepEqual(
      positions.map(({ symbol, quantity, tradable }) => [symbol, quantity, tradable]),
      [
        ['TXFL6', '-3', true],
        ['MXFL6', '1', true],
        ['2330', '4', true],
        // Of two that are sold and three that are bought one can be closed.
        ['MXFL6', '2', false],
        ['MXFL6', '-2', false],
        ['TXO22000L6', '3', false],
        ['2317', '1', false],
      ],
    );
    const traded = { tradable: true, reason: null };
    assert.deepEqual(
      positions.filter(({ symbol }) => symbol === 'TXFL6' || symbol === '2330'),
      [
        {
          symbol: 'TXFL6',
          quantity: '-3',
          averagePrice: '22000.5',
          lastPrice: '22010',
          openProfit: '-5700',
          ...traded,
        },
        { symbol: '2330', quantity: '4', averagePrice: '1003', lastPrice: null, openProfit: null, ...traded },
      ],
    );
    for (const { tradable, reason } of positions) assert.equal(/at SinoPac\.$/.test(reason ?? ''), !tradable);
    assert.equal(await broker.position(instrument), '-3');
  });

  it('are never “flat” by mistake', async () => {
    for (const body of [
      {},
      null,
      [{}],
      [{ ...row, quantity: '3' }],
      [{ ...row, direction: 'Short' }],
      [{ ...row, quantity: 1.5 }],
    ])
      await assert.rejects(
        (await opened({ 'POST portfolio/position_unit': json(body) })).broker.position(instrument),
        BrokerUnavailable,
      );
  });
});

describe('Taiwan’s markets', () => {
  it('are open by day, and the futures by night, up to Saturday morning', () => {
    for (const [time, futures, stocks] of [
      ['2026-11-17T08:44:59', false, false],
      ['2026-11-17T08:45:00', true, false],
      ['2026-11-17T09:00:00', true, true],
      ['2026-11-17T13:30:00', true, false],
      ['2026-11-17T13:45:00', false, false],
      ['2026-11-17T15:00:00', true, false],
      ['2026-11-18T04:59:59', true, false],
      ['2026-11-18T05:00:00', false, false],
      ['2026-11-21T04:00:00', true, false],
      ['2026-11-21T10:00:00', false, false],
      ['2026-11-23T04:00:00', false, false],
    ] as const)
      assert.deepEqual(
        [isOpen('futures', taipei(time)), isOpen('stocks', taipei(time))],
        [futures, stocks],
        time,
      );
  });

  it('open next after the weekend, after lunch, or tonight', () => {
    for (const [market, time, next] of [
      ['futures', '2026-11-17T14:00:00', '2026-11-17T15:00:00'],
      ['futures', '2026-11-21T05:00:00', '2026-11-23T08:45:00'],
      ['stocks', '2026-11-20T13:30:00', '2026-11-23T09:00:00'],
      ['stocks', '2026-11-17T10:00:00', '2026-11-18T09:00:00'],
    ] as const)
      assert.equal(hoursOf(market, taipei(time)).next_open, timestamp(taipei(next)), time);
  });
});

describe('a stub of SinoPac', () => {
  const stub = stubHarness('shioaji', (url) => openShioaji({ url, clock: { now: () => NOW } }));

  it('that stalls in the middle of an answer is left in time, and the order is unknown, there, and found', async () => {
    const account = await stub.account();
    const connection = await account.connect();
    await account.breaks('stall', { calls: 'orders' });
    const outcome = await connection.place(order(), AbortSignal.timeout(1_500));
    assert.equal(outcome.outcome, 'unknown');
    assert.equal((await account.ledger()).orders.length, 1);
    await account.heal();
    assert.equal((await patient(connection).find(order()))?.status, 'filled');
  });

  it('that names another order than ours is not believed for long: ours is known by the rest', async () => {
    const account = await stub.account();
    const broker = await account.open();
    await account.breaks('garbage', { garbage: 'another', taken: true, calls: 'orders' });
    const sent = order();
    const placed = await broker.place(sent);
    assert.equal(placed.outcome, 'accepted');
    await account.heal();
    const [own] = (await account.ledger()).orders;
    const { brokerRef } = placed.outcome === 'accepted' ? placed.state : assert.fail();
    assert.notEqual(brokerRef, own?.broker_ref);
    assert.equal((await broker.find(sent, { brokerRef }))?.brokerRef, own?.broker_ref);
  });

  it('has hedged accounts, unsigned ones, keys bound to addresses and keys that may only read', async () => {
    const hedged = await (await stub.account({ position_mode: 'hedged' })).open();
    await assert.rejects(hedged.verify(), fails(AccountUnfit, /both sides/));
    const unsigned = await (await stub.account({ account_type: 'classic' })).open();
    await assert.rejects(unsigned.verify(), fails(AccountUnfit, /signed/));
    const elsewhere = await stub.account({ addresses: ['192.0.2.1'] });
    await assert.rejects(elsewhere.open(), fails(CredentialsRejected, /not allow.*Allow that address/));
    const reader = await (await stub.account({ permissions: ['read'] })).open();
    await assert.rejects(reader.place(order()), fails(AccountUnfit, /permission/));
  });
});
