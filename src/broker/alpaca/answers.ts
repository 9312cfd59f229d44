// What Alpaca's answers must be to be believed, by its own OpenAPI document. Numbers are texts there; only what is used is
// looked at, and what else an answer has is its own affair.

import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { absolute, compare, type Decimal, decimal, negate, rounded, sign } from '../../domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../domain/ids.ts';
import { isOurs, type MarketHours } from '../../domain/orders/order.ts';
import { type Balance, type BrokerOrderState, type OpenOrder, type Position, TRADABLE } from '../broker.ts';
import { oddRowIn, textIn } from '../odd-rows.ts';

const text = Type.String({ minLength: 1 });
/** By its document a text; some of its answers have numbers. */
const numeral = Type.Refine(Type.Union([Type.String(), Type.Number()]), (value) =>
  typeof value === 'number' ? Math.abs(value) < 1e20 : /^-?\d{1,20}(\.\d{1,30})?$/.test(value),
);
type Numeral = Static<typeof numeral>;
const time = Type.Refine(Type.String(), (value) => /T.*(Z|[+-]\d\d:\d\d)$/.test(value) && isTime(value));
const isTime = (value: string): boolean => Number.isFinite(Date.parse(value));
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

export const exact = (value: Numeral): Decimal => rounded(decimal(value));

/** Every refusal, and nothing else: a proxy's page has no such code. */
export const REFUSAL = Compile(
  Type.Object({
    code: Type.Optional(Type.Integer()),
    message: text,
    /** Of shares that are not free: how many are held. */
    existing_qty: orNull(Type.String()),
  }),
);

const Account = Type.Object({
  id: text,
  status: text,
  currency: Type.String({ pattern: '^[A-Z]{3,5}$' }),
  cash: numeral,
  equity: numeral,
  buying_power: numeral,
  account_blocked: Type.Boolean(),
  trading_blocked: Type.Boolean(),
  trade_suspended_by_user: Type.Optional(Type.Boolean()),
  shorting_enabled: Type.Optional(Type.Boolean()),
});
export type Account = Static<typeof Account>;
export const ACCOUNT = Compile(Account);

export const balanceOf = ({ currency, equity, cash, buying_power }: Account): Balance => ({
  currency,
  equity: exact(equity),
  cash: exact(cash),
  available: exact(buying_power),
});

const Clock = Type.Object({ timestamp: time, is_open: Type.Boolean(), next_open: time, next_close: time });
export type Clock = Static<typeof Clock>;
export const CLOCK = Compile(Clock);

export const hoursOf = ({ next_open }: Clock): MarketHours => ({
  timezone: 'America/New_York',
  session: 'Monday-Friday 09:30-16:00',
  next_open: timestamp(Date.parse(next_open)),
});

const Asset = Type.Object({
  id: text,
  class: text,
  symbol: text,
  name: Type.String(),
  status: text,
  tradable: Type.Boolean(),
  fractionable: Type.Boolean(),
});
export type Asset = Static<typeof Asset>;
// A list without a single asset is none: Alpaca trades thousands.
export const ASSETS = Compile(Type.Array(Asset, { minItems: 1 }));

/** What the status says of an order; one that is not here is not believed. */
const STATUSES = {
  new: 'open',
  partially_filled: 'open',
  filled: 'filled',
  // Until tomorrow, or until it expires.
  done_for_day: 'open',
  canceled: 'cancelled',
  expired: 'cancelled',
  replaced: 'cancelled',
  pending_cancel: 'open',
  pending_replace: 'open',
  accepted: 'open',
  pending_new: 'open',
  accepted_for_bidding: 'open',
  stopped: 'open',
  rejected: 'failed',
  suspended: 'open',
  // Ended, and not yet settled: what was filled says the rest.
  calculated: 'open',
  held: 'open',
  pending_review: 'open',
} as const;
type Status = keyof typeof STATUSES;

const status = Type.Enum(Object.keys(STATUSES) as [Status, ...Status[]]);

