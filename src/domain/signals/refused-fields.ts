// Names by which other services ask for what we would not do. Who asked for a stop must not trade without one: such a field
// is refused, with what to send instead. Every other field that we do not know is ignored, and said to be.

const PROTECTION =
  'Orders that protect a position are not placed here: leave the field out and place them at your broker.';
const MARKET_ONLY = 'Orders are market orders: leave the field out; "price" says which price the signal saw.';
const ORDER_KIND =
  'Orders are market orders: leave the field out; whether one enters or exits is said by "order_type".';
const SIZED = 'Send "quantity" in units of the symbol.';
const STANCE =
  'Send "market_position" (long, short or flat) and "market_position_size": where the strategy stands afterwards.';
const EXIT = 'Send "order_type": "exit" for an order that only reduces.';
const CLOSE = 'Send "action": "close" to close the whole position.';
const LEVERAGE = 'Set the leverage at your broker: leave the field out.';

/** Compared without case, `_` and `-`. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  [PROTECTION]: [
    ...['tpsl', 'sltp', 'oco', 'orderclass', 'attachalgoords', 'algoorders', 'atm', 'atmstrategy'],
    ...['placeconditionalorders', 'conditionalorders', 'breakeven', 'movetobreakeven', 'movestoploss'],
    ...['activationprice', 'activateprice', 'activeprice', 'activepx', 'callbackrate', 'callbackratio'],
    ...['callbackspread', 'tpslmode', 'presetstoplossprice', 'presettakeprofitprice'],
    ...['presetstopsurplusprice', 'stopsurplus'],
  ],
  [MARKET_ONLY]: [
    ...['limit', 'limitprice', 'limitpx', 'stopprice', 'triggerprice', 'triggerpx', 'px', 'ordpx'],
    ...['orderprice', 'orderpx', 'postonly'],
  ],
  // Ours is written order_type, and is no kind of order.
  [ORDER_KIND]: ['ordertype', 'ordtype', 'orderkind', 'pricetype'],
  [STANCE]: [
    ...['sentiment', 'targetposition', 'targetpositionsize', 'targetquantity', 'targetqty', 'targetsize'],
    ...['positionsize', 'positionside', 'posside', 'positionidx'],
  ],
  [SIZED]: [
    ...['quantitytype', 'qtytype', 'quantitypercent', 'qtypercent', 'qtypct', 'sizetype', 'amounttype'],
    ...['amountpertrade', 'amountpertradetype', 'currencytype', 'percentofequity', 'percentofbalance'],
    ...['equitypercent', 'balancepercent', 'riskpercent', 'riskpct', 'riskamount', 'notional', 'quoteqty'],
    ...['quoteorderqty', 'dollaramount'],
  ],
  [LEVERAGE]: ['leverage'],
  [EXIT]: ['reduceonly', 'isreduceonly', 'closeonly', 'positioneffect', 'octype'],
  [CLOSE]: ['closeposition', 'closeall', 'closeontrigger', 'flatten', 'flattenfirst', 'reverseposition'],
};

/**
 * A stop, a target or a trailing one, also numbered, and whatever it is given in: takeProfit2, sl_percent, tp1_price,
 * slTriggerPx, trailing-stop-distance. Of plain text: nothing in it is repeated without a bound.
 */
const PROTECTIVE = new RegExp(
  [
    '^(?:use|enable|set|attach|fixed|initial|hard|long|short|entry|new)?',
    '(?:stops?(?:loss(?:es)?)?|sls?|takeprofits?|tps?|(?:profit)?targets?|bracket|trail(?:ing)?(?:stop(?:loss)?|takeprofit|sl|tp)?)',
    '\\d{0,2}',
    '(?:price|px|percent(?:age)?|pct|perc|%|trigger|distance|dist|offset|points?|pips?|ticks?|amount|value|level|type|mode|by|',
    'activation|callback|rate|steps?|qty|quantity|size|ratio|limit|order|ord|kind|enabled|deviation|delta|usd|atr|rr|roi){0,3}',
    '\\d{0,2}$',
  ].join(''),
);

const BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(REFUSED).flatMap(([advice, names]) => names.map((name) => [name, advice] as const)),
);

/** Longer than any name in use. */
const LONGEST = 64;

export function insteadOf(name: string): string | null {
  if (name === 'order_type' || name.length > LONGEST) return null;
  const plain = name.toLowerCase().replaceAll(/[_-]/g, '');
  return BY_NAME.get(plain) ?? (PROTECTIVE.test(plain) ? PROTECTION : null);
}
