import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PROTECTION_FIELDS } from '../../src/domain/protection/wish.ts';
import { recogniseForeign, renderMessage } from '../../src/domain/signals/foreign-messages.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';

interface Expected {
  readonly service: string;
  /** Without the timestamp, where the message brought none; null: it cannot be turned. */
  readonly fields: Record<string, unknown> | null;
  /** The names of the fields that `lost` speaks of. */
  readonly lost: readonly string[];
}

const STRATEGY = {
  market_position: '{{strategy.market_position}}',
  market_position_size: '{{strategy.market_position_size}}',
  prev_market_position: '{{strategy.prev_market_position}}',
  prev_market_position_size: '{{strategy.prev_market_position_size}}',
  id: '{{strategy.order.id}}',
};
const ORDER = { action: '{{strategy.order.action}}', quantity: '{{strategy.order.contracts}}' };

function recognised(text: string) {
  const found = recogniseForeign(text);
  assert.ok(found, `not recognised: ${text}`);
  return found;
}

const lostNames = (lost: readonly string[]) => lost.map((line) => /^"([^"]+)"/.exec(line)?.[1] ?? line);

function check(text: string, { service, fields, lost }: Expected): void {
  const found = recognised(text);
  assert.equal(found.service, service);
  assert.deepEqual(found.fields, fields === null ? {} : { timestamp: '{{timenow}}', ...fields });
  assert.deepEqual(lostNames(found.lost).toSorted(), [...lost].toSorted());
}

const json = (fields: object) => JSON.stringify(fields, null, 2);

