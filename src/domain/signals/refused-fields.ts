// Names by which other services ask for what we would not do, or do under another name. Who asked for a stop must not trade without
// one: such a field is refused, with what to send instead. Every other field that we do not know is ignored, and said to be.

const LIMIT =
  'Send "limit_price": an entry fills at this price or better, and rests until then. "price" says which price the signal saw.';
const STOP =
  'Send "stop_price": an entry waits until this price is reached. What protects a position is "stop_loss".';
const POST_ONLY =
  'It is not known here: an entry with "limit_price" may be filled at once. Leave the field out.';
const ORDER_KIND =
  'Its prices say what kind of order it is: without one it is at the market, with "limit_price" a limit, with "stop_price" a stop. ' +
  'Leave the field out; whether one enters or exits is said by "order_type".';
const SIZED =
  'Send "quantity" with "quantity_type": units (of the symbol), cash, percent_of_equity, percent_of_position, risk_cash or risk_percent.';
const STANCE =
  'Send "market_position" (long, short or flat) and "market_position_size": where the strategy stands afterwards.';
const EXIT = 'Send "order_type": "exit" for an order that only reduces.';
const CLOSE = 'Send "action": "close" to close the whole position.';
const LEVERAGE = 'Set the leverage at your broker: leave the field out.';

/** Compared without case, `_` and `-`. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  [LIMIT]: ['limit', 'limitprice', 'limitpx', 'px', 'ordpx', 'orderprice', 'orderpx'],
  [STOP]: ['stopprice', 'triggerprice', 'triggerpx'],
  [POST_ONLY]: ['postonly'],
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

/** What a name is about that asks for protection. */
type Protective = 'stop' | 'target' | 'trail' | 'even' | 'move' | 'all';

const A_LEVEL =
  'a price as a number, or a distance from the entry, as "2%", "20t" (ticks) or "150p" (points)';
/** Ours. */
const INSTEAD: Readonly<Record<Protective, string>> = {
  stop: `Send "stop_loss": ${A_LEVEL}.`,
  target: `Send "take_profit": ${A_LEVEL}.`,
  trail:
    'Send "trailing_stop": a distance, as "1%", "20t" (ticks) or "150p" (points), or {"distance": "1%", "activate_at": "2%"}.',
  even: 'Send "break_even": a level, or "tp1", which is when the first target is filled.',
  move: 'Send "action": "protect" with the new "stop_loss".',
  all: 'Send "stop_loss", "take_profit" and "trailing_stop": they protect the position.',
};
const TIME_STOP =
  'Send "time_stop": seconds after the first fill, or a time of day, as "15:55 America/New_York".';

const PROTECTIVE: Readonly<Record<Protective, readonly string[]>> = {
  stop: ['presetstoplossprice', 'stoplossstop', 'triggerpricesl'],
  target: ['presettakeprofitprice', 'presetstopsurplusprice', 'stopsurplus', 'triggerpricetg'],
  trail: [
    ...['activationprice', 'activateprice', 'activeprice', 'activepx', 'callbackrate', 'callbackratio'],
    'callbackspread',
  ],
  even: ['breakeven', 'movetobreakeven'],
  move: ['movestoploss'],
  all: [
    ...['tpsl', 'sltp', 'oco', 'orderclass', 'attachalgoords', 'algoorders', 'atm', 'atmstrategy'],
    ...['placeconditionalorders', 'conditionalorders', 'tpslmode'],
  ],
};

/**
 * A stop, a target or a trailing one, also numbered, and whatever it is given in: takeProfit2, sl_percent, tp1_price,
 * slTriggerPx, trailing-stop-distance. Of plain text: nothing in it is repeated without a bound.
 */
const PROTECTIVE_NAME = new RegExp(
  [
    '^(?:use|enable|set|attach|fixed|initial|hard|long|short|entry|new)?',
    '(?:(?<stop>stops?(?:loss(?:es)?)?|sls?)|(?<target>takeprofits?|tps?|(?:profit)?targets?)|(?<all>bracket)|',
    '(?<trail>trail(?:ing)?(?:stop(?:loss)?|takeprofit|sl|tp)?))',
    '\\d{0,2}',
    '(?:price|px|percent(?:age)?|pct|perc|%|trigger|distance|dist|offset|points?|pips?|ticks?|amount|value|level|type|mode|by|',
    'activation|callback|rate|steps?|qty|quantity|size|ratio|limit|order|ord|kind|enabled|deviation|delta|usd|atr|rr|roi){0,3}',
    '\\d{0,2}$',
  ].join(''),
);

const byName = <Kind extends string>(
  names: Readonly<Record<Kind, readonly string[]>>,
): ReadonlyMap<string, Kind> =>
  new Map(
    (Object.entries(names) as [Kind, readonly string[]][]).flatMap(([kind, all]) =>
      all.map((name) => [name, kind] as const),
    ),
  );

const BY_NAME = byName(REFUSED);
const PROTECTIVE_BY_NAME = byName(PROTECTIVE);

/** Longer than any name in use. */
const LONGEST = 64;

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** null: the name asks for nothing that we know. */
export function insteadOf(name: string): string | null {
  if (name === 'order_type' || name.length > LONGEST) return null;
  const plain = plainOf(name);
  const refused = BY_NAME.get(plain);
  if (refused !== undefined) return refused;
  if (plain === 'timestop') return TIME_STOP;
  const kind = kindOf(plain);
  return kind && INSTEAD[kind];
}

function kindOf(plain: string): Protective | null {
  const groups = PROTECTIVE_NAME.exec(plain)?.groups;
  const kinds = ['stop', 'target', 'trail', 'all'] as const;
  return PROTECTIVE_BY_NAME.get(plain) ?? kinds.find((kind) => groups?.[kind] !== undefined) ?? null;
}

/** By any name of ours or of others. */
export function asksForProtection(name: string): boolean {
  if (name.length > LONGEST) return false;
  const plain = plainOf(name);
  return (
    plain === 'timestop' || insteadOfPine(name) !== null || (!BY_NAME.has(plain) && kindOf(plain) !== null)
  );
}

/** By which a script's own exits are given, in ticks. Others report what was lost or won: so they are refused of entries only. */
const OF_PINE: Readonly<Record<string, Protective>> = { loss: 'stop', profit: 'target' };

export const insteadOfPine = (name: string): string | null => {
  const kind = Object.hasOwn(OF_PINE, name) ? OF_PINE[name] : undefined;
  return kind === undefined ? null : `${INSTEAD[kind]} Of ticks, as "20t".`;
};
