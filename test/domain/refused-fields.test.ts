// Who asked for a stop must not trade without one: by whichever name, and in whichever spelling.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { insteadOf } from '../../src/domain/signals/refused-fields.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';

const OWN = {
  action: 'buy',
  symbol: 'BTCUSDT',
  quantity: 1,
  price: 60_000,
  id: 'x',
  timestamp: '2026-07-15T19:00:00Z',
  secret: 'x',
};
const read = (fields: object) =>
  readSignal(readBody(Buffer.from(JSON.stringify({ ...OWN, ...fields }))), { simulation: false });

// biome-ignore format: a table, one kind a line
const KINDS: readonly (readonly [what: string, advice: RegExp, names: readonly string[]])[] = [
  ['a stop', /Send "stop_loss"/, ['sl', 'SL', 'sl1', 'stop', 'stops', 'stopLoss', 'stop-loss', 'STOP_LOSS', 'stopLosses', 'stop_loss_1', 'stop_loss_pct', 'stop_loss_percent', 'stopLossPrice', 'sl_percent', 'sl_pct', 'sl%', 'slPrice', 'slTriggerPx', 'slOrdPx', 'slTriggerPxType', 'slTriggerBy', 'slLimitPrice', 'slOrderType', 'sl_distance', 'sl_pips', 'stop_distance', 'use_stop_loss', 'stop_loss_stop', 'triggerprice_sl']],
  ['a target', /Send "take_profit"/, ['tp', 'tp1', 'TP2', 'tp_3', 'tp1_price', 'tp_1_percent', 'takeProfit', 'takeProfits', 'take_profit_1', 'takeProfitPercent', 'take_profit_trigger_price', 'tpTriggerPx', 'tpOrdPx', 'tpOrderKind', 'target', 'targets', 'target1', 'target_price', 'profit_target', 'triggerprice_tg']],
  ['a trailing stop', /Send "trailing_stop"/, ['trail', 'trailing', 'trailPrice', 'trail_percent', 'trailAmount', 'trailOffset', 'trailingStop', 'trailingStopLoss', 'trailing_stop_percent', 'trailing-stop-distance', 'trailing_take_profit', 'activationPrice', 'activePrice', 'callbackRate', 'callbackRatio']],
  ['a bracket', /Send "(?:stop_loss|break_even)"/, ['bracket', 'oco', 'order_class', 'tpslMode', 'attachAlgoOrds', 'placeConditionalOrders', 'moveToBreakeven']],
  ['another kind of order', /"(?:limit|stop)_price"/, ['orderType', 'OrderType', 'order-type', 'ordType', 'pricetype', 'limit', 'limitPrice', 'stopPrice', 'triggerPrice', 'px', 'postOnly']],
  ['where to stand', /market_position/, ['sentiment', 'target_quantity', 'target_position', 'position_size', 'positionSide', 'posSide', 'positionIdx']],
  ['another size', /"quantity" with "quantity_type": units/, ['quantityType', 'amountPerTradeType', 'currency_type', 'quoteOrderQty', 'risk_percent', 'notional']],
  ['only to reduce', /"order_type": "exit"/, ['reduceOnly', 'reduce_only', 'closeOnly', 'positionEffect']],
  ['to close', /"action": "close"/, ['closePosition', 'close_position', 'closeOnTrigger', 'flatten_first']],
];

describe('A field by which others ask for what we would not do', () => {
  for (const [what, advice, names] of KINDS)
    test(`${what} is refused by every name, with what to send instead`, () => {
      for (const name of names)
        for (const value of [1, 'limit', '0', true, false, { price: 1 }, [{ price: 1 }]]) {
          const reading = read({ [name]: value });
          assert.ok('problem' in reading, name);
          assert.ok(reading.problem.startsWith(`"${name}" is not understood here. `), reading.problem);
          assert.match(reading.problem, advice);
        }
    });

  test('is absent where it is null or empty', () => {
    for (const name of KINDS.flatMap(([, , names]) => names))
      for (const value of [null, '', '  ']) assert.ok('signal' in read({ [name]: value }), name);
  });

  test('our own fields, and what only accompanies an order, are none of them', () => {
    const stance = { market_position: 'long', market_position_size: 1 };
    const before = { prev_market_position: 'flat', prev_market_position_size: 0 };
    assert.ok('signal' in read({ ...stance, ...before }));
    assert.ok('signal' in read({ order_type: 'exit' }));
    for (const name of [...Object.keys({ ...OWN, ...stance, ...before }), 'order_type', 'simulation'])
      assert.equal(insteadOf(name), null, name);
    // biome-ignore format: a list
    for (const name of ['comment', 'exchange', 'ticker', 'interval', 'strategy', 'slope', 'slippage', 'tps_report', 'stopwatch', 'step', 'trailer', 'targeting', 'timeframe', 'close', 'open', 'high', 'volume', 'alert_name', 'slot', 'type', '__proto__', 'constructor'])
      assert.equal(insteadOf(name), null, name);
  });

  test('is looked for in no time, however long a name is', () => {
    for (const part of ['sl', '1', 'price', 'trailingstop', '_'])
      assert.equal(insteadOf(part.repeat(4_000)), null);
  });
});
