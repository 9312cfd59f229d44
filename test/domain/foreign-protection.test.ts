// Stops, targets and trailing stops in messages that were written for others, in our words.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isProtectionField } from '../../src/domain/protection/wish.ts';
import { recogniseForeign, renderMessage } from '../../src/domain/signals/foreign-messages.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';

type Fields = Record<string, unknown>;

function turned(message: object | string) {
  const found = recogniseForeign(typeof message === 'string' ? message : JSON.stringify(message));
  assert.ok(found, `not recognised: ${JSON.stringify(message)}`);
  const names = found.lost.map((line) => /^"([^"]+)"/.exec(line)?.[1] ?? line);
  return { ...found, names };
}

/** Beside `order` nothing but this. */
function check(message: object | string, order: Fields, protection: Fields, lost: readonly string[]): void {
  const { fields, names } = turned(message);
  assert.deepEqual(fields, { timestamp: '{{timenow}}', ...order, ...protection });
  assert.deepEqual(names.toSorted(), [...lost].toSorted());
}

type Row = readonly [what: string, said: Fields | string, ours: Fields, lost: readonly string[]];

describe('A message written for TradersPost', () => {
  const order = { symbol: 'AMD', action: 'buy', quantity: 1 };
  // biome-ignore format: a table, one case a line
  const ROWS: readonly Row[] = [
    ['a stop at a price', { stopLoss: { type: 'stop', stopPrice: 90 } }, { stop_loss: 90 }, []],
    ['a stop in percent', { stopLoss: { percent: '5' } }, { stop_loss: '5%' }, []],
    ['a stop by an amount of the price', { stopLoss: { amount: 10.5 } }, { stop_loss: '10.5p' }, []],
    ['a trailing stop in percent', { stopLoss: { type: 'trailing_stop', trailPercent: 5 } }, { trailing_stop: '5%' }, []],
    ['a trailing stop by an amount', { stopLoss: { trailAmount: '2' } }, { trailing_stop: '2p' }, []],
    ['a target at a price', { takeProfit: { limitPrice: 120.12 } }, { take_profit: 120.12 }, []],
    ['a target in percent', { takeProfit: { percent: 10 } }, { take_profit: '10%' }, []],
    ['a target by an amount', { takeProfit: { amount: 3 } }, { take_profit: '3p' }, []],
    ['both', { stopLoss: { percent: 5 }, takeProfit: { percent: 10 } }, { stop_loss: '5%', take_profit: '10%' }, []],
    ['placeholders', { stopLoss: { stopPrice: '{{plot("SL")}}' }, takeProfit: { percent: '{{plot_1}}' } }, { stop_loss: '{{plot("SL")}}', take_profit: '{{plot_1}}%' }, []],
    ['none', { stopLoss: null, takeProfit: {} }, {}, []],
    ['a stop with a limit', { stopLoss: { type: 'stop_limit', stopPrice: 90, limitPrice: 89 } }, { stop_loss: 90 }, ['stopLoss']],
    ['a stop that says it twice', { stopLoss: { percent: 5, stopPrice: 90 } }, {}, ['stopLoss']],
    ['a stop that is two', { stopLoss: { percent: 5, trailPercent: 5 } }, {}, ['stopLoss']],
    ['a kind without its value', { stopLoss: { type: 'trailing_stop', percent: 5 } }, {}, ['stopLoss']],
    ['a kind that contradicts', { stopLoss: { type: 'stop', trailPercent: 5 } }, {}, ['stopLoss']],
    ['a kind alone', { stopLoss: { type: 'stop' } }, {}, ['stopLoss']],
    ['a stop at nothing', { stopLoss: { percent: 0 } }, {}, ['stopLoss']],
    ['a stop by what it may lose', { stopLoss: { pnlAmount: 100 } }, {}, ['stopLoss', 'pnlAmount']],
    ['a target by what it may win', { takeProfit: { pnlAmount: 100 } }, {}, ['takeProfit', 'pnlAmount']],
    ['a target that is no number', { takeProfit: { percent: 'far' } }, {}, ['takeProfit']],
    ['what else it says', { takeProfit: { percent: 10, strategy: 'x' } }, { take_profit: '10%' }, ['strategy']],
  ];
  for (const [what, said, ours, lost] of ROWS)
    test(what, () =>
      check({ ticker: 'AMD', action: 'buy', quantity: 1, ...(said as Fields) }, order, ours, [
        'action',
        ...lost,
      ]),
    );

  test('of an exit leaves it out, and says so', () => {
    const said = { ticker: 'AMD', action: 'exit', stopLoss: { percent: 5 }, takeProfit: { percent: 5 } };
    check(said, { symbol: 'AMD', action: 'close' }, {}, ['stopLoss', 'takeProfit']);
    assert.match(turned(said).lost.join(), /an exit is not protected/);
  });

  test('of a strategy keeps it, since it may be an entry', () => {
    const { fields } = turned({
      ticker: '{{ticker}}',
      action: '{{strategy.order.action}}',
      sentiment: '{{strategy.market_position}}',
      quantity: '{{strategy.order.contracts}}',
      stopLoss: { percent: 5 },
    });
    assert.equal(fields.stop_loss, '5%');
  });

  test('is not turned where a stop is no object: nobody knows what it means', () => {
    const { fields, lost } = turned({ ticker: 'AMD', action: 'buy', quantity: 1, stopLoss: '5' });
    assert.deepEqual(fields, {});
    assert.equal(lost[0], '"stopLoss" is not as TradersPost writes it.');
  });

  test('that cannot be turned names them with ours', () => {
    const { fields, lost } = turned({ ticker: 'AMD', action: 'buy', stopLoss: { percent: 5 } });
    assert.deepEqual(fields, {});
    assert.match(lost.join('\n'), /"stopLoss": Send "stop_loss": a price/);
  });
});

