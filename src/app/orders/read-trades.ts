// A user's round trips: the list, what they came to, and one of them fill by fill. They are those of the user's orders, counted
// by the thread that reads (kept-trades.ts) within the same bound as the performance: ten seconds, a few milliseconds at a
// time. Nothing is written for them, and no order waits.

import { accountIdsOf, realMoneyAmong, realMoneyOf } from '../../data/accounts/accounts.ts';
import type { Db, Reads } from '../../data/engine/db.ts';
import { giveWay } from '../../data/engine/give-way.ts';
import { newAllowance } from '../../data/orders/history.ts';
import { ordersByIds } from '../../data/orders/orders.ts';
import { add, type Decimal, subtract, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { type AccountId, isUuid, millis, type OrderId, timestamp, type UserId } from '../../domain/ids.ts';
import type { Range } from '../../domain/money/performance.ts';
import { type ClosedTrade, ENOUGH_TRADES, openFigures, told } from '../../domain/money/trade-figures.ts';
import {
  type ClosedBy,
  earnedIn,
  type ForeignFee,
  isWithin,
  type RoundTrip,
  type TradePart,
} from '../../domain/money/trades.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { MOST_CHARACTERS, type Page, type PageRequest, pageOf } from '../pages.ts';
import { type KeptTrades, withStrategies } from './kept-trades.ts';

interface TradesDeps {
  readonly db: Db;
  readonly keptTrades: KeptTrades;
}

/** Of a time: those that were closed in it. */
export interface TradesFilter extends Range {
  readonly accountId?: AccountId;
  readonly simulation: boolean;
  readonly realMoney?: boolean;
  /** In any spelling. */
  readonly symbol?: string;
  readonly strategy?: string;
  readonly closedBy?: ClosedBy;
  readonly currency?: string;
}

/** Newest first. The cursor is the place of the last trade of the page before: that one may be another by now. */
export async function readTrades(
  deps: TradesDeps,
  user: UserId,
  { filter, ...page }: PageRequest & { readonly filter: TradesFilter },
): Promise<Page<ShownTrade>> {
  const { cursor, limit } = page;
  const { lists } = deps.db;
  const { closed } = await findTrades(deps, user, filter);
  const end = cursor === null ? closed.length : olderThan(cursor, closed);
  const found = closed.slice(Math.max(0, end - limit - 1), end).reverse();
  const real = filter.simulation ? NONE : await realMoneyAmong(lists, found.map(accountOf));
  // A CSV is read in larger pages, since each of them is looked for anew.
  const most = MOST_CHARACTERS * Math.ceil(limit / 200);
  const { items, next_cursor } = pageOf(found, page, (trade) => show(trade, filter.simulation, real), most);
  const last = found[items.length - 1];
  return { items, next_cursor: next_cursor && last ? cursorOf(last) : null };
}

const cursorOf = ({ id, closedAt }: ClosedTrade): string => `${id}~${millis(closedAt)}`;

/** How many were closed before that place. Of a trade alone: before that one, where it is still there. */
function olderThan(cursor: string, closed: readonly ClosedTrade[]): number {
  const [id = '', time] = cursor.split('~');
  const closedAt =
    time === undefined ? closed.find((trade) => trade.id === id)?.closedAt : timestamp(Number(time));
  if (closedAt === undefined) return 0;
  const end = closed.findIndex((trade) => inOrder(trade, { id, closedAt }) >= 0);
  return end < 0 ? closed.length : end;
}

type Place = Pick<ClosedTrade, 'id' | 'closedAt'>;

const inOrder = (a: Place, b: Place): number => compared(a.closedAt, b.closedAt) || compared(a.id, b.id);
const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What they came to, in one currency: that which is asked for, or that of most of them. */
export async function readTradesSummary(
  deps: TradesDeps,
  user: UserId,
  { zone, ...filter }: TradesFilter & { readonly zone: string },
) {
  const { closed, open, foreign } = await findTrades(deps, user, filter);
  const trades = new Map<string, number>();
  for (const { currency } of closed) trades.set(currency, (trades.get(currency) ?? 0) + 1);
  const byTrades = [...trades].sort(([, a], [, b]) => b - a);
  const currency = filter.currency ?? byTrades[0]?.[0] ?? open[0]?.currency ?? null;
  const figures = openFigures(zone);
  const owners = new Set<AccountId>();
  let earnedBefore: Decimal = ZERO;
  for (const trade of closed) {
    if (trade.currency !== currency) continue;
    figures.take(trade);
    owners.add(trade.accountId);
    const isOlder = filter.from !== undefined && trade.openedAt < filter.from;
    if (isOlder) earnedBefore = add(earnedBefore, earnedIn(trade, filter).before);
    giveWay();
  }
  // Of a strategy or of what closed them, the rest of the account's profit says nothing.
  const isWhole =
    filter.strategy === undefined && filter.closedBy === undefined && filter.symbol === undefined;
  const profit = figures.sum();
  const sum = (amounts: readonly Decimal[]) => amounts.reduce<Decimal>(add, ZERO);
  const isOf = (each: { readonly currency: string }) => each.currency === currency;
  const ofOpen = sum(open.filter(isOf).map((trade) => earnedIn(trade, filter).within));
  const paid = sum(foreign.filter(isOf).map(({ fee }) => fee));
  const real = filter.simulation ? NONE : await realMoneyAmong(deps.db.lists, owners);
  return {
    currency,
    currencies: byTrades.map(([name, count]) => ({ currency: name, trades: count })),
    real_money: owners.size === 0 || (real.size > 0 && real.size < owners.size) ? null : real.size > 0,
    tz: zone,
    enough_trades: ENOUGH_TRADES,
    ...figures.read(),
    /** How the sum of these trades becomes the realised profit of the same time. */
    realised: isWhole
      ? {
          trades: told(profit),
          earned_before: told(earnedBefore),
          open_trades: told(ofOpen),
          foreign_fees: told(paid),
          realised: told(subtract(subtract(add(profit, ofOpen), earnedBefore), paid)),
        }
      : null,
  };
}

/** One trade, fill by fill; also one that is open. */
export async function readTrade(
  { db: { lists }, keptTrades }: TradesDeps,
  user: UserId,
  id: string,
): Promise<Denial | (ShownTrade & { readonly fills: readonly ShownPart[] })> {
  const orderId = id.split('.')[0] ?? '';
  const [order] = isUuid(orderId) ? await ordersByIds(lists, [orderId as OrderId]) : [];
  if (order?.userId !== user) return NO_SUCH_TRADE;
  const { accountId, simulation } = order;
  const { closed, open } = await keptTrades.read(lists, { user, accountId, simulation });
  const isIt = (trade: RoundTrip) => trade.id === id;
  const [trade] = await withStrategies(lists, [...closed.filter(isIt), ...open.filter(isIt)]);
  if (!trade) return NO_SUCH_TRADE;
  const real = simulation ? NONE : await realMoneyAmong(lists, [accountId]);
  return { ...show(trade, simulation, real), fills: trade.parts.map(showPart) };
}

const NO_SUCH_TRADE = deny('not_found', {
  detail:
    'You have no such trade. Where a fill was known late, its trade may have another id now: list them again.',
});
const NONE: ReadonlySet<AccountId> = new Set();

interface Found {
  /** As they were closed. */
  readonly closed: readonly ClosedTrade[];
  /** At the end of the time. */
  readonly open: readonly RoundTrip[];
  /** In the time. */
  readonly foreign: readonly ForeignFee[];
}

async function findTrades(
  { db: { lists }, keptTrades }: TradesDeps,
  user: UserId,
  filter: TradesFilter,
): Promise<Found> {
  const { simulation, from, to, symbol, closedBy, currency, strategy } = filter;
  const isOf = (trade: RoundTrip) =>
    (to === undefined || trade.openedAt <= to) &&
    (currency === undefined || trade.currency === currency) &&
    (symbol === undefined || canonicalSymbol(trade.brokerName, symbol) === trade.symbol);
  const isAsked = (trade: ClosedTrade) =>
    (closedBy === undefined || trade.closedBy === closedBy) &&
    (strategy === undefined || trade.strategy === strategy);
  const closed: ClosedTrade[] = [];
  const open: RoundTrip[] = [];
  const foreign: ForeignFee[] = [];
  const accounts = await askedAccounts(lists, user, filter);
  const allowance = newAllowance();
  for (const accountId of accounts) {
    const counted = await keptTrades.read(lists, { user, accountId, simulation }, allowance);
    for (const trade of counted.closed) {
      if (!isOf(trade) || (from !== undefined && trade.closedAt < from)) continue;
      // Closed after the time that is asked for: in it they were open.
      if (to !== undefined && trade.closedAt > to) open.push(trade);
      else if (isAsked(trade)) closed.push(trade);
    }
    open.push(...counted.open.filter(isOf));
    foreign.push(...counted.foreign.filter(({ at }) => isWithin(at, filter)));
  }
  closed.sort(inOrder);
  return { closed, open, foreign };
}

/** Deleted ones too. */
async function askedAccounts(
  lists: Reads,
  user: UserId,
  { accountId, simulation, realMoney }: TradesFilter,
): Promise<readonly AccountId[]> {
  const all = accountId === undefined ? await accountIdsOf(lists, user) : [accountId];
  if (realMoney === undefined) return all;
  const live = simulation ? NONE : await realMoneyOf(lists, user);
  return all.filter((id) => live.has(id) === realMoney);
}

const accountOf = ({ accountId }: RoundTrip): AccountId => accountId;

/** Of each end; a trade that was built up in more has them in its story. */
const MOST_IDS = 50;

export type ShownTrade = ReturnType<typeof show>;

const show = (
  trade: RoundTrip & Pick<ClosedTrade, 'strategy'>,
  simulation: boolean,
  real: ReadonlySet<AccountId>,
) => ({
  id: trade.id,
  trading_account_id: trade.accountId,
  broker_name: trade.brokerName,
  simulation,
  real_money: real.has(trade.accountId),
  symbol: trade.symbol,
  side: trade.side,
  quantity: toNumber(trade.quantity),
  opened_at: trade.openedAt,
  closed_at: trade.closedAt,
  held_ms: trade.closedAt && millis(trade.closedAt) - millis(trade.openedAt),
  entry_price: toNumber(trade.entryPrice),
  exit_price: toNumberOrNull(trade.exitPrice),
  profit: told(trade.profit),
  currency: trade.currency,
  fees: told(trade.fees),
  fees_unknown: trade.feesUnknown,
  slippage: trade.slippage && told(trade.slippage),
  closed_by: trade.closedBy,
  closed_elsewhere: toNumber(trade.closedElsewhere),
  strategy: trade.strategy,
  entry_order_ids: trade.openedBy.slice(0, MOST_IDS),
  exit_order_ids: trade.exits.slice(-MOST_IDS),
});

type ShownPart = ReturnType<typeof showPart>;

const showPart = (part: TradePart) => ({
  at: part.at,
  order_id: part.orderId,
  side: part.side,
  quantity: toNumber(part.quantity),
  price: toNumberOrNull(part.price),
  asked_price: toNumberOrNull(part.asked),
  fee: part.fee && told(part.fee),
  slippage: part.slippage && told(part.slippage),
  position: toNumber(part.position),
  profit: part.profit && told(part.profit),
  closed_by: part.closedBy,
});
