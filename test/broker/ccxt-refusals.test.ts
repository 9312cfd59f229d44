// What an exchange may answer to an order, and what that is to us. Each answer as it is on the wire: code, words and status.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AccountUnfit,
  BrokerBusy,
  type BrokerOrder,
  BrokerUnavailable,
  CredentialsRejected,
  type PlaceOutcome,
} from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { type Answer, type ExchangeName, scriptedExchange } from './ccxt-script.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';

const ID = 'fe0000000000000000000001' as ClientOrderId;

type Expected =
  | 'unknown'
  | 'busy'
  | 'credentials'
  | 'unfit'
  /** Certainly not taken, and worth another try. */
  | 'unavailable'
  | Extract<PlaceOutcome, { outcome: 'rejected' }>['error']['code'];

/** Where an order names its margin mode, the position that it may add to is asked for before it. */
const FLAT: Readonly<Partial<Record<ExchangeName, Answer>>> = {
  okx: { body: { code: '0', data: [] } },
  bitget: { body: { code: '00000', data: [] } },
};

async function placed(
  name: ExchangeName,
  answers: readonly Answer[],
  more: Partial<BrokerOrder> = {},
  held: Answer | undefined = FLAT[name],
) {
  const { broker, asked } = await scriptedExchange(name, [...(held ? [held] : []), ...answers]);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  const order: BrokerOrder = {
    clientOrderId: ID,
    instrument,
    side: 'buy',
    quantity: decimal('0.01'),
    reduceOnly: false,
    sendBefore: NEVER,
    ...more,
  };
  return { outcome: broker.place(order, NO_HURRY), asked };
}

async function check(name: ExchangeName, answer: Answer, expected: Expected): Promise<void> {
  const { outcome } = await placed(name, [answer]);
  const kinds = {
    busy: BrokerBusy,
    credentials: CredentialsRejected,
    unfit: AccountUnfit,
    unavailable: BrokerUnavailable,
  } as const;
  if (expected in kinds) {
    const fault: unknown = await outcome.then(
      (state) => assert.fail(JSON.stringify(state)),
      (reason) => reason,
    );
    assert.equal((fault as Error).constructor, kinds[expected as keyof typeof kinds], String(fault));
    return;
  }
  const state = await outcome;
  if (expected === 'unknown') assert.equal(state.outcome, 'unknown', JSON.stringify(state));
  else
    assert.equal(
      state.outcome === 'rejected' ? state.error.code : state.outcome,
      expected,
      JSON.stringify(state),
    );
}

const binance = (code: number, msg: string, status = 400): Answer => ({ status, body: { code, msg } });
const bybit = (retCode: number, retMsg: string, status = 200): Answer => ({
  status,
  body: { retCode, retMsg, result: {} },
});
const okx = (code: string, words: string, status = 200): Answer => ({
  status,
  body: { code, msg: words, data: [] },
});
const okxRow = (sCode: string, sMsg: string): Answer => ({
  body: { code: '1', msg: 'All operations failed', data: [{ clOrdId: ID, ordId: '', sCode, sMsg }] },
});
const gate = (label: string, message = label, status = 400): Answer => ({ status, body: { label, message } });
const bitget = (code: string, msg: string, status = 400): Answer => ({
  status,
  body: { code, msg, data: null },
});
const page = (status = 200): Answer => ({
  status,
  text: '<!doctype html><html><body>It works!</body></html>',
});