describe('A message written for CrossTrade', () => {
  const place = (action: string, more: string) =>
    `key=k;command=PLACE;account=a;instrument=ES1!;action=${action};qty=1;order_type=MARKET;tif=DAY;${more}`;
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [action: string, said: string, ours: Fields, lost: readonly string[]])[] = [
    ['BUY', 'take_profit=5349.25;stop_loss=5200;', { take_profit: 5349.25, stop_loss: 5200 }, []],
    ['BUY', 'take_profit=5%;stop_loss=-25 ticks;', { take_profit: '5%', stop_loss: '25t' }, []],
    ['BUY', 'take_profit=+5.25 %;stop_loss=-1tick;', { take_profit: '5.25%', stop_loss: '1t' }, []],
    ['SELL', 'take_profit=-15 points;stop_loss=7.5 ticks;', { take_profit: '15p', stop_loss: '7.5t' }, []],
    ['BUY', 'stop_loss={{plot("SL")}};', { stop_loss: '{{plot("SL")}}' }, []],
    ['BUY', 'stop_loss=25 ticks;', {}, ['stop_loss']],
    ['SELL', 'stop_loss=-25 ticks;take_profit=5%;', {}, ['stop_loss', 'take_profit']],
    ['{{strategy.order.action}}', 'stop_loss=-25 ticks;take_profit=5400;', { take_profit: 5400 }, ['stop_loss']],
    ['BUY', 'stop_loss=250 dollars;take_profit=$100;', {}, ['stop_loss', 'take_profit']],
    ['BUY', 'stop_loss=0%;take_profit=soon;', {}, ['stop_loss', 'take_profit']],
    ['BUY', 'stop_loss={{plot_0}} ticks;', {}, ['stop_loss']],
    ['BUY', 'stop_loss_limit=5200;', {}, ['stop_loss_limit']],
  ];
  for (const [action, said, ours, lost] of ROWS)
    test(`${action}: ${said}`, () => {
      const side = action.startsWith('{{') ? action : action.toLowerCase();
      const order = { symbol: 'ES1!', action: side, quantity: 1 };
      check(place(action, said), order, ours, lost);
    });

  test('that closes leaves it out', () => {
    check(
      'key=k;command=FLATTEN;account=a;instrument=ES1!;stop_loss=1;',
      { symbol: 'ES1!', action: 'close' },
      {},
      ['stop_loss'],
    );
  });
});