describe('A message written for TradersPost', () => {
  const service = 'TradersPost';
  const rows: [string, string, Omit<Expected, 'service'>][] = [
    [
      "of a strategy is moved to the strategy's own position",
      `{ "ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "sentiment": "{{strategy.market_position}}",
         "quantity": "{{strategy.order.contracts}}", "price": "{{close}}", "time": "{{timenow}}", "interval": "{{interval}}" }`,
      { fields: { symbol: '{{ticker}}', ...ORDER, ...STRATEGY, price: '{{close}}' }, lost: ['price'] },
    ],
    [
      'also where its placeholders stand without quotes',
      '{"ticker":"{{ticker}}","action":"{{strategy.order.action}}","sentiment":"{{strategy.market_position}}","quantity":{{strategy.order.contracts}},"signalPrice":{{close}}}',
      { fields: { symbol: '{{ticker}}', ...ORDER, ...STRATEGY, price: '{{close}}' }, lost: [] },
    ],
    [
      'of an amount of its own follows only the side',
      json({
        ticker: 'MNQ1!',
        action: '{{strategy.order.action}}',
        sentiment: '{{strategy.market_position}}',
        quantity: 2,
      }),
      {
        fields: {
          symbol: 'MNQ1!',
          action: ORDER.action,
          quantity: 2,
          market_position: STRATEGY.market_position,
        },
        lost: [],
      },
    ],
    [
      'with a stop and a target asks for both',
      json({
        ticker: 'AMD',
        action: 'buy',
        signalPrice: 143.12,
        quantity: 1,
        takeProfit: { percent: 10 },
        stopLoss: { type: 'stop', percent: 5 },
      }),
      {
        fields: {
          ...{ symbol: 'AMD', action: 'buy', quantity: 1, price: 143.12 },
          ...{ stop_loss: '5%', take_profit: '10%' },
        },
        lost: ['action'],
      },
    ],
    [
      'that exits closes, whichever side',
      json({ ticker: 'AAPL', action: 'exit' }),
      { fields: { symbol: 'AAPL', action: 'close' }, lost: [] },
    ],
    [
      'that buys and is flat afterwards closes a short, and only a short',
      json({ ticker: 'AAPL', action: 'buy', sentiment: 'flat' }),
      { fields: { symbol: 'AAPL', action: 'close_short', quantity: 1 }, lost: [] },
    ],
    [
      'that sells a number and is flat afterwards exits so many',
      json({ ticker: 'AAPL', action: 'sell', sentiment: 'flat', quantity: 3 }),
      { fields: { symbol: 'AAPL', action: 'sell', quantity: 3, order_type: 'exit' }, lost: [] },
    ],
    [
      'with a limit waits for it',
      json({
        ticker: 'TSLA',
        action: 'buy',
        orderType: 'limit',
        limitPrice: 120.12,
        quantity: 5,
        sentiment: 'bullish',
      }),
      {
        fields: { symbol: 'TSLA', action: 'buy', quantity: 5, market_position: 'long', limit_price: 120.12 },
        lost: ['action'],
      },
    ],
    [
      'without an amount is not turned',
      json({ ticker: 'TSLA', action: 'buy' }),
      { fields: null, lost: ['quantity'] },
    ],
    [
      'with dollars buys for so much',
      json({ ticker: 'TSLA', action: 'buy', quantityType: 'dollar_amount', quantity: 1000 }),
      {
        fields: { symbol: 'TSLA', action: 'buy', quantity: 1000, quantity_type: 'cash' },
        lost: ['action'],
      },
    ],
    [
      'with a share of the equity, of a strategy, says its side and not its size',
      json({
        ticker: '{{ticker}}',
        action: '{{strategy.order.action}}',
        sentiment: '{{strategy.market_position}}',
        quantityType: 'percent_of_equity',
        quantity: 5,
      }),
      {
        fields: {
          symbol: '{{ticker}}',
          action: '{{strategy.order.action}}',
          quantity: 5,
          quantity_type: 'percent_of_equity',
          market_position: '{{strategy.market_position}}',
        },
        lost: [],
      },
    ],
    [
      'with what is lost at its stop keeps both',
      json({
        ticker: 'TSLA',
        action: 'buy',
        quantityType: 'risk_dollar_amount',
        quantity: 50,
        stopLoss: { type: 'stop', percent: 2 },
      }),
      {
        fields: {
          symbol: 'TSLA',
          action: 'buy',
          quantity: 50,
          quantity_type: 'risk_cash',
          stop_loss: '2%',
        },
        lost: ['action'],
      },
    ],
    [
      'that exits a part of the position exits it',
      json({
        ticker: 'TSLA',
        action: 'sell',
        sentiment: 'flat',
        quantityType: 'percent_of_position',
        quantity: 50,
      }),
      {
        fields: {
          symbol: 'TSLA',
          action: 'sell',
          quantity: 50,
          quantity_type: 'percent_of_position',
          order_type: 'exit',
        },
        lost: [],
      },
    ],
    [
      'with a size that nobody knows is not turned',
      json({ ticker: 'TSLA', action: 'buy', quantityType: 'percent_of_buying_power', quantity: 10 }),
      { fields: null, lost: ['quantityType'] },
    ],
    [
      'that cancels takes back what rests',
      json({ ticker: 'TSLA', action: 'cancel' }),
      { fields: { symbol: 'TSLA', action: 'cancel' }, lost: [] },
    ],
    [
      'that exits a part is not turned: of which side is not said',
      json({ ticker: 'TSLA', action: 'exit', quantity: 2 }),
      { fields: null, lost: ['quantity'] },
    ],
    [
      'for an option is not turned into its underlying',
      json({ ticker: 'SPY', action: 'buy', quantity: 1, optionType: 'call', strikesAway: 1 }),
      { fields: null, lost: ['optionType', 'strikesAway'] },
    ],
    [
      'whose sentiment is no text is not turned',
      json({ ticker: 'SPY', action: 'sell', quantity: 1, sentiment: ['flat'] }),
      { fields: null, lost: ['sentiment', 'action'] },
    ],
  ];
  for (const [name, text, expected] of rows) test(name, () => check(text, { service, ...expected }));
});