const TABLE: Readonly<Record<ExchangeName, readonly (readonly [Answer, Expected])[]>> = {
  binance: [
    [binance(-2019, 'Margin is insufficient.'), 'insufficient_margin'],
    [binance(-4141, 'Symbol is closed.'), 'market_closed'],
    [binance(-1121, 'Invalid symbol.'), 'invalid_symbol'],
    [binance(-1111, 'Precision is over the maximum defined for this asset.'), 'invalid_quantity'],
    [binance(-4164, "Order's notional must be no smaller than 100"), 'invalid_quantity'],
    [binance(-4061, "Order's position side does not match user's setting."), 'position_mode_mismatch'],
    [binance(-2022, 'ReduceOnly Order is rejected.'), 'no_position'],
    [
      binance(-4131, 'The counterparty’s best price does not meet the PERCENT_PRICE filter limit'),
      'failed_at_broker',
    ],
    [binance(-1010, 'ERROR_MSG_RECEIVED.'), 'unknown'],
    [binance(-4087, 'User can only place reduce only order'), 'failed_at_broker'],
    [binance(-4088, 'User can not place order currently'), 'failed_at_broker'],
    [binance(-4192, 'Trade forbidden due to Cooling-off Period.'), 'failed_at_broker'],
    [binance(-4400, 'Futures Trading Quantitative Rules violated'), 'failed_at_broker'],
    [binance(-4401, 'Compliance restricted: can only place reduceOnly order.'), 'failed_at_broker'],
    [binance(-1008, 'Server is currently overloaded with other requests.', 503), 'busy'],
    [{ status: 503, body: { msg: 'Service Unavailable.' } }, 'busy'],
    // The words of any proxy on the way, which may have passed the order on.
    [{ status: 503, text: 'Service Unavailable.' }, 'unknown'],
    [{ status: 503, text: 'Service Unavailable' }, 'unknown'],
    [{ status: 503, body: { message: 'Service Unavailable' } }, 'unknown'],
    [{ status: 503, text: 'Unknown error, please check your request or try again later.' }, 'unknown'],
    [
      binance(-1007, 'Timeout waiting for response from backend server. Send status unknown.', 408),
      'unknown',
    ],
    [binance(-1000, 'An unknown error occurred while processing the request.', 500), 'unknown'],
    [binance(-1006, 'An unexpected response was received from the message bus.', 500), 'unknown'],
    [binance(-1003, 'Too many requests.', 429), 'busy'],
    [binance(-1003, 'Way too many requests; IP banned.', 418), 'busy'],
    [binance(-1021, 'Timestamp for this request is outside of the recvWindow.'), 'unavailable'],
    [
      binance(-2015, 'Invalid API-key, IP, or permissions for action, request ip: 203.0.113.7'),
      'credentials',
    ],
    [binance(-2014, 'API-key format invalid.', 401), 'credentials'],
  ],
  bybit: [
    [bybit(110007, 'ab not enough for new order'), 'insufficient_margin'],
    [bybit(110066, 'No trading is allowed at the current time'), 'market_closed'],
    [bybit(110063, 'Settlement in progress! BTCUSDT not available for trading.'), 'unavailable'],
    [bybit(10001, 'params error: symbol invalid XUSDT'), 'invalid_symbol'],
    [bybit(10001, 'position idx not match position mode'), 'position_mode_mismatch'],
    [bybit(10001, 'Qty invalid'), 'invalid_quantity'],
    [bybit(110017, 'current position is zero, cannot fix reduce-only order qty'), 'no_position'],
    [bybit(110003, 'Order price is out of permissible range'), 'failed_at_broker'],
    [bybit(110068, 'The tokens you’re trading are not allowed for leveraged users'), 'failed_at_broker'],
    [bybit(110069, 'Do not allow OTC lending users to trade'), 'failed_at_broker'],
    [bybit(10016, 'Internal System Error.'), 'unknown'],
    [bybit(10000, 'Server Timeout'), 'unknown'],
    [bybit(10006, 'Too many visits!'), 'busy'],
    [{ status: 403, text: 'access too frequent' }, 'busy'],
    [page(403), 'unavailable'],
    [
      bybit(10002, 'invalid request, please check your server timestamp or recv_window param.'),
      'unavailable',
    ],
    [bybit(10003, 'API key is invalid.'), 'credentials'],
    [bybit(10010, 'Unmatched IP, please check your API key bound IP addresses.'), 'credentials'],
    [bybit(10005, 'Permission denied, please check your API key permissions.'), 'unfit'],
  ],
  okx: [
    [okxRow('51008', 'Order failed. Insufficient USDT margin in account'), 'insufficient_margin'],
    [okxRow('51022', 'Contract suspended'), 'market_closed'],
    [okxRow('51029', 'Contract is being settled.'), 'market_closed'],
    [okxRow('51030', 'Funding fee is being settled.'), 'unavailable'],
    [okx('50001', 'Service temporarily unavailable. Please try again later.', 503), 'unavailable'],
    [okxRow('51001', "Instrument ID doesn't exist."), 'invalid_symbol'],
    [okxRow('51121', 'Order quantity must be a multiple of the lot size.'), 'invalid_quantity'],
    [okxRow('51000', 'Parameter posSide error'), 'position_mode_mismatch'],
    [okxRow('51169', "You don't have any positions in this contract that can be closed."), 'no_position'],
    [okxRow('51006', 'Order price is not within the price limit'), 'failed_at_broker'],
    [okx('50004', 'API endpoint request timeout', 400), 'unknown'],
    [okx('50013', 'Systems are busy. Please try again later.', 503), 'unknown'],
    [okx('51149', 'Order timed out. Please try again later.', 500), 'unknown'],
    [{ body: { code: '1', msg: 'All operations failed', data: [{ clOrdId: ID, ordId: '' }] } }, 'unknown'],
    [okx('50011', 'Too Many Requests', 429), 'busy'],
    [okx('50061', "You've reached the maximum order rate limit for this account."), 'busy'],
    [{ status: 429, text: '' }, 'busy'],
    [okx('50102', 'Timestamp request expired', 401), 'unavailable'],
    [okxRow('50036', "The expTime can't be earlier than the current system time."), 'unavailable'],
    [okx('50111', 'Invalid OK-ACCESS-KEY', 401), 'credentials'],
    [okx('50119', "API key doesn't exist", 401), 'credentials'],
    [
      okx(
        '50110',
        "Your IP 203.0.113.7 is not included in your API key's script-key-0001 IP whitelist.",
        401,
      ),
      'credentials',
    ],
    [okx('50120', "This API key doesn't have permission to use this function"), 'unfit'],
  ],
  gate: [
    [gate('BALANCE_NOT_ENOUGH'), 'insufficient_margin'],
    [gate('INSUFFICIENT_AVAILABLE'), 'insufficient_margin'],
    [gate('CONTRACT_IN_DELISTING'), 'market_closed'],
    [gate('CONTRACT_NOT_FOUND'), 'invalid_symbol'],
    [gate('SIZE_TOO_LARGE'), 'invalid_quantity'],
    [gate('POSITION_DUAL_MODE'), 'position_mode_mismatch'],
    [gate('REDUCE_EXCEEDED', 'empty position'), 'no_position'],
    [gate('PRICE_TOO_DEVIATED'), 'failed_at_broker'],
    [gate('SERVER_ERROR', 'server error', 500), 'unknown'],
    [gate('TOO_BUSY', 'busy', 503), 'unknown'],
    [gate('TOO_MANY_REQUESTS', 'Request Rate limit Exceeded', 429), 'busy'],
    [gate('REQUEST_EXPIRED', 'gap between request Timestamp and server time exceeds 60', 403), 'unavailable'],
    [gate('INVALID_KEY', 'Invalid key provided', 401), 'credentials'],
    [gate('IP_FORBIDDEN', 'Request IP not in whitelist: 203.0.113.7', 403), 'credentials'],
    [gate('READ_ONLY', 'API key is read-only', 403), 'unfit'],
  ],
  bitget: [
    [bitget('40762', 'The order amount exceeds the balance'), 'insufficient_margin'],
    [bitget('45043', 'Due to settlement or maintenance reasons, the trade is suspended'), 'market_closed'],
    [bitget('40200', 'Server upgrade, please try again later'), 'unavailable'],
    [bitget('40034', 'Parameter XUSDT does not exist'), 'invalid_symbol'],
    [bitget('45110', 'less than the minimum amount 5 USDT'), 'invalid_quantity'],
    [bitget('45111', 'less than the minimum order quantity'), 'invalid_quantity'],
    [
      bitget('40774', 'The order type for unilateral position must also be the unilateral position type.'),
      'position_mode_mismatch',
    ],
    [bitget('22002', 'No position to close'), 'no_position'],
    [bitget('41103', 'param price scale error'), 'failed_at_broker'],
    [bitget('40010', 'Request timed out'), 'unknown'],
    [bitget('40015', 'System is abnormal, please try again later'), 'unknown'],
    [bitget('40725', 'service return an error'), 'unknown'],
    [bitget('429', 'Too Many Requests', 429), 'busy'],
    [bitget('40008', 'Request timestamp expired'), 'unavailable'],
    [bitget('40037', 'Apikey does not exist'), 'credentials'],
    [bitget('40018', 'Invalid IP'), 'credentials'],
    [bitget('40014', 'Incorrect permissions, need contract order write permissions'), 'unfit'],
    [bitget('40085', 'You are in Unified Account mode'), 'unfit'],
  ],
};