describe('An order as Alpaca takes it', () => {
  const order = { symbol: 'AAPL', qty: '10', side: 'buy', type: 'market', time_in_force: 'gtc' };
  const ours = { symbol: 'AAPL', action: 'buy', quantity: 10 };
  const protect = { symbol: 'AAPL', action: 'protect' };
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [what: string, said: Fields, ours: Fields, lost: readonly string[]])[] = [
    ['a bracket', { order_class: 'bracket', take_profit: { limit_price: '301' }, stop_loss: { stop_price: '299' } }, { ...ours, stop_loss: 299, take_profit: 301 }, []],
    ['one that triggers a stop', { order_class: 'oto', stop_loss: { stop_price: 299.5 } }, { ...ours, stop_loss: 299.5 }, []],
    ['a bracket of a short', { side: 'sell', order_class: 'bracket', stop_loss: { stop_price: 310 } }, { ...ours, action: 'sell', stop_loss: 310 }, []],
    ['a stop with a limit', { order_class: 'bracket', stop_loss: { stop_price: 299, limit_price: 298.5 } }, { ...ours, stop_loss: 299 }, ['stop_loss']],
    ['a bracket on a limit', { type: 'limit', limit_price: '300', order_class: 'bracket', stop_loss: { stop_price: '299' } }, { ...ours, limit_price: 300, time_in_force: 'gtc', stop_loss: 299 }, []],
    ['a bracket without a price', { order_class: 'bracket', stop_loss: { stop_price: 'x' } }, { ...ours }, ['stop_loss']],
    ['a trailing stop in percent', { side: 'sell', type: 'trailing_stop', trail_percent: '3' }, { ...protect, trailing_stop: '3%' }, ['qty']],
    ['a trailing stop in dollars', { side: 'sell', type: 'trailing_stop', trail_price: 6.15 }, { ...protect, trailing_stop: '6.15p' }, ['qty']],
    ['an amount of money', { notional: '100.5', qty: undefined }, { symbol: 'AAPL', action: 'long_entry', quantity: 100.5, quantity_type: 'cash' }, ['side']],
    ['a sale for an amount of money', { notional: 100, qty: undefined, side: 'sell' }, { symbol: 'AAPL', action: 'long_exit', quantity: 100, quantity_type: 'cash' }, []],
    ['a pair that closes', { side: 'sell', type: 'limit', order_class: 'oco', take_profit: { limit_price: 301 }, stop_loss: { stop_price: 299 } }, { ...protect, stop_loss: 299, take_profit: 301 }, ['qty']],
  ];
  for (const [what, said, fields, lost] of ROWS)
    test(what, () => check({ ...order, ...said }, fields, {}, lost));

  // biome-ignore format: a table, one case a line
  const UNCLEAR: readonly (readonly [what: string, said: Fields, lost: readonly string[]])[] = [
    ['a plain order, which may open or close', {}, ['side']],
    ['two amounts', { notional: '100', order_class: 'bracket' }, ['notional']],
    ['an amount of money that may open or close', { notional: '100', qty: undefined, side: '{{strategy.order.action}}' }, ['side']],
    ['an amount of money that is none', { notional: 'all', qty: undefined }, ['notional']],
    ['no amount', { qty: undefined, order_class: 'bracket' }, ['qty']],
    ['a trailing stop of two distances', { type: 'trailing_stop', trail_price: 1, trail_percent: 1 }, ['qty', 'trail_percent']],
  ];
  for (const [what, said, lost] of UNCLEAR)
    test(`is not turned of ${what}`, () => {
      const { service, fields, names } = turned({ ...order, ...said });
      assert.deepEqual([service, fields], ['Alpaca', {}]);
      for (const name of lost) assert.ok(names.includes(name), names.join());
    });

  test('is recognised by what every order there has', () => {
    assert.equal(
      recogniseForeign(JSON.stringify({ symbol: 'BTCUSDT', side: 'Buy', orderType: 'Market', qty: '1' })),
      null,
    );
  });
});