const order = {
  id: text,
  client_order_id: Type.Unsafe<ClientOrderId>(text),
  symbol: text,
  side: Type.Enum(['buy', 'sell']),
  qty: numeral,
  filled_qty: numeral,
  filled_avg_price: orNull(numeral),
  status,
  type: Type.Optional(text),
  time_in_force: Type.Optional(text),
  order_class: orNull(Type.String()),
  limit_price: orNull(numeral),
  stop_price: orNull(numeral),
  replaced_by: orNull(Type.String()),
  replaces: orNull(Type.String()),
};

interface Filling {
  readonly qty: Numeral;
  readonly filled_qty: Numeral;
  readonly filled_avg_price?: Numeral | null;
  readonly order_class?: string | null;
  readonly status: Status;
}

function addsUp({ qty, filled_qty, filled_avg_price, order_class, status }: Filling): boolean {
  const [wanted, filled] = [decimal(qty), decimal(filled_qty)];
  if (sign(wanted) <= 0 || sign(filled) < 0 || compare(filled, wanted) > 0) return false;
  const price = filled_avg_price ?? null;
  const hasPrice = price !== null && sign(decimal(price)) > 0;
  // A fill has a price. One of an order that is open and not filled is none; of one that has ended its quantity may still come.
  if (sign(filled) > 0 ? !hasPrice : hasPrice && STATUSES[status] !== 'open') return false;
  // What the other of a pair has filled is left to this one no more, whether or not its own quantity tells so.
  return STATUSES[status] !== 'filled' || order_class === 'oco' || compare(filled, wanted) === 0;
}

const Order = Type.Refine(Type.Object(order), addsUp);
export type Order = Static<typeof Order>;
export const ORDER = Compile(Order);

/** With what hangs on it, where that was asked for. */
const NestedOrder = Type.Refine(Type.Object({ ...order, legs: orNull(Type.Array(Order)) }), addsUp);
export type NestedOrder = Static<typeof NestedOrder>;
export const NESTED_ORDER = Compile(NestedOrder);

export const hasEnded = ({ status }: Pick<Order, 'status'>): boolean => STATUSES[status] !== 'open';

export function stateOf(order: Order): BrokerOrderState {
  const { id, status, qty, filled_qty, filled_avg_price } = order;
  const fillQuantity = exact(filled_qty);
  const isFilled = sign(fillQuantity) > 0;
  const fate = STATUSES[status];
  const open = isFilled ? 'partially_filled' : 'placed';
  return {
    brokerRef: id,
    status: fate !== 'open' ? fate : compare(fillQuantity, decimal(qty)) === 0 ? 'filled' : open,
    fillQuantity,
    fillPrice: isFilled ? exact(filled_avg_price ?? '0') : null,
    fee: null,
    reason: fate === 'cancelled' || fate === 'failed' ? reasonOf(order) : null,
  };
}

export function reasonOf({ status, time_in_force, replaced_by }: Order): string {
  if (status === 'replaced') return `it was replaced by order ${replaced_by ?? 'unknown'} at Alpaca`;
  if (status === 'expired')
    return time_in_force === 'gtc'
      ? 'it expired: Alpaca keeps an order for 90 days'
      : 'it was not filled before the market closed';
  return status === 'rejected'
    ? 'Alpaca or the exchange rejected it'
    : 'it was cancelled at Alpaca or by the exchange';
}

/** Anybody's, of any kind: by amount of money, or of several legs. */
const open = {
  id: text,
  client_order_id: text,
  symbol: orNull(Type.String()),
  side: orNull(Type.String()),
  qty: orNull(numeral),
  filled_qty: numeral,
};
const Open = Type.Object(open);
const OPEN = Compile(Open);

/** undefined: it is no such list, or one of which a row of ours, or of nobody knows whom, cannot be read. */
const unlessAnothers = <Row>(body: unknown, isRow: (row: unknown) => row is Row): Row[] | undefined => {
  if (!Array.isArray(body)) return undefined;
  const rows = body.filter((row) => isRow(row) || !isOfAnother(row));
  return rows.every(isRow) ? rows : undefined;
};