/** Whoever says it. */
const ANYBODY: readonly (readonly [string, Answer])[] = [
  ['a page', page()],
  ['a page of a proxy', page(502)],
  ['nothing', { text: '' }],
  ['an empty object', { body: {} }],
  ['an empty list', { body: [] }],
  ['words', { text: 'upstream connect error' }],
];

for (const [name, cases] of Object.entries(TABLE) as [ExchangeName, (typeof TABLE)[ExchangeName]][])
  describe(`an order that ${name} answers`, () => {
    for (const [answer, expected] of cases) {
      const said = answer.text ?? JSON.stringify(answer.body);
      test(`${answer.status ?? 200} ${said.slice(0, 90)}: ${expected}`, () => check(name, answer, expected));
    }
    for (const [what, answer] of ANYBODY) test(`with ${what}: unknown`, () => check(name, answer, 'unknown'));

    test('no word of a refusal shows the key, the signature or an address of the exchange', async () => {
      const words = `bad https://example.com/x?signature=${'ab'.repeat(32)} key script-key-0001 sign=${'cd'.repeat(32)}`;
      const answer = {
        binance: binance(-4131, words),
        bybit: bybit(110003, words),
        okx: okxRow('51006', words),
        gate: gate('PRICE_TOO_DEVIATED', words),
        bitget: bitget('41103', words),
      }[name];
      const state = await (await placed(name, [answer])).outcome;
      assert.equal(state.outcome, 'rejected');
      assert.doesNotMatch(JSON.stringify(state), /script-key|example\.com|abab|cdcd/);
    });

    test('a request that comes too late is expired only where its own deadline has passed', async () => {
      const late = {
        binance: binance(-1021, 'Timestamp for this request is outside of the recvWindow.'),
        bybit: bybit(10002, 'invalid request, please check your server timestamp or recv_window param.'),
        okx: okxRow('50037', 'The order expired.'),
        gate: gate('REQUEST_EXPIRED', 'expired', 403),
        bitget: bitget('40008', 'Request timestamp expired'),
      }[name];
      const soon = { ...late, afterMs: 60 };
      const { outcome } = await placed(name, [soon], { sendBefore: timestamp(Date.now() + 50) });
      const state = await outcome;
      assert.equal(state.outcome === 'rejected' ? state.error.code : state.outcome, 'expired');
      await assert.rejects((await placed(name, [late])).outcome, /clock/);
    });

    test('an order that must be there before now is not sent', async () => {
      const { outcome, asked } = await placed(name, [], { sendBefore: timestamp(Date.now() - 1) });
      const state = await outcome;
      assert.equal(state.outcome === 'rejected' ? state.error.code : state.outcome, 'expired');
      assert.equal(asked.length, 0);
    });

    test('nobody’s commission stands on an order', async () => {
      const { outcome, asked } = await placed(name, [page()]);
      await outcome;
      const sent = asked.at(-1);
      for (const mark of ['referer', 'x-gate-channel-id', 'x-channel-api-code'])
        assert.equal(sent?.headers.get(mark), null);
      assert.doesNotMatch(sent?.body ?? '', /"tag"|x-xcKt|ccxt/i);
      assert.match(sent?.body ?? '', new RegExp(ID));
    });
  });