describe('A script’s own exits beside our fields', () => {
  const order = { action: 'buy', symbol: 'ES1!', quantity: 2, id: 'Long', price: 5000.25 };
  // biome-ignore format: a table, one case a line
  const ROWS: readonly Row[] = [
    ['loss and profit are ticks', { loss: 20, profit: '40' }, { stop_loss: '20t', take_profit: '40t' }, []],
    ['a placeholder', { loss: '{{plot("ticks")}}' }, { stop_loss: '{{plot("ticks")}}t' }, []],
    ['a trailing stop once it is in profit', { trail_points: 10, trail_offset: 5 }, { trailing_stop: { distance: '5t', activate_at: '10t' } }, []],
    ['a trailing stop from a price', { trail_price: 5100, trail_offset: 5 }, { trailing_stop: { distance: '5t', activate_at: 5100 } }, []],
    ['half of a trailing stop', { trail_points: 10 }, {}, ['trail_offset']],
    ['the other half', { loss: 20, trail_offset: 10 }, { stop_loss: '20t' }, ['trail_offset']],
    ['what is no number', { loss: 'NaN', profit: 0 }, {}, ['loss', 'profit']],
    ['ours beside it', { stop_loss: '1%', loss: 20, profit: 40 }, { stop_loss: '1%', take_profit: '40t' }, ['loss']],
    ['ours, where it says something else', { time_stop: '3600', profit: 40 }, { time_stop: '3600', take_profit: '40t' }, []],
  ];
  for (const [what, said, ours, lost] of ROWS)
    test(what, () => {
      check({ ...order, ...(said as Fields), secret: 'mine' }, order, ours, lost);
    });

  test('of an exit are left out', () => {
    const said = {
      action: 'sell',
      symbol: 'ES1!',
      quantity: 1,
      order_type: 'exit',
      profit: 12.5,
      timestamp: '2026-11-15T10:00:00Z',
    };
    const { profit: _, ...exit } = said;
    check(said, exit, {}, ['profit']);
  });

  test('are no other message without them', () => {
    assert.equal(recogniseForeign(JSON.stringify(order)), null);
  });
});

test('PineConnector’s stay lost: what they count is a setting of the terminal', () => {
  const { fields, lost } = turned('60123456789,sell,GBPJPY,sl=50,tp=100,risk=1');
  assert.deepEqual(fields, {});
  assert.match(lost.join('\n'), /"sl": what it counts is a setting of the terminal\. Send "stop_loss": /);
  assert.match(lost.join('\n'), /"tp": what it counts is a setting of the terminal\. Send "take_profit": /);
});