describe('A message written for 3Commas', () => {
  const service = '3Commas';
  const bot = { secret: 'eyJhbGciOiJIUzI1NiJ9', bot_uuid: '3f8a', max_lag: '300', timestamp: '{{timenow}}' };
  const custom = {
    ...bot,
    trigger_price: '{{close}}',
    tv_exchange: '{{exchange}}',
    tv_instrument: '{{ticker}}',
  };
  const entry = { symbol: '{{ticker}}', price: '{{close}}' };
  const rows: [string, string, Omit<Expected, 'service'>][] = [
    [
      "of a strategy is moved to the strategy's own position",
      json({
        ...custom,
        action: '{{strategy.order.action}}',
        strategy_info: {
          market_position: '{{strategy.market_position}}',
          market_position_size: '{{strategy.market_position_size}}',
          prev_market_position: '{{strategy.prev_market_position}}',
          prev_market_position_size: '{{strategy.prev_market_position_size}}',
        },
        order: { amount: '{{strategy.order.contracts}}', currency_type: 'base' },
      }),
      { fields: { ...entry, ...ORDER, ...STRATEGY }, lost: ['max_lag'] },
    ],
    [
      'enters a side with an amount of the base currency',
      json({ ...custom, action: 'enter_long', order: { amount: '0.05', currency_type: 'base' } }),
      { fields: { ...entry, action: 'long_entry', quantity: 0.05 }, lost: ['max_lag'] },
    ],
    [
      'with money enters for so much',
      json({ ...custom, action: 'enter_short', order: { amount: '100', currency_type: 'quote' } }),
      {
        fields: { ...entry, action: 'short_entry', quantity: 100, quantity_type: 'cash' },
        lost: ['max_lag'],
      },
    ],
    [
      'of a strategy, with money, says its side alone',
      json({
        ...custom,
        action: '{{strategy.order.action}}',
        strategy_info: {
          market_position: '{{strategy.market_position}}',
          market_position_size: '{{strategy.market_position_size}}',
        },
        order: { amount: '250', currency_type: 'quote' },
      }),
      {
        fields: {
          ...entry,
          action: '{{strategy.order.action}}',
          quantity: 250,
          quantity_type: 'cash',
          market_position: '{{strategy.market_position}}',
          id: '{{strategy.order.id}}',
        },
        lost: ['market_position_size', 'max_lag'],
      },
    ],
    [
      'with a share of the position does not enter',
      json({ ...custom, action: 'enter_long', order: { amount: '50', currency_type: 'position_percent' } }),
      { fields: null, lost: ['currency_type', 'max_lag'] },
    ],
    [
      'with a share of the margin is not turned: what that is only the bot knows',
      json({ ...custom, action: 'enter_long', order: { amount: '50', currency_type: 'margin_percent' } }),
      { fields: null, lost: ['currency_type', 'max_lag'] },
    ],
    [
      'that leaves the size to the bot is not turned',
      json({ ...custom, action: 'enter_long' }),
      { fields: null, lost: ['order', 'max_lag'] },
    ],
    [
      'exits all of a side',
      json({ ...custom, action: 'exit_long', order: { amount: '100', currency_type: 'position_percent' } }),
      { fields: { ...entry, action: 'close_long', quantity: 1 }, lost: ['max_lag'] },
    ],
    [
      'exits an amount of a side',
      json({ ...custom, action: 'exit_short', order: { amount: '2', currency_type: 'base' } }),
      { fields: { ...entry, action: 'short_exit', quantity: 2 }, lost: ['max_lag'] },
    ],
    [
      'exits half',
      json({ ...custom, action: 'exit_short', order: { amount: '50', currency_type: 'position_percent' } }),
      {
        fields: { ...entry, action: 'short_exit', quantity: 50, quantity_type: 'percent_of_position' },
        lost: ['max_lag'],
      },
    ],
    [
      'with a limit, and with a stop and a target that only the bot knows, names them',
      json({
        ...custom,
        action: 'enter_long',
        order: { amount: '1', currency_type: 'base', order_type: 'limit', price: '100' },
        stop_loss: { enabled: true },
        take_profit: { enabled: true },
      }),
      {
        fields: { ...entry, action: 'long_entry', quantity: 1 },
        lost: ['max_lag', 'order_type', 'price', 'stop_loss', 'take_profit'],
      },
    ],
    [
      'that disables the bot is not turned',
      json({ ...custom, action: 'disable' }),
      { fields: null, lost: ['action', 'max_lag'] },
    ],
    [
      "that starts a DCA bot's deal is not turned: only the bot knows its size",
      json({ message_type: 'bot', bot_id: 123456, email_token: 'a-b-c', delay_seconds: 0 }),
      { fields: null, lost: ['bot_id'] },
    ],
    [
      "that closes a DCA bot's deal closes the position",
      json({
        action: 'close_at_market_price',
        message_type: 'bot',
        bot_id: 123456,
        email_token: 'a-b-c',
        delay_seconds: 5,
        pair: 'USDT_BTC',
      }),
      { fields: { action: 'close', symbol: 'BTCUSDT' }, lost: ['bot_id', 'delay_seconds'] },
    ],
    [
      'whose pair is a contract of some kind is not turned',
      json({ action: 'close_at_market_price', bot_id: 1, email_token: 'a', pair: 'USDT_BTCUSDT' }),
      { fields: null, lost: ['pair'] },
    ],
  ];
  for (const [name, text, expected] of rows) test(name, () => check(text, { service, ...expected }));
});