test('an id that is refused as used is looked for: the order under it is ours', async () => {
  const order = {
    orderId: 283194212,
    symbol: 'BTCUSDT',
    status: 'FILLED',
    clientOrderId: ID,
    avgPrice: '50000.10',
    origQty: '0.010',
    executedQty: '0.010',
    cumQuote: '500.001',
    side: 'BUY',
    reduceOnly: false,
  };
  const twice = binance(-4116, 'ClientOrderId is duplicated.');
  const found = await (await placed('binance', [twice, { body: order }])).outcome;
  assert.deepEqual(found, {
    outcome: 'accepted',
    state: {
      brokerRef: '283194212',
      status: 'filled',
      fillQuantity: '0.01',
      fillPrice: '50000.1',
      fee: null,
      reason: null,
    },
  });
  const other = { ...order, clientOrderId: 'somebody-elses' };
  assert.equal((await (await placed('binance', [twice, { body: other }])).outcome).outcome, 'unknown');
  assert.equal((await (await placed('binance', [{ body: other }])).outcome).outcome, 'unknown');
});

test('the delay of a refusal is in each one’s own spelling', async () => {
  const soon = Date.now() + 60_000;
  /** `null`: until that moment. */
  const cases: readonly (readonly [ExchangeName, Answer, number | null])[] = [
    ['binance', { ...binance(-1003, 'Too many requests.', 429), headers: { 'retry-after': '5' } }, 5_000],
    [
      'bybit',
      { ...bybit(10006, 'Too many visits!'), headers: { 'x-bapi-limit-reset-timestamp': `${soon}` } },
      null,
    ],
    ['bybit', { status: 403, text: 'access too frequent' }, 600_000],
    [
      'gate',
      {
        ...gate('TOO_MANY_REQUESTS', 'slow', 429),
        headers: { 'x-gate-ratelimit-reset-timestamp': `${Math.ceil(soon / 1000)}` },
      },
      null,
    ],
    ['okx', okx('50011', 'Too Many Requests', 429), 1_000],
    ['bitget', bitget('429', 'Too Many Requests', 429), 1_000],
  ];
  for (const [name, answer, ms] of cases) {
    const fault: unknown = await (await placed(name, [answer])).outcome.catch((reason: unknown) => reason);
    assert.ok(fault instanceof BrokerBusy, name);
    const late = ms === null ? Date.now() + fault.retryAfterMs - soon : fault.retryAfterMs - ms;
    assert.ok(Math.abs(late) <= 1_000, `${name}: ${fault.retryAfterMs}`);
  }
});

