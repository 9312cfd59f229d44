// What the answers of Shioaji's HTTP server must be to be believed. Its numbers are doubles; only what is used is looked at.

import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import {
  add,
  average,
  compare,
  type Decimal,
  decimal,
  multiply,
  negate,
  rounded,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import type { Side } from '../../domain/orders/order.ts';
import { type Balance, type BrokerOrderState, type Position, TRADABLE } from '../broker.ts';
import { oddRowIn, textIn } from '../odd-rows.ts';
import { jsonOf } from '../wire.ts';

const text = Type.String({ minLength: 1 });
const amount = Type.Number({ minimum: -1e15, maximum: 1e15 });
const count = Type.Refine(Type.Number({ minimum: 0, maximum: 1e9 }), (value) => Number.isInteger(value));
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const action = Type.Enum(['Buy', 'Sell']);

/** undefined: none. */
const jsonIn = (bytes: ArrayBuffer): unknown => jsonOf(new TextDecoder().decode(bytes));

const exact = (value: number): Decimal => rounded(decimal(value));

export const FAULT = Compile(
  Type.Object({
    code: Type.Union([Type.Integer(), Type.String()]),
    message: text,
    details: Type.Optional(Type.Unknown()),
  }),
);

export const INFO = Compile(Type.Object({ name: text, simulation: Type.Boolean() }));

const Account = Type.Object({ account_type: text, account_id: text, signed: Type.Boolean() });
export const ACCOUNTS = Compile(Type.Array(Account));
type Account = Static<typeof Account>;
export const isFutures = ({ account_type }: Account): boolean => account_type.startsWith('F');
export const isStocks = ({ account_type }: Account): boolean => account_type.startsWith('S');

const Contract = Type.Object({
  security_type: text,
  exchange: text,
  code: text,
  target_code: orNull(Type.String()),
  name: orNull(Type.String()),
});
export type Contract = Static<typeof Contract>;
export const CONTRACT = Compile(Contract);
const CONTRACTS = Compile(Type.Object({ contracts: Type.Array(Contract, { minItems: 1 }) }));

/** What is kept of each of a list. */
export interface ListedContract extends Pick<Contract, 'security_type' | 'code'> {
  readonly name: string | null;
}

/** Run by the thread that reads lists; undefined: it is not as agreed. */
export function readContracts(bytes: ArrayBuffer): readonly ListedContract[] | undefined {
  const body = jsonIn(bytes);
  if (!CONTRACTS.Check(body)) return undefined;
  return body.contracts.map(({ security_type, code, name = null }) => ({ security_type, code, name }));
}

const size = Type.Number({ exclusiveMinimum: 0, maximum: 1e9 });
const Month = Type.Object({
  code: text,
  name: orNull(Type.String()),
  delivery_month: text,
  target_code: orNull(Type.String()),
  multiplier: size,
  tick: orNull(size),
});
export type Month = Static<typeof Month>;
const MONTH = Compile(Month);

/** One that is listed in a way that cannot be read: what it stands for is not known, and that it is there is. */
export interface OddMonth extends Pick<Month, 'code'> {
  readonly isOdd: true;
}

export const isContinuous = (code: string): boolean => /R[1-9]$/.test(code);

/**
 * Run by the thread that reads lists; undefined: it is not as agreed. A continuous month is not traded by itself, and older
 * servers list it with a multiplier of 0.
 */
export function readMonths(bytes: ArrayBuffer): readonly (Month | OddMonth)[] | undefined {
  const body = jsonIn(bytes);
  if (!Array.isArray(body)) return undefined;
  const months = body.map((row): Month | OddMonth | null => {
    if (MONTH.Check(row)) return row;
    const code = textIn(row, 'code');
    return code === null ? null : { code, isOdd: true };
  });
  if (months.includes(null)) return undefined;
  return months.filter((month) => month !== null && !('isOdd' in month && isContinuous(month.code))) as (
    | Month
    | OddMonth
  )[];
}

const Deal = Type.Object({ seq: orNull(Type.Union([text, Type.Number()])), price: size, quantity: count });
const Status = Type.Object({
  id: Type.Optional(Type.String()),
  status: Type.Enum([
    'PendingSubmit',
    'PreSubmitted',
    'Submitted',
    'PartFilled',
    'Filled',
    'Cancelled',
    'Failed',
    'Inactive',
  ]),
  deal_quantity: orNull(count),
  cancel_quantity: orNull(count),
  msg: orNull(Type.String()),
  order_ts: orNull(Type.Number()),
  order_datetime: orNull(Type.String()),
  deals: orNull(Type.Array(Deal)),
});
const Trade = Type.Object({
  contract: Type.Object({ code: text }),
  order: Type.Object({
    id: text,
    action,
    quantity: count,
    price_type: orNull(Type.String()),
    order_type: orNull(Type.String()),
    custom_field: orNull(Type.String()),
  }),
  status: Status,
});
export type Trade = Static<typeof Trade>;
export const TRADE = Compile(Trade);

/** One that cannot be read, and what can be of it. */
export interface OddTrade {
  readonly isOdd: true;
  readonly id: string | null;
  readonly code: string | null;
  readonly action: 'Buy' | 'Sell' | null;
  readonly quantity: number | null;
}

/** Those of a busy day are read by the thread that reads lists; undefined: it is not as agreed. */
export function readTrades(bytes: ArrayBuffer): readonly (Trade | OddTrade)[] | undefined {
  const body = jsonIn(bytes);
  return Array.isArray(body) ? body.map((row) => (TRADE.Check(row) ? row : oddTrade(row))) : undefined;
}

function oddTrade(row: unknown): OddTrade {
  const { action = null, quantity = null } = (row as { order?: Record<string, unknown> } | null)?.order ?? {};
  return {
    isOdd: true,
    id: textIn(row, 'order', 'id'),
    code: textIn(row, 'contract', 'code'),
    action: action === 'Buy' || action === 'Sell' ? action : null,
    quantity: Number.isInteger(quantity) ? Number(quantity) : null,
  };
}

export const isReadable = (trade: Trade | OddTrade): trade is Trade => !('isOdd' in trade);

export const sideOf = ({ order }: Trade): Side => (order.action === 'Buy' ? 'buy' : 'sell');
export const quantityOf = ({ order }: Trade): Decimal => exact(order.quantity);

/** "Being processed", "timed out", "busy: ask again": what became of it is not known there either. */
export const isUndecided = ({ status }: Trade): boolean =>
  status.status === 'Failed' && /處理中|逾時|忙線/.test(status.msg ?? '');

/**
 * null: it says of itself what cannot be, or not yet all: deals that are not counted, a fill without a price. The next
 * look may see more.
 */
export function stateOf(trade: Trade): BrokerOrderState | null {
  const { order, status } = trade;
  const quantity = quantityOf(trade);
  const deals = status.deals ?? [];
  const fillQuantity = deals.reduce<Decimal>((sum, deal) => add(sum, exact(deal.quantity)), ZERO);
  if (compare(fillQuantity, exact(status.deal_quantity ?? Number(fillQuantity))) !== 0) return null;
  const left = subtract(subtract(quantity, fillQuantity), exact(status.cancel_quantity ?? 0));
  if (compare(fillQuantity, quantity) > 0 || isUndecided(trade)) return null;
  const isTold = (status.cancel_quantity ?? 0) > 0;
  const fate = fateOf(status.status, { fillQuantity, quantity, left, isTold });
  if (fate === null) return null;
  return {
    brokerRef: order.id,
    status: fate,
    fillQuantity,
    fillPrice: sign(fillQuantity) > 0 ? priceOf(deals, fillQuantity) : null,
    fee: null,
    reason: fate === 'failed' || fate === 'cancelled' ? reasonOf(trade) : null,
  };
}

interface Amounts {
  readonly fillQuantity: Decimal;
  readonly quantity: Decimal;
  readonly left: Decimal;
  /** It says how much was taken back: what is left beside that was filled, and its deals are yet to be told. */
  readonly isTold: boolean;
}

/** Whatever the word for it: all of it filled is filled, and what is filled in part and has nothing left has ended. */
function fateOf(
  word: Trade['status']['status'],
  { fillQuantity, quantity, left, isTold }: Amounts,
): BrokerOrderState['status'] | null {
  if (compare(fillQuantity, quantity) === 0) return 'filled';
  switch (word) {
    case 'Failed':
      return 'failed';
    case 'Cancelled':
      return isTold && sign(left) > 0 ? null : 'cancelled';
    case 'Filled':
      return sign(fillQuantity) > 0 && sign(left) <= 0 ? 'cancelled' : null;
    default:
      if (sign(left) <= 0) return 'cancelled';
      return sign(fillQuantity) > 0 ? 'partially_filled' : 'placed';
  }
}

const priceOf = (deals: readonly Static<typeof Deal>[], fillQuantity: Decimal): Decimal =>
  average(
    deals.reduce<Decimal>((sum, deal) => add(sum, multiply(exact(deal.price), exact(deal.quantity))), ZERO),
    fillQuantity,
  );

function reasonOf({ status }: Trade): string {
  if (status.msg) return `“${status.msg}”`;
  return status.status === 'Failed'
    ? 'SinoPac gives no reason'
    : 'what could not be filled at once was taken back (IOC)';
}

const Held = Type.Object({
  id: Type.Number(),
  code: text,
  direction: action,
  quantity: count,
  price: amount,
  last_price: orNull(amount),
  pnl: orNull(amount),
  /** Of shares: how they were bought. */
  cond: orNull(Type.String()),
});
export type Held = Static<typeof Held>;
const HELD = Compile(Held);
export const POSITIONS = Compile(Type.Array(Held));
/** Which row is to blame, in words. */
export const oddPositionIn = (body: unknown): string =>
  oddRowIn(body, { isRow: (row) => HELD.Check(row), key: 'code' });

/** As TAIFEX names options: the root, the strike, the month (calls A–L, puts M–X) and the year. */
const OPTION = /^[A-Z][A-Z0-9]{2}\d{5}[A-X]\d$/;

const isOnCredit = ({ cond }: Held): boolean => Boolean(cond) && cond !== 'Cash' && cond !== 'Netting';

/** Shares on credit are closed by orders of another kind, which are not sent here, and options are not traded. */
export const isTradable = (held: Held): boolean => !isOnCredit(held) && !OPTION.test(held.code);

/** Both sides of one contract at once. */
export const hedgedIn = (held: readonly Held[]): string | undefined =>
  held.find(({ code, direction }) =>
    held.some((other) => other.code === code && other.direction !== direction && other.quantity > 0),
  )?.code;

/** All that is held, also what no order of ours can close. */
export function positionsOf(held: readonly Held[]): Position[] {
  const traded = held.filter(isTradable);
  const others = held.filter((row) => !isTradable(row) && row.quantity > 0);
  return [...netOf(traded), ...lockedIn(traded), ...others.map(untradable)];
}

/** One for each contract: SinoPac has a row for each kind of it. */
export function netOf(held: readonly Held[]): Position[] {
  const codes = new Set(held.map(({ code }) => code));
  return [...codes].flatMap((code) => {
    const rows = held.filter((row) => row.code === code);
    const quantity = rows.reduce<Decimal>((sum, row) => add(sum, signed(row)), ZERO);
    if (sign(quantity) === 0) return [];
    const value = rows.reduce<Decimal>((sum, row) => add(sum, multiply(exact(row.price), signed(row))), ZERO);
    const profits = rows.map(({ pnl }) => pnl ?? null);
    return {
      symbol: code,
      quantity,
      averagePrice: average(value, quantity),
      lastPrice: lastPriceOf(rows),
      openProfit: profits.includes(null)
        ? null
        : exact(profits.reduce<number>((sum, pnl) => sum + (pnl ?? 0), 0)),
      ...TRADABLE,
    };
  });
}

/** What is held on both sides of one contract at once: beside its net, which an order can close. */
function lockedIn(held: readonly Held[]): Position[] {
  const codes = new Set(held.map(({ code }) => code));
  return [...codes].flatMap((code) => {
    const side = (direction: Held['direction']) =>
      netOf(held.filter((row) => row.code === code && row.direction === direction));
    const [[long], [short]] = [side('Buy'), side('Sell')];
    if (!long || !short) return [];
    const locked = smaller(long.quantity, negate(short.quantity));
    const reason = `${code} is held on both sides at once, and one side cannot be closed by itself here. Close both at SinoPac.`;
    return [
      { ...long, quantity: locked, openProfit: null, tradable: false, reason },
      { ...short, quantity: negate(locked), openProfit: null, tradable: false, reason },
    ];
  });
}

const untradable = (row: Held): Position => ({
  symbol: row.code,
  quantity: signed(row),
  averagePrice: exact(row.price),
  lastPrice: lastPriceOf([row]),
  openProfit: typeof row.pnl === 'number' ? exact(row.pnl) : null,
  tradable: false,
  reason: isOnCredit(row)
    ? `It is held on credit (${row.cond}), and only what was bought or sold for cash is traded here. Close it at SinoPac.`
    : 'It is an option, and only futures and shares are traded here. Close it at SinoPac.',
});

const lastPriceOf = ([row]: readonly Held[]): Decimal | null =>
  row?.last_price ? exact(row.last_price) : null;

const signed = ({ direction, quantity }: Held): Decimal => exact(direction === 'Buy' ? quantity : -quantity);

const Margin = Type.Object({
  yesterday_balance: amount,
  equity: amount,
  today_balance: amount,
  available_margin: amount,
});
export const MARGIN = Compile(Margin);
export const futuresBalance = ({
  equity,
  today_balance,
  available_margin,
}: Static<typeof Margin>): Balance => ({
  currency: 'TWD',
  equity: exact(equity),
  cash: exact(today_balance),
  available: exact(available_margin),
});

const Bank = Type.Object({ acc_balance: amount, errmsg: orNull(Type.String()) });
export const BANK = Compile(Bank);
export function stocksBalance({ acc_balance }: Static<typeof Bank>): Balance {
  const cash = exact(acc_balance);
  return { currency: 'TWD', equity: cash, cash, available: cash };
}

/** Of when it is, it says in one field or another (`datetime`, and `ts` in older versions); nobody asks here. */
export const SNAPSHOTS = Compile(
  Type.Array(Type.Object({ code: text, buy_price: size, sell_price: size }), { minItems: 1, maxItems: 1 }),
);
export const price = exact;