describe('A message written for CrossTrade', () => {
  const service = 'CrossTrade';
  const rows: [string, string, Omit<Expected, 'service'>][] = [
    [
      'places a market order for the same contract',
      'key=your-secret-key;\ncommand=PLACE;\naccount=sim101;\ninstrument=MNQ 06-25;\naction=BUY;\nqty=1;\norder_type=MARKET;\ntif=DAY;',
      { fields: { symbol: 'MNQM2025', action: 'buy', quantity: 1 }, lost: ['instrument'] },
    ],
    [
      'on one line, with a continuous contract',
      'key=k;command=place;account=Sim101;instrument=ES1!;action=sell;qty=2;order_type=market;tif=gtc;',
      { fields: { symbol: 'ES1!', action: 'sell', quantity: 2 }, lost: [] },
    ],
    [
      "that syncs a strategy is moved to the strategy's own position",
      'key=k;command=PLACE;account=sim101;instrument=ES1!;action={{strategy.order.action}};qty={{strategy.order.contracts}};order_type=MARKET;tif=DAY;sync_strategy=true;market_position={{strategy.market_position}};prev_market_position={{strategy.prev_market_position}};out_of_sync=flatten;',
      { fields: { symbol: 'ES1!', ...ORDER, ...STRATEGY }, lost: ['out_of_sync'] },
    ],
    [
      'that flattens first ends at what it places',
      'key=k;command=PLACE;account=sim101;instrument=NQ1!;action=SELL;qty=3;order_type=MARKET;tif=DAY;flatten_first=true;',
      {
        fields: {
          symbol: 'NQ1!',
          action: 'sell',
          quantity: 3,
          market_position: 'short',
          market_position_size: 3,
        },
        lost: [],
      },
    ],
    [
      'with a limit and a bracket has both, and names its delay',
      'key=k;command=PLACE;account=a,b;instrument=NQZ5;action=BUY;qty=1;order_type=LIMIT;limit_price=21000;tif=DAY;take_profit=20;stop_loss=10;delay=5;strategy=atm;',
      {
        fields: {
          ...{ symbol: 'NQZ5', action: 'buy', quantity: 1, limit_price: 21_000, time_in_force: 'day' },
          ...{ stop_loss: 10, take_profit: 20 },
        },
        lost: ['account', 'delay', 'strategy'],
      },
    ],
    [
      'that flattens closes the position',
      'key=k;command=FLATTEN;account=sim101;instrument=ES MAR26;',
      { fields: { symbol: 'ESH2026', action: 'close' }, lost: ['instrument'] },
    ],
    [
      'that closes a part is not turned: of which side is not said',
      'key=k;command=CLOSEPOSITION;account=sim101;instrument=ES1!;qty=1;',
      { fields: null, lost: ['qty'] },
    ],
    [
      'that flattens everything is not turned',
      'key=k;command=FLATTENEVERYTHING;',
      { fields: null, lost: ['command'] },
    ],
    [
      'without an amount is not turned',
      'key=k;command=PLACE;account=sim101;instrument=ES1!;action=BUY;order_type=MARKET;',
      { fields: null, lost: ['qty'] },
    ],
  ];
  for (const [name, text, expected] of rows) test(name, () => check(text, { service, ...expected }));
});