describe('A message written for 3Commas', () => {
  const bot = {
    ...{ bot_uuid: 'u', tv_instrument: 'BTCUSDT', action: 'enter_short' },
    order: { amount: '1', currency_type: 'base' },
  };
  const order = { symbol: 'BTCUSDT', action: 'short_entry', quantity: 1 };
  const step = (price_percent: unknown, volume_percent: unknown, more: Fields = {}) => ({
    ...{ order_type: 'limit', price_percent, volume_percent, ...more },
  });
  const stop = (more: Fields) => ({ stop_loss: { enabled: true, order_type: 'market', ...more } });
  const targets = (...steps: unknown[]) => ({ take_profit: { enabled: true, steps } });
  // biome-ignore format: a table, one case a line
  const ROWS: readonly Row[] = [
    ['a stop in percent', stop({ trigger_price_percent: 1.5 }), { stop_loss: '1.5%' }, []],
    ['a stop in a placeholder', stop({ trigger_price_percent: '{{plot("SL")}}' }), { stop_loss: '{{plot("SL")}}%' }, []],
    ['a stop that is off', { stop_loss: { enabled: false, trigger_price_percent: 1 }, take_profit: { enabled: false, steps: [] } }, {}, []],
    ['a stop of the bot’s own settings', stop({}), {}, ['stop_loss']],
    ['a stop with a limit', stop({ order_type: 'limit', trigger_price_percent: 1, price_percent: 1.2 }), { stop_loss: '1%' }, ['stop_loss', 'price_percent']],
    ['a stop that trails', stop({ trigger_price_percent: 2, trailing: { enabled: true, percent: 0.5 } }), { stop_loss: '2%' }, ['trailing']],
    ['a stop that does not trail', stop({ trigger_price_percent: 2, trailing: { enabled: false, percent: 0.5 }, breakeven: false }), { stop_loss: '2%' }, []],
    ['a stop that goes to break-even', stop({ trigger_price_percent: 2, breakeven: true }), { stop_loss: '2%' }, ['breakeven']],
    ['a stop on a side that is not certain', stop({ trigger_price_percent: -2 }), {}, ['stop_loss']],
    ['one target', targets(step(2, 100)), { take_profit: '2%' }, []],
    ['two targets', targets(step('2', '60'), step(4, 40)), { take_profit: [{ at: '2%', percent: 60 }, { at: '4%', percent: 40 }] }, []],
    ['a target at the market', targets(step(2, 100, { order_type: 'market' })), { take_profit: '2%' }, ['take_profit']],
    ['a target that trails', targets(step(2, 100, { trailing: { enabled: true, percent: 0.2 } })), { take_profit: '2%' }, ['trailing']],
    ['a target of no share', targets(step(2, 50), step(4, undefined)), {}, ['take_profit']],
    ['six targets', targets(...Array.from({ length: 6 }, (_, at) => step(at + 1, 10))), {}, ['take_profit']],
    ['targets that are no list', { take_profit: { steps: { price_percent: 1 } } }, {}, ['take_profit']],
    ['what else it says', stop({ trigger_price_percent: 1, condition: 'x' }), { stop_loss: '1%' }, ['condition']],
  ];
  for (const [what, said, ours, lost] of ROWS)
    test(what, () => check({ ...bot, ...(said as Fields) }, order, ours, lost));

  test('of an exit leaves it out, and says so', () => {
    const exit = { ...bot, action: 'exit_short', ...stop({ trigger_price_percent: 1 }) };
    check(exit, { ...order, action: 'short_exit' }, {}, ['stop_loss']);
  });

  test('that leaves the size to the bot names its stop with ours', () => {
    const { fields, lost } = turned({ ...bot, order: {}, ...stop({ trigger_price_percent: 1 }) });
    assert.deepEqual(fields, {});
    assert.match(lost.join('\n'), /"stop_loss": Send "stop_loss"/);
  });

  test('whose targets close more than there is is not turned', () => {
    const { fields, lost } = turned({ ...bot, ...targets(step(1, 60), step(2, 60)) });
    assert.deepEqual(fields, {});
    assert.match(lost[0] ?? '', /closes 120 percent/);
  });
});

describe('A stop order of OpenAlgo’s', () => {
  const order = { apikey: 'k', strategy: 's', exchange: 'NSE', symbol: 'SBIN', product: 'MIS' };
  const protect = { symbol: 'SBIN', action: 'protect' };
  // biome-ignore format: a table, one case a line
  const ROWS: readonly Row[] = [
    ['closes at the market', { action: 'SELL', quantity: '100', pricetype: 'SL-M', trigger_price: '615' }, { stop_loss: 615 }, ['pricetype']],
    ['of a short', { action: 'BUY', quantity: 1, pricetype: 'SL-M', price: '0', trigger_price: 640.5 }, { stop_loss: 640.5 }, ['pricetype']],
    ['has a limit, which is lost', { action: 'SELL', quantity: 1, pricetype: 'SL', price: '614', trigger_price: '615' }, { stop_loss: 615 }, ['pricetype', 'price']],
    ['has a placeholder', { action: 'SELL', quantity: 1, pricetype: 'SL-M', trigger_price: '{{plot("SL")}}' }, { stop_loss: '{{plot("SL")}}' }, ['pricetype']],
  ];
  for (const [what, said, ours, lost] of ROWS)
    test(`${what}: it is the stop of what is held, and never an order`, () =>
      check({ ...order, ...(said as Fields) }, protect, ours, lost));

  // biome-ignore format: a table, one case a line
  const NOT_TURNED: readonly (readonly [what: string, said: Fields, name: string])[] = [
    ['without a price', { action: 'SELL', quantity: 1, pricetype: 'SL-M', trigger_price: '0' }, 'trigger_price'],
    ['of a smart order', { action: 'SELL', quantity: 1, position_size: '5', pricetype: 'SL-M', trigger_price: '615' }, 'pricetype'],
    ['that stays until it triggers', { trigger_type: 'OCO', action: 'SELL', quantity: 1, triggerprice_sl: 600, stoploss: 599, triggerprice_tg: 700, target: 701 }, 'trigger_type'],
  ];
  for (const [what, said, name] of NOT_TURNED)
    test(`${what} is not turned`, () => {
      const { fields, names } = turned({ ...order, ...said });
      assert.deepEqual(fields, {});
      assert.ok(names.includes(name), names.join());
    });

  test('a stop beside an order at the market is named with ours', () => {
    const { lost } = turned({ ...order, action: 'BUY', quantity: '1', stoploss: '5' });
    assert.match(lost.join('\n'), /"stoploss": Send "stop_loss"/);
  });
});