const isOfAnother = (row: unknown): boolean => {
  const id = textIn(row, 'client_order_id');
  return id !== null && !isOurs(id);
};

/** All that are told, and those of them that can be read or are not certainly another's. */
export const openOrdersIn = (body: unknown) =>
  unlessAnothers(body, (row): row is Static<typeof Open> => OPEN.Check(row));

/** null: not one that a user of ours can have sent. */
export function openOrderOf({
  id,
  client_order_id,
  symbol,
  side,
  qty,
  filled_qty,
}: Static<typeof Open>): OpenOrder | null {
  if (!symbol || !qty || (side !== 'buy' && side !== 'sell')) return null;
  return {
    clientOrderId: client_order_id as ClientOrderId,
    brokerRef: id,
    symbol,
    side,
    quantity: exact(qty),
    fillQuantity: exact(filled_qty),
    reduceOnly: false,
  };
}

const watching = { ...open, status, stop_price: orNull(numeral), replaced_by: orNull(Type.String()) };
const Watching = Type.Object(watching);
/** What may have a stop in it. */
export type Watching = Static<typeof Watching>;
const Nested = Type.Object({ ...watching, legs: orNull(Type.Array(Watching)) });
const NESTED = Compile(Nested);
/** Each with its legs. */
export const nestedOrdersIn = (body: unknown) =>
  unlessAnothers(body, (row): row is Static<typeof Nested> => NESTED.Check(row));

const Held = Type.Refine(
  Type.Object({
    asset_id: text,
    symbol: text,
    asset_class: text,
    qty: numeral,
    side: Type.Enum(['long', 'short']),
    avg_entry_price: numeral,
    current_price: orNull(numeral),
    unrealized_pl: orNull(numeral),
  }),
  // Signed, or not; and never against its side.
  ({ qty, side }) => sign(decimal(qty)) >= 0 || side === 'short',
);
const HELD = Compile(Held);
export const POSITIONS = Compile(Type.Array(Held));
/** Which row is to blame, in words. */
export const oddPositionIn = (body: unknown): string =>
  oddRowIn(body, { isRow: (row) => HELD.Check(row), key: 'symbol' });

export type Held = Static<typeof Held>;

/** Options and coins are not traded here. */
export const isShares = ({ asset_class }: Held): boolean => asset_class === 'us_equity';

/** `isListed`: whether Alpaca trades that share now. */
export const positionOf = (held: Held, isListed: (symbol: string) => boolean): Position => ({
  symbol: held.symbol,
  quantity: signed(held),
  averagePrice: exact(held.avg_entry_price),
  lastPrice: held.current_price ? exact(held.current_price) : null,
  openProfit: held.unrealized_pl ? exact(held.unrealized_pl) : null,
  ...(isShares(held) && isListed(held.symbol) ? TRADABLE : { tradable: false, reason: whyNot(held) }),
});

const whyNot = (held: Held): string =>
  isShares(held)
    ? `Alpaca does not trade ${held.symbol} now. Ask its support what becomes of it.`
    : `Only shares are traded here, and ${held.symbol} is none (${held.asset_class}). Close it at Alpaca.`;

export function signed({ qty, side }: Held): Decimal {
  const quantity = absolute(exact(qty));
  return side === 'short' ? negate(quantity) : quantity;
}

// Of market data, which has numbers where trading has texts. 0: nobody bids, or asks.
const price = Type.Number({ minimum: 0, maximum: 1e12 });
const traded = Type.Number({ exclusiveMinimum: 0, maximum: 1e12 });
export const LAST_TRADE = Compile(Type.Object({ symbol: text, trade: Type.Object({ t: time, p: traded }) }));
export const QUOTE = Compile(
  Type.Object({ symbol: text, quote: Type.Object({ t: time, bp: price, ap: price }) }),
);
/** null: nothing was traded. */
export const BARS = Compile(
  Type.Object({
    symbol: text,
    bars: Type.Union([
      Type.Array(Type.Object({ t: time, o: traded, h: traded, l: traded, c: traded })),
      Type.Null(),
    ]),
  }),
);
export const priceOf = (value: number): Decimal => rounded(decimal(value));