describe('A message written for PineConnector', () => {
  const service = 'PineConnector';
  const rows: [string, string, Omit<Expected, 'service'>][] = [
    [
      'that buys is not turned: what risk means is set elsewhere',
      '60123456789,buy,AUDUSD,risk=0.1',
      { fields: null, lost: ['risk'] },
    ],
    [
      'names its stop and target',
      '60123456789,sell,GBPJPY,sl=50,tp=100,risk=1',
      { fields: null, lost: ['risk', 'sl', 'tp'] },
    ],
    [
      'closes a long',
      '60123456789,closelong,GBPUSD',
      { fields: { symbol: 'GBPUSD', action: 'close_long', quantity: 1 }, lost: [] },
    ],
    [
      'closes a short, with spaces between and a secret',
      '60123456789 , closeshort , US30.Cash , secret=abc',
      { fields: { symbol: 'US30.Cash', action: 'close_short', quantity: 1 }, lost: [] },
    ],
    [
      'of a pending order is not turned',
      '60123456789,buylimit,EURUSD,price=10,risk=1',
      { fields: null, lost: ['command', 'price', 'risk'] },
    ],
    [
      'of a new stop is not turned',
      'LicenseID,newsltplong,EURUSD,sl=20',
      { fields: null, lost: ['command', 'sl'] },
    ],
  ];
  for (const [name, text, expected] of rows) test(name, () => check(text, { service, ...expected }));
});

describe('A message written for OpenAlgo', () => {
  const service = 'OpenAlgo';
  const order = { apikey: 'a1b2', strategy: 'Test', exchange: 'NSE', product: 'MIS', pricetype: 'MARKET' };
  const rows: [string, string, Omit<Expected, 'service'>][] = [
    [
      'places an order',
      json({
        ...order,
        symbol: 'IDEA',
        action: 'BUY',
        quantity: '1',
        price: '0',
        trigger_price: '0',
        disclosed_quantity: '0',
      }),
      { fields: { symbol: 'IDEA', action: 'buy', quantity: 1 }, lost: ['product'] },
    ],
    [
      'places a smart order, which ends at its position',
      json({ ...order, symbol: 'IDEA', action: 'BUY', quantity: '1', position_size: '5' }),
      {
        fields: {
          symbol: 'IDEA',
          action: 'buy',
          quantity: 1,
          market_position: 'long',
          market_position_size: 5,
        },
        lost: ['product'],
      },
    ],
    [
      'places a smart order on the short side',
      json({ ...order, symbol: 'IDEA', action: 'SELL', quantity: 100, position_size: -200 }),
      {
        fields: {
          symbol: 'IDEA',
          action: 'sell',
          quantity: 100,
          market_position: 'short',
          market_position_size: 200,
        },
        lost: ['product'],
      },
    ],
    [
      "of a strategy is moved to the strategy's own position",
      json({
        ...order,
        symbol: '{{ticker}}',
        action: '{{strategy.order.action}}',
        quantity: '{{strategy.order.contracts}}',
        position_size: '{{strategy.position_size}}',
      }),
      { fields: { symbol: '{{ticker}}', ...ORDER, ...STRATEGY }, lost: ['product'] },
    ],
    [
      'whose size has lost its sign is not turned',
      json({
        ...order,
        symbol: '{{ticker}}',
        action: '{{strategy.order.action}}',
        quantity: '{{strategy.order.contracts}}',
        position_size: '{{strategy.market_position_size}}',
      }),
      { fields: null, lost: ['position_size', 'product'] },
    ],
    [
      'squares off',
      json({ ...order, symbol: 'IDEA', action: 'SELL', quantity: '0', position_size: '0' }),
      { fields: { symbol: 'IDEA', action: 'close' }, lost: ['product'] },
    ],
    [
      'that closes or opens, as it comes, is not turned',
      json({ ...order, symbol: 'IDEA', action: 'SELL', quantity: '100', position_size: '0' }),
      { fields: null, lost: ['position_size', 'product'] },
    ],
    [
      'with a limit waits for it',
      json({
        ...order,
        pricetype: 'LIMIT',
        symbol: 'IDEA',
        action: 'BUY',
        quantity: 5,
        price: '16',
        disclosed_quantity: '1',
      }),
      {
        fields: { symbol: 'IDEA', action: 'buy', quantity: 5, limit_price: 16 },
        lost: ['disclosed_quantity', 'product'],
      },
    ],
  ];
  for (const [name, text, expected] of rows) test(name, () => check(text, { service, ...expected }));
});