test('a refusal for the rate says whom it means: the account, or all who ask from here', async () => {
  const cases: readonly (readonly [ExchangeName, Answer, BrokerBusy['scope']])[] = [
    ['binance', binance(-1003, 'Too many requests.', 429), 'address'],
    ['binance', binance(-1003, 'Way too many requests; IP banned.', 418), 'address'],
    ['binance', binance(-1015, 'Too many new orders.', 429), 'account'],
    ['binance', binance(-1015, 'Too many new orders.', 418), 'address'],
    ['bybit', bybit(10006, 'Too many visits!'), 'account'],
    ['bybit', bybit(10018, 'Exceeded the IP Rate Limit.'), 'address'],
    ['bybit', { status: 403, text: 'access too frequent' }, 'address'],
    ['okx', okx('50011', 'Too Many Requests', 429), 'account'],
    ['okx', okx('50061', "You've reached the maximum order rate limit for this account."), 'account'],
    ['okx', { status: 429, text: '' }, 'address'],
    ['gate', gate('TOO_MANY_REQUESTS', 'Request Rate limit Exceeded', 429), 'account'],
    ['gate', { status: 429, text: '' }, 'address'],
    ['bitget', bitget('429', 'Too Many Requests', 429), 'account'],
    ['bitget', page(429), 'address'],
  ];
  for (const [name, answer, scope] of cases) {
    const fault: unknown = await (await placed(name, [answer])).outcome.catch((reason: unknown) => reason);
    assert.ok(fault instanceof BrokerBusy, name);
    assert.equal(fault.scope, scope, `${name}: ${fault.message}`);
  }
});