test('an order that waits for its price is turned into none that trades at once', () => {
  // biome-ignore format: a table, one case a line
  const WAITING: readonly (readonly [name: string, message: object | string])[] = [
    ['orderType', { ticker: 'AMD', action: 'exit', orderType: 'stop', stopPrice: 90 }],
    ['orderType', { ticker: 'AMD', action: 'sell', sentiment: 'flat', quantity: 1, orderType: 'stop_limit', stopPrice: 90, limitPrice: 89 }],
    ['orderType', { ticker: 'AMD', action: 'sell', quantity: 1, orderType: 'trailing_stop', trailPercent: 1 }],
  ];
  for (const [name, message] of WAITING) {
    const { fields, lost, names } = turned(message);
    assert.deepEqual([fields, names[0]], [{}, name]);
    assert.match(lost[0] ?? '', /"action": "protect" with "stop_loss"/);
  }
});

test('an entry that waits for its price waits for it here', () => {
  // biome-ignore format: a table, one case a line
  const WAITING: readonly (readonly [message: object | string, prices: Readonly<Record<string, unknown>>])[] = [
    [{ ticker: 'AMD', action: 'sell', quantity: 1, orderType: 'stop', stopPrice: 90 }, { stop_price: 90 }],
    [{ ticker: 'AMD', action: 'sell', quantity: 1, orderType: 'stop_limit', stopPrice: 90, limitPrice: 89, timeInForce: 'gtc' }, { limit_price: 89, stop_price: 90, time_in_force: 'gtc' }],
    ['key=k;command=PLACE;instrument=ES1!;action=SELL;qty=1;order_type=STOPMARKET;stop_price=5200;', { stop_price: 5200 }],
    ['key=k;command=PLACE;instrument=ES1!;action=SELL;qty=1;order_type=STOPLIMIT;stop_price=5200;limit_price=5199;', { limit_price: 5199, stop_price: 5200 }],
    [{ symbol: 'AAPL', side: 'buy', type: 'stop_limit', time_in_force: 'gtc', qty: 1, stop_price: 90, limit_price: 91, order_class: 'bracket' }, { limit_price: 91, stop_price: 90, time_in_force: 'gtc' }],
  ];
  for (const [message, prices] of WAITING) {
    const { fields } = turned(message);
    const names = ['limit_price', 'stop_price', 'time_in_force'];
    const found = Object.entries(fields).filter(([name]) => names.includes(name));
    assert.deepEqual(Object.fromEntries(found), prices);
  }
});

test('the text to paste has what a script draws as the platform knows it', () => {
  const { fields } = turned({
    ticker: 'AMD',
    action: 'buy',
    quantity: 1,
    stopLoss: { stopPrice: '{{plot("SL")}}' },
  });
  assert.equal(
    renderMessage(fields),
    '{ "action": "buy", "symbol": "AMD", "quantity": 1, "stop_loss": "{{plot("SL")}}", "timestamp": "{{timenow}}", "secret": "<your webhook secret>" }',
  );
});