describe('What is no foreign message', () => {
  for (const [name, text] of [
    [
      'our own',
      json({ action: 'buy', symbol: 'BTCUSDT', quantity: 1, timestamp: '{{timenow}}', secret: 's' }),
    ],
    ['words', 'BTCUSDT crossed 70000, buy'],
    ['nothing', ''],
    ['a list', '[1, 2]'],
    ['a key given twice', '{"ticker":"A","action":"buy","action":"sell","quantity":1}'],
    ['a command given twice', 'key=k;command=PLACE;command=FLATTEN;instrument=ES1!;'],
    ['too long', `{"ticker":"A","action":"exit","extras":"${'x'.repeat(20_000)}"}`],
  ] as const)
    test(`${name} is not recognised`, () => assert.equal(recogniseForeign(text), null));
});

test('the text to paste has numbers without quotes and a place for the secret, and never a foreign one', () => {
  const { fields } = recognised(
    'key=very-secret;command=PLACE;instrument=ES1!;action={{strategy.order.action}};qty={{strategy.order.contracts}};market_position={{strategy.market_position}};',
  );
  assert.equal(
    renderMessage(fields),
    '{ "action": "{{strategy.order.action}}", "symbol": "ES1!", "quantity": {{strategy.order.contracts}}, ' +
      '"market_position": "{{strategy.market_position}}", "market_position_size": {{strategy.market_position_size}}, ' +
      '"prev_market_position": "{{strategy.prev_market_position}}", ' +
      '"prev_market_position_size": {{strategy.prev_market_position_size}}, "id": "{{strategy.order.id}}", ' +
      '"timestamp": "{{timenow}}", "secret": "<your webhook secret>" }',
  );
  assert.equal(renderMessage({}), null);
});

/** As the platform does it: everything that an alert of a strategy knows, of one moment. */
function filledIn(text: string, sizes: readonly [number, number]): string {
  const [before, after] = sizes;
  const side = (size: number) => (size === 0 ? 'flat' : size > 0 ? 'long' : 'short');
  const known: Record<string, string> = {
    'strategy.order.action': after > before ? 'buy' : 'sell',
    'strategy.order.contracts': String(Math.abs(after - before)),
    'strategy.order.id': 'Long',
    'strategy.market_position': side(after),
    'strategy.market_position_size': String(Math.abs(after)),
    'strategy.position_size': String(after),
    'strategy.prev_market_position': side(before),
    'strategy.prev_market_position_size': String(Math.abs(before)),
    ticker: 'BTCUSDT.P',
    exchange: 'BINANCE',
    close: '101.5',
    timenow: '2026-11-15T10:00:00Z',
    time: '2026-11-15T09:00:00Z',
  };
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_, name: string) => known[name] ?? '7');
}

const UNUSED: readonly string[] = [...PROTECTION_FIELDS, 'quantity_type'];