test('what anybody may ask is limited by address, whoever it was asked for, and each question by itself', async () => {
  const { broker } = await scriptedExchange('okx', [okx('50011', 'Too Many Requests', 429)]);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  await assert.rejects(
    broker.quote(instrument, NO_HURRY),
    (fault) => fault instanceof BrokerBusy && fault.scope === 'question',
  );
});

test('what takes nothing for a moment says so in its own words', async () => {
  const settled = okxRow('51030', 'Funding fee is being settled.');
  await assert.rejects((await placed('okx', [settled])).outcome, {
    message: 'OKX cannot be used now: Funding fee is being settled (51030).',
  });
});

test('the address that is to be allowed is told where the exchange names it', async () => {
  const words = "Your IP 203.0.113.7 is not included in your API key's script-key-0001 IP whitelist.";
  await assert.rejects((await placed('okx', [okx('50110', words, 401)])).outcome, (fault: Error) => {
    assert.match(fault.message, /allow 203\.0\.113\.7/);
    assert.doesNotMatch(fault.message, /script-key/);
    return true;
  });
});

test('an addition goes to the position in its own margin mode, however long ago that was read', async () => {
  const row = { total: '0.5', holdSide: 'long', posMode: 'one_way_mode', openPriceAvg: '100' };
  const cases: readonly (readonly [ExchangeName, Answer, RegExp])[] = [
    [
      'okx',
      {
        body: {
          code: '0',
          data: [
            {
              instType: 'SWAP',
              instId: 'BTC-USDT-SWAP',
              pos: '5',
              posSide: 'net',
              mgnMode: 'isolated',
              avgPx: '100',
            },
          ],
        },
      },
      /"tdMode":"isolated"/,
    ],
    [
      'bitget',
      { body: { code: '00000', data: [{ ...row, symbol: 'BTCUSDT', marginMode: 'isolated' }] } },
      /"marginMode":"isolated"/,
    ],
  ];
  for (const [name, held, words] of cases) {
    const { outcome, asked } = await placed(name, [page()], {}, held);
    assert.equal((await outcome).outcome, 'unknown');
    assert.match(asked.at(-1)?.body ?? '', words);
  }
});

test('an order whose deadline passes while its position is read is not sent', async () => {
  for (const [name, flat] of Object.entries(FLAT) as [ExchangeName, Answer][]) {
    const more = { sendBefore: timestamp(Date.now() + 400) };
    const { outcome, asked } = await placed(name, [page()], more, { ...flat, afterMs: 450 });
    const state = await outcome;
    assert.equal(state.outcome === 'rejected' ? state.error.code : state.outcome, 'expired');
    assert.ok(asked.every(({ method }) => method === 'GET'));
  }
});

test('a market with a side for each direction is hedged, though nothing is held on either', async () => {
  const row = { symbol: 'BTCUSDT', size: '0', side: '', avgPrice: '0' };
  const list = [
    { ...row, positionIdx: 1 },
    { ...row, positionIdx: 2 },
  ];
  const { broker } = await scriptedExchange('bybit', [{ body: { retCode: 0, result: { list } } }]);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  await assert.rejects(broker.position(instrument, NO_HURRY), AccountUnfit);
});