test('whatever is turned is read by our own reader, and nothing of protection is lost without a word', () => {
  const value = fc.oneof(
    fc.constantFrom(
      '{{plot("SL")}}',
      '{{plot_1}}',
      '{{close}}',
      '2',
      '0.5',
      '-1',
      '0',
      'NaN',
      '',
      'x',
      '5%',
      '-25 ticks',
      '3 points',
    ),
    fc.integer({ min: -3, max: 100 }),
    fc.constant(null),
  );
  const inner = fc.dictionary(
    fc.constantFrom(
      'type',
      'stopPrice',
      'limitPrice',
      'percent',
      'amount',
      'trailPercent',
      'trailAmount',
      'stop_price',
      'limit_price',
      'enabled',
      'trigger_price_percent',
    ),
    fc.oneof(value, fc.constantFrom('stop', 'stop_limit', 'trailing_stop')),
    { maxKeys: 4 },
  );
  const field = fc.constantFrom(
    ...[
      'stopLoss',
      'takeProfit',
      'stop_loss',
      'take_profit',
      'loss',
      'profit',
      'trail_points',
      'trail_offset',
    ],
    ...['trail_price', 'trail_percent', 'order_class', 'type', 'sentiment', 'order_type'],
    ...['pricetype', 'trigger_price', 'position_size'],
  );
  const seed = fc.constantFrom<Fields>(
    { ticker: 'AAPL', action: 'buy', quantity: 1 },
    { ticker: 'AAPL', action: 'exit' },
    {
      ticker: 'AAPL',
      action: '{{strategy.order.action}}',
      sentiment: '{{strategy.market_position}}',
      quantity: 2,
    },
    { symbol: 'AAPL', qty: 1, side: 'buy', type: 'market', time_in_force: 'day', order_class: 'bracket' },
    { symbol: 'AAPL', qty: 1, side: 'sell', type: 'trailing_stop', time_in_force: 'day' },
    { symbol: 'ES1!', action: 'buy', quantity: 1, profit: 5 },
    { key: 'k', command: 'PLACE', instrument: 'ES1!', action: 'BUY', qty: '1' },
    {
      ...{ bot_uuid: 'u', tv_instrument: 'ES1!', action: 'enter_long' },
      order: { amount: '1', currency_type: 'base' },
    },
    { apikey: 'k', symbol: 'ES1!', action: 'BUY', quantity: '1' },
  );
  const word = fc.constantFrom('bracket', 'oco', 'flat', 'long', 'exit', 'market', 'SL', 'SL-M');
  const message = fc
    .tuple(seed, fc.dictionary(field, fc.oneof(value, inner, word), { maxKeys: 6 }))
    .map(([base, more]): string => {
      const all: Fields = { ...more, ...base };
      if (!('key' in all)) return JSON.stringify(all);
      return Object.entries(all)
        .map(([name, said]) => `${name}=${typeof said === 'object' ? '' : said};`)
        .join('');
    });
  let protectedOnes = 0;
  fc.assert(
    fc.property(message, (text) => {
      const found = recogniseForeign(text);
      if (found === null) return;
      const rendered = renderMessage(found.fields);
      if (rendered === null) return assert.ok(found.lost.length > 0, text);
      const filled = rendered
        .replaceAll('{{strategy.order.action}}', 'buy')
        .replaceAll('{{strategy.market_position}}', 'long')
        .replaceAll('{{timenow}}', '2026-11-15T10:00:00Z')
        .replaceAll(/\{\{[^{}]*\}\}/g, '7');
      const reading = readSignal(readBody(Buffer.from(filled)), { simulation: false });
      assert.ok('signal' in reading, `${text}\n${rendered}\n${JSON.stringify(reading)}`);
      // An exit has ours beside it as its entry has.
      assert.deepEqual(
        reading.signal.ignored.filter((name) => !isProtectionField(name)),
        [],
      );
      if (reading.signal.protection) protectedOnes++;
      // Each field that asks for something is in what came out, or in what was lost.
      const count = Object.keys(reading.signal.protection ?? {}).length + found.lost.length;
      if (/"(?:stopLoss|takeProfit|loss|profit)":(?:[1-9]|\{"(?:percent|amount)":[1-9])/.test(text))
        assert.ok(count > 0, text);
    }),
    { numRuns: 4_000 },
  );
  assert.ok(protectedOnes > 200, `only ${protectedOnes}`);
});