test('whatever a message says, what comes out is accepted by our own reader once the platform filled it in, or nothing comes out', () => {
  const placeholder = fc.constantFrom(
    '{{ticker}}',
    '{{close}}',
    '{{timenow}}',
    '{{time}}',
    '{{plot_0}}',
    '{{exchange}}:{{ticker}}',
    '{{strategy.order.action}}',
    '{{strategy.order.contracts}}',
    '{{strategy.market_position}}',
    '{{strategy.market_position_size}}',
    '{{strategy.position_size}}',
  );
  const word = fc.constantFrom(
    ...[
      'buy',
      'sell',
      'SELL',
      'exit',
      'add',
      'flat',
      'bullish',
      'short',
      'long',
      'enter_long',
      'exit_short',
      'PLACE',
    ],
    ...[
      'FLATTEN',
      'FLATPLACE',
      'base',
      'quote',
      'position_percent',
      'market',
      'limit',
      'true',
      'fixed_quantity',
      'USDT_BTC',
    ],
    ...[
      'ES 03-26',
      'NQ1!',
      'AAPL',
      '100',
      '0',
      '-5',
      '0.25',
      '1e99',
      'NaN',
      'na',
      '',
      'closelong',
      'close_at_market_price',
    ],
    ...['dollar_amount', 'percent_of_equity', 'percent_of_position', 'quote', 'position_percent'],
    ...['__proto__', 'a"b', 'two words'],
  );
  const scalar = fc.oneof(
    placeholder,
    word,
    fc.string({ maxLength: 8 }),
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
  );
  const inner = fc.dictionary(
    fc.constantFrom(
      'amount',
      'currency_type',
      'market_position',
      'market_position_size',
      'prev_market_position',
      'order_type',
    ),
    scalar,
  );
  const field = fc.constantFrom(
    ...[
      'ticker',
      'action',
      'sentiment',
      'quantity',
      'quantityType',
      'price',
      'signalPrice',
      'time',
      'orderType',
      'stopLoss',
    ],
    ...[
      'bot_uuid',
      'bot_id',
      'email_token',
      'tv_instrument',
      'trigger_price',
      'timestamp',
      'order',
      'strategy_info',
      'pair',
    ],
    ...[
      'apikey',
      'symbol',
      'position_size',
      'pricetype',
      'key',
      'command',
      'instrument',
      'qty',
      'flatten_first',
    ],
    ...['market_position', 'prev_market_position'],
  );
  const fields = fc.dictionary(field, fc.oneof({ weight: 6, arbitrary: scalar }, inner), { maxKeys: 12 });
  const seeds = fc.constantFrom<object>(
    { ticker: 'AAPL', action: 'buy', quantity: 1 },
    {
      ticker: '{{ticker}}',
      action: '{{strategy.order.action}}',
      sentiment: '{{strategy.market_position}}',
      quantity: 2,
    },
    {
      bot_uuid: 'u',
      tv_instrument: 'BTCUSDT',
      action: 'enter_long',
      order: { amount: '1', currency_type: 'base' },
    },
    { apikey: 'k', symbol: 'IDEA', action: 'BUY', quantity: '1', position_size: '5' },
    { key: 'k', command: 'PLACE', instrument: 'ES1!', action: 'BUY', qty: '1' },
  );
  const message = fc
    .tuple(seeds, fields, fc.constantFrom('json', 'pairs', 'commas'))
    .map(([seed, more, form]) => {
      const all = { ...seed, ...more };
      if (form === 'json') return JSON.stringify(all);
      const pairs = Object.entries(all).map(
        ([name, value]) => `${name}=${typeof value === 'object' ? '' : value}`,
      );
      return form === 'pairs'
        ? `${pairs.join(';')};`
        : ['60123456789', 'closelong', 'EURUSD', ...pairs].join(',');
    });
  let turned = 0;
  fc.assert(
    fc.property(
      message,
      fc.integer({ min: -3, max: 3 }),
      fc.integer({ min: -3, max: 3 }),
      (text, before, after) => {
        const found = recogniseForeign(text);
        if (found === null || before === after) return;
        const rendered = renderMessage(found.fields);
        if (rendered === null)
          return assert.ok(found.lost.length > 0, 'nothing comes out, and nobody says why');
        turned++;
        const reading = readSignal(readBody(new TextEncoder().encode(filledIn(rendered, [before, after]))), {
          simulation: false,
        });
        assert.ok('signal' in reading, `${text}\n${rendered}\n${JSON.stringify(reading)}`);
        // One template serves entry and exit: what an exit has no use for, it leaves.
        const { ignored, intent } = reading.signal;
        const mayIgnore = intent.operation === 'PLACE_ENTRY_ORDER' ? [] : UNUSED;
        assert.deepEqual(
          ignored.filter((name) => !mayIgnore.includes(name)),
          [],
        );
      },
    ),
    { numRuns: 4000 },
  );
  assert.ok(turned > 200, `only ${turned} were turned`);
});
