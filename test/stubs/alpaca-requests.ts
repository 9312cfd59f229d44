// What may be asked of Alpaca about orders, and what it refuses, in its own words: new ones, and others in the place of
// those that rest. What rests reserves the shares that it would sell, or buy back: no other order can have them.

import {
  type Answer,
  type Office,
  type RefusalCode,
  type StopRefusalCode,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import type { Holder } from '../../chaos/exchange-standing.ts';
import { TIMES_IN_FORCE, type TimeInForce } from '../../src/domain/capabilities.ts';
import {
  absolute,
  add,
  compare,
  type Decimal,
  decimal,
  isOnStep,
  isWhole,
  parseDecimal,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import {
  type Book,
  type Entry,
  entryOf,
  isOpenEntry,
  left,
  newStop,
  pending,
  tellEntry,
} from './alpaca-orders.ts';
import { FOR_EVER, quantityOf, visit } from './wire.ts';

export const said = (body: object): Answer => ({ status: 200, body });
export const refused = (status: number, code: number, message: string, more: object = {}): Answer => ({
  status,
  body: { code, message, ...more },
});
const wrong = (message: string) => refused(422, 40010001, message);
export const unfit = (message: string, more: object = {}) => refused(422, 42210000, message, more);
export const noOrder = (id: string) => refused(404, 40410000, `order not found for ${id}`);

export const busy = (ms: number): Answer => ({
  status: 429,
  body: { message: 'too many requests.' },
  headers: {
    'x-ratelimit-limit': '200',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': `${Math.ceil((Date.now() + ms) / 1000)}`,
  },
});

const REFUSALS: Record<RefusalCode, (symbol: string) => Answer> = {
  insufficient_margin: () =>
    refused(403, 40310000, 'insufficient buying power', { buying_power: '0', cost_basis: '1000' }),
  market_closed: (symbol) => unfit(`asset ${symbol} is not active`),
  invalid_symbol: (symbol) => unfit(`asset "${symbol}" not found`),
  below_minimum: () => refused(403, 40310000, 'cost basis must be >= minimal amount of order 1'),
  off_step: () => wrong('qty must be integer'),
  invalid_quantity: () => unfit('qty must be > 0'),
  broker_rate_limited: () => busy(2_000),
  // Nobody is hedged there.
  position_mode_mismatch: () =>
    refused(403, 40310000, 'position intent mismatch, inferred: sell_to_open, specified: sell_to_close'),
  no_position: (symbol) => insufficient(symbol, '1', NOTHING),
  expired: () => unfit('the order is too old'),
  duplicate: () => wrong('client_order_id must be unique'),
  would_trigger: () => unfit('stop price must be beyond the current price'),
};

const STOP_REFUSALS: Record<StopRefusalCode, (asked: { symbol: string; side: string }) => Answer> = {
  would_trigger: ({ side }) => passed(side),
  // It would be a short sale that waits, and be taken: whoever sends that has not looked.
  no_position: ({ symbol }) => refused(403, 40310000, `asset "${symbol}" cannot be sold short`),
  reserved: ({ symbol }) => insufficient(symbol, '1', NOTHING),
  // There is as many as there are shares for.
  second: ({ symbol }) => insufficient(symbol, '1', NOTHING),
  invalid_symbol: ({ symbol }) => REFUSALS.invalid_symbol(symbol),
  off_tick: () => subPenny('stop_price'),
  off_step: () => unfit('fractional orders must be DAY orders'),
  market_closed: ({ symbol }) => REFUSALS.market_closed(symbol),
  broker_rate_limited: () => busy(2_000),
  duplicate: () => wrong('client_order_id must be unique'),
  not_found: ({ symbol }) => noOrder(symbol),
  refused: () => refused(403, 40310000, 'new stop orders are rejected for this account'),
};

const passed = (side: string, more: object = {}) =>
  unfit(`stop price must be ${side === 'sell' ? 'less' : 'greater'} than current price`, more);
const subPenny = (field: string) =>
  unfit(`invalid ${field}. sub-penny increment does not fulfill minimum pricing criteria`);

interface Free {
  /** Whether an order of that side would close anything. */
  readonly isClosing: boolean;
  readonly held: Decimal;
  readonly kept: Decimal;
  readonly related: readonly string[];
}
const NOTHING: Free = { isClosing: true, held: ZERO, kept: ZERO, related: [] };

const insufficient = (symbol: string, requested: string, { held, kept, related }: Free) => {
  const available = subtract(held, kept);
  return refused(
    403,
    40310000,
    `insufficient qty available for order (requested: ${requested}, available: ${available})`,
    { available, existing_qty: held, held_for_orders: kept, related_orders: related, symbol },
  );
};

/** Those that keep shares for themselves: of a target and its stop, the target. */
export const keepers = (entries: readonly Entry[], symbol: string, side: string): readonly Entry[] =>
  entries.filter(
    (entry) => entry.symbol === symbol && entry.side === side && entry.parent === null && isOpenEntry(entry),
  );

export const keptBy = (entries: readonly Entry[]): Decimal => entries.map(left).reduce(add, ZERO);

/** `besides`: an order that makes room for this one. */
async function freeOf(
  { office, holder }: Desk,
  entries: readonly Entry[],
  { symbol, side, besides }: { symbol: string; side: string; besides?: string },
): Promise<Free> {
  const position = (await office.positions(holder.account)).find((each) => each.symbol === symbol);
  const quantity = position?.quantity ?? ZERO;
  const others = keepers(entries, symbol, side).filter(({ id }) => id !== besides);
  return {
    isClosing: sign(quantity) === (side === 'sell' ? 1 : -1),
    held: absolute(quantity),
    kept: keptBy(others),
    related: others.map(({ id }) => id),
  };
}

interface Desk {
  readonly office: Office;
  readonly book: Book;
  readonly holder: Holder;
}

type Fields = Readonly<Record<string, unknown>>;

function readFields(body: string, known: readonly string[]): Fields | Answer {
  let asked: unknown;
  try {
    asked = JSON.parse(body);
  } catch {
    asked = null;
  }
  if (typeof asked !== 'object' || asked === null)
    return refused(400, 40010000, 'request body format is invalid');
  const stranger = Object.keys(asked).find((field) => !known.includes(field));
  return stranger === undefined ? (asked as Fields) : wrong(`this stub knows no ${stranger}`);
}

const isAnswer = (read: Fields | Answer): read is Answer => 'body' in read && 'status' in read;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const partOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
/** null: it is no price. */
const priceOf = (value: unknown): Decimal | null => {
  const price = typeof value === 'string' ? parseDecimal(value) : null;
  return price !== null && sign(price) > 0 ? price : null;
};
const CENT = decimal('0.01');

interface Placing {
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: Decimal;
  readonly clientOrderId: string;
  readonly limit: Decimal | null;
  readonly stop: Decimal | null;
  /** One order with its stop beside it; otherwise its stop is what it waits for. */
  readonly isPair: boolean;
  readonly timeInForce: TimeInForce;
}

/** What is so, or what is wrong with it. */
function readPlacing(asked: Fields): Placing | Answer {
  const { symbol = '', qty, side, type, time_in_force, client_order_id, order_class = '' } = asked;
  if (side !== 'buy' && side !== 'sell') return wrong('invalid side');
  if (typeof qty !== 'string' || typeof client_order_id !== 'string' || typeof symbol !== 'string')
    return wrong('this stub wants a symbol, a qty and a client_order_id');
  const timeInForce = TIMES_IN_FORCE.find((each) => each === time_in_force);
  if (!timeInForce) return unfit('invalid time_in_force');
  const common: Omit<Placing, 'limit' | 'stop'> = {
    ...{ symbol, side, quantity: quantityOf(qty), isPair: false, timeInForce },
    clientOrderId: client_order_id,
  };
  const isFraction = !isWhole(common.quantity);
  const [limit, stop] = [priceOf(asked.limit_price), priceOf(asked.stop_price)];
  const off = [limit, stop].find((price) => price !== null && !isOnStep(price, CENT));
  if (off) return subPenny('price');
  if (type === 'market') {
    if ('limit_price' in asked || 'stop_price' in asked || order_class !== '')
      return wrong('market orders require no stop or limit price');
    return timeInForce === 'day' ? { ...common, limit, stop } : unfit('invalid time_in_force');
  }
  if (isFraction && (timeInForce !== 'day' || order_class !== ''))
    return unfit(`fractional orders must be ${order_class === '' ? 'DAY' : 'simple'} orders`);
  const isWaiting = timeInForce === 'gtc' || timeInForce === 'day';
  if (type === 'stop' || type === 'stop_limit') {
    if (!isWaiting) return unfit(`time_in_force ${timeInForce} is not valid for ${type} orders`);
    if ((type === 'stop') === 'limit_price' in asked)
      return wrong(
        type === 'stop' ? 'stop orders must not have limit_price' : 'stop limit orders require limit_price',
      );
    if (stop === null || order_class !== '') return wrong('stop orders require stop_price');
    return { ...common, limit, stop };
  }
  if (type !== 'limit') return wrong('invalid order type');
  if ('stop_price' in asked) return wrong('limit orders must not have stop_price');
  if (order_class === '')
    return limit === null ? wrong('limit orders require limit_price') : { ...common, limit, stop };
  if (order_class !== 'oco') return wrong('this stub knows no such order_class');
  if (!isWaiting) return unfit(`time_in_force ${timeInForce} is not valid for oco orders`);
  const [profit, loss] = [partOf(asked.take_profit), partOf(asked.stop_loss)];
  const [far, near] = [priceOf(profit.limit_price), priceOf(loss.stop_price)];
  if (far === null) return wrong('oco orders require take_profit.limit_price');
  if (near === null) return wrong('oco orders require stop_loss.stop_price');
  if (Object.keys(loss).length > 1) return wrong('this stub knows no stop_loss with a limit');
  if (![far, near].every((price) => isOnStep(price, CENT))) return subPenny('price');
  if (compare(far, near) !== (side === 'sell' ? 1 : -1))
    return unfit('oco orders require take_profit.limit_price beyond stop_loss.stop_price');
  return { ...common, limit: far, stop: near, isPair: true };
}

const PLACED_WITH = [
  'symbol',
  'qty',
  'side',
  'type',
  'time_in_force',
  'client_order_id',
  'limit_price',
  'stop_price',
  'order_class',
  'take_profit',
  'stop_loss',
];

/** A new order. */
export async function placing(desk: Desk, { body }: WireRequest): Promise<Visit> {
  const fields = readFields(body, PLACED_WITH);
  if (isAnswer(fields)) return turnedAway(fields);
  const asked = readPlacing(fields);
  if ('body' in asked) return turnedAway(asked);
  const { account } = desk.holder;
  const { symbol, side, quantity, clientOrderId, limit, stop, isPair, timeInForce } = asked;
  const refuses = () => placingRefusal(desk, asked);
  const waits = stop !== null && !isPair;
  const { isClosing } = await freeOf(desk, [], { symbol, side });
  // There is no word for it: what waits closes where something is held, and opens where nothing is. One that its sender names a stop
  // is meant to close; by a short sale that waits nobody is to be surprised here.
  if (waits && limit === null && (isClosing || clientOrderId.startsWith('fs')))
    return {
      what: 'stop',
      account,
      refuses,
      stop: { clientOrderId, symbol, side, quantity, price: stop, triggerBy: 'last' },
      tell: (taken) =>
        taken.outcome === 'accepted'
          ? said(tellEntry(pending(newStop(taken.stop))))
          : STOP_REFUSALS[taken.code]({ symbol, side }),
    };
  return {
    what: 'order',
    account,
    refuses,
    order: {
      clientOrderId,
      symbol,
      side,
      quantity,
      reduceOnly: false,
      sendBefore: FOR_EVER,
      ...(limit !== null && { limit }),
      ...(stop !== null && (waits ? { trigger: stop } : { stop })),
      ...((limit !== null || waits) && { timeInForce }),
    },
    tell: (taken) => {
      if (taken.outcome !== 'accepted') return REFUSALS[taken.code](symbol);
      const entry = pending(entryOf(taken.order));
      return said(tellEntry(isPair ? { ...entry, orderClass: 'oco' } : entry));
    },
  };
}

/**
 * The account could trade with itself: only two limits that do not cross stand on both sides. Complex orders (OCO) are said to be free of
 * that; until it is tried, the worse is assumed of them.
 */
function mayTrade(there: Entry, { symbol, side, limit, stop }: Placing): boolean {
  if (!isOpenEntry(there) || there.symbol !== symbol || there.side === side) return false;
  if (there.type !== 'limit' || there.limit === null || limit === null || stop !== null) return true;
  const [bought, sold] = side === 'buy' ? [limit, there.limit] : [there.limit, limit];
  return compare(bought, sold) >= 0;
}

/** By what is held and what rests. */
async function placingRefusal(desk: Desk, asked: Placing): Promise<Answer | null> {
  const { symbol, side, quantity, clientOrderId, stop, isPair } = asked;
  const entries = await desk.book.entries(desk.holder.account);
  const known = entries.find((entry) => entry.clientOrderId === clientOrderId);
  if (known) return known.stop === null ? null : REFUSALS.duplicate(symbol);
  const free = await freeOf(desk, entries, { symbol, side });
  if (free.isClosing && compare(quantity, subtract(free.held, free.kept)) > 0)
    return insufficient(symbol, quantity, free);
  if (entries.some((entry) => mayTrade(entry, asked)))
    return refused(403, 40310000, 'potential wash trade detected. use complex orders');
  if (!isPair || stop === null) return null;
  if (!free.isClosing) return unfit('oco orders must be exit orders');
  const { bid, ask } = desk.office.quote(symbol);
  const market = side === 'sell' ? bid : ask;
  return compare(stop, market) === (side === 'sell' ? -1 : 1)
    ? null
    : passed(side, { market_price: market, stop_price: stop });
}

const REPLACED_WITH = ['qty', 'time_in_force', 'limit_price', 'stop_price', 'client_order_id'];

/** Another order in the place of a stop that rests. */
export async function replacing(desk: Desk, id: string, { body }: WireRequest): Promise<Visit> {
  const { holder, book } = desk;
  const fields = readFields(body, REPLACED_WITH);
  if (isAnswer(fields)) return turnedAway(fields);
  const entries = await book.entries(holder.account);
  const entry = entries.find((each) => each.id === id);
  if (!entry) return visit('other', { holder }, () => noOrder(id));
  const { symbol, side, ref } = entry;
  const price = ('stop_price' in fields ? priceOf(fields.stop_price) : entry.stop) ?? ZERO;
  const quantity = 'qty' in fields ? quantityOf(textOf(fields.qty)) : entry.quantity;
  const clientOrderId = textOf(fields.client_order_id);
  return {
    what: 'stop',
    account: holder.account,
    refuses: async () =>
      replacingRefusal(entry, fields, { price, quantity }) ??
      (entries.some((each) => each.clientOrderId === clientOrderId) ? REFUSALS.duplicate(symbol) : null) ??
      (await tooMuch(desk, entries, entry, quantity)),
    stop: {
      clientOrderId: clientOrderId ?? '',
      symbol,
      side,
      quantity,
      price,
      triggerBy: 'last',
      moves: ref,
    },
    tell(taken) {
      if (taken.outcome !== 'accepted') return STOP_REFUSALS[taken.code]({ symbol, side });
      const { id: own, clientOrderId: name, at } = book.move(entry, { clientOrderId, price, quantity });
      const moved = { ...entry, id: own, clientOrderId: name, quantity, stop: price, acceptedAt: at };
      return said(tellEntry(pending({ ...moved, updatedAt: at, replaces: id })));
    },
  };
}

/** “Order cannot be replaced when the status is accepted, pending_new, pending_cancel or pending_replace.” */
const REPLACEABLE = ['new', 'held', 'partially_filled'];

function replacingRefusal(
  { type, status, stop, quantity: before, replacedBy, parent, waits }: Entry,
  fields: Fields,
  { price, quantity }: { readonly price: Decimal; readonly quantity: Decimal },
): Answer | null {
  if (replacedBy !== null) return unfit('order already replaced');
  if (waits) return unfit('this stub replaces no order that could open');
  if (!REPLACEABLE.includes(status)) return unfit(`cannot replace order in ${status} status`);
  if (stop === null) return wrong(`${type} orders must not have stop_price`);
  if ('limit_price' in fields || 'time_in_force' in fields)
    return wrong('stop orders must not have limit_price');
  if (sign(price) <= 0) return wrong('stop orders require stop_price');
  if (!isOnStep(price, CENT)) return subPenny('stop_price');
  if (!isWhole(quantity) || sign(quantity) <= 0) return wrong('qty must be integer');
  const isResized = compare(quantity, before) !== 0;
  if (isResized && parent !== null) return unfit('qty cannot be changed for advanced orders');
  return !isResized && compare(price, stop) === 0 ? unfit('order parameters are not changed') : null;
}

async function tooMuch(
  desk: Desk,
  entries: readonly Entry[],
  { id, symbol, side, parent }: Entry,
  quantity: Decimal,
): Promise<Answer | null> {
  if (parent !== null) return null;
  const free = await freeOf(desk, entries, { symbol, side, besides: id });
  return compare(quantity, subtract(free.held, free.kept)) > 0 ? insufficient(symbol, quantity, free) : null;
}
