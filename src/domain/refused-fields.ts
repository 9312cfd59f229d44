// Names by which other services ask for what we would not do. Who asked for a stop must not trade without one: such a field
// is refused, with what to send instead. Every other field that we do not know is ignored, and said to be.

const PROTECTION =
  'Orders that protect a position are not placed here: leave the field out and place them at your broker.';
const MARKET_ONLY = 'Orders are market orders: leave the field out; "price" says which price the signal saw.';
const SIZED = 'Send "quantity" in units of the symbol.';
const STANCE =
  'Send "market_position" (long, short or flat) and "market_position_size": where the strategy stands afterwards.';
const EXIT = 'Send "order_type": "exit" for an order that only reduces.';

/** Compared without case, `_` and `-`. */
const REFUSED: Readonly<Record<string, string>> = {
  sl: PROTECTION,
  tp: PROTECTION,
  stoploss: PROTECTION,
  takeprofit: PROTECTION,
  stop: PROTECTION,
  trailingstop: PROTECTION,
  trailstop: PROTECTION,
  trailprice: PROTECTION,
  trailpercent: PROTECTION,
  trailoffset: PROTECTION,
  slprice: PROTECTION,
  tpprice: PROTECTION,
  stoplossprice: PROTECTION,
  takeprofitprice: PROTECTION,
  stoplosspercent: PROTECTION,
  takeprofitpercent: PROTECTION,
  limitprice: MARKET_ONLY,
  stopprice: MARKET_ONLY,
  limit: MARKET_ONLY,
  triggerprice: MARKET_ONLY,
  sentiment: STANCE,
  targetposition: STANCE,
  targetquantity: STANCE,
  positionsize: STANCE,
  quantitytype: SIZED,
  qtytype: SIZED,
  quantitypercent: SIZED,
  percentofequity: SIZED,
  riskpercent: SIZED,
  leverage: 'Set the leverage at your broker: leave the field out.',
  reduceonly: EXIT,
  closeonly: EXIT,
};

export const insteadOf = (name: string): string | null => {
  const plain = name.toLowerCase().replaceAll(/[_-]/g, '');
  return Object.hasOwn(REFUSED, plain) ? (REFUSED[plain] ?? null) : null;
};
