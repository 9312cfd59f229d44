// A user's round trips: the list, what they came to, and one of them fill by fill. They are counted anew from the orders of each
// account, as the performance is, and within the same bound: ten seconds of reading, a few milliseconds at a time, by the
// thread that reads. Nothing is written for them, and no order waits.

import { realMoneyAmong, realMoneyOf } from '../../data/accounts/accounts.ts';
import type { Db, Reads } from '../../data/engine/db.ts';
import { alertIdsOf } from '../../data/orders/alert-ids.ts';
import { ordersFromTheFirst } from '../../data/orders/history.ts';
import { ordersByIds } from '../../data/orders/orders.ts';
import { add, type Decimal, subtract, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { type AccountId, isUuid, millis, type OrderId, type UserId } from '../../domain/ids.ts';
import type { Range } from '../../domain/money/performance.ts';
import { type ClosedTrade, ENOUGH_TRADES, openFigures, told } from '../../domain/money/trade-figures.ts';
import { type ClosedBy, openTrades, type RoundTrip, type TradePart } from '../../domain/money/trades.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { MOST_CHARACTERS, type Page, type PageRequest, pageOf } from '../pages.ts';

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

type Closed = RoundTrip & Pick<ClosedTrade, 'closedAt'>;

/** Newest first. The cursor is the last trade of the page before. */
export async function readTrades(
  { db }: { db: Db },
  user: UserId,
  { filter, ...page }: PageRequest & { readonly filter: TradesFilter },
): Promise<Page<ShownTrade>> {
  const { cursor, limit } = page;
  /** As they were closed: no more than a page of them is kept. */
  let last: Closed[] = [];
  let isFound = cursor === null;
  await countTrades(db.lists, user, filter, async (closed) => {
    const asked =
      filter.strategy === undefined ? closed : await ofStrategy(db.lists, filter.strategy, closed);
    const end = cursor === null ? -1 : asked.findIndex(({ id }) => id === cursor);
    last = [...last, ...(end === -1 ? asked : asked.slice(0, end))].slice(-limit - 1);
    if (end !== -1) isFound = true;
    return end === -1;
  });
  const found = isFound ? await withStrategies(db.lists, last.reverse()) : [];
  const real = filter.simulation ? NONE : await realMoneyAmong(db.lists, found.map(accountOf));
  // A CSV is read in larger pages, since each of them counts anew.
  const most = MOST_CHARACTERS * Math.ceil(limit / 200);
  return pageOf(found, page, (trade) => show(trade, filter.simulation, real), most);
}

/** What they came to, in one currency: that which is asked for, or that of most of them. */
export async function readTradesSummary(
  { db }: { db: Db },
  user: UserId,
  { zone, ...filter }: TradesFilter & { readonly zone: string },
) {
  const currencies = new Map<string, ReturnType<typeof openFigures>>();
  const trades = new Map<string, number>();
  const before = new Map<string, Decimal>();
  const accounts = new Map<string, Set<AccountId>>();
  const counted = await countTrades(db.lists, user, filter, async (closed) => {
    for (const trade of await withStrategies(db.lists, closed)) {
      const { currency, strategy, earned, accountId } = trade;
      if (filter.strategy !== undefined && strategy !== filter.strategy) continue;
      const figures = currencies.get(currency) ?? openFigures(zone);
      currencies.set(currency, figures);
      figures.take(trade);
      accounts.set(currency, (accounts.get(currency) ?? new Set()).add(accountId));
      trades.set(currency, (trades.get(currency) ?? 0) + 1);
      before.set(currency, add(before.get(currency) ?? ZERO, earned.before));
    }
    return true;
  });
  const byTrades = [...trades].sort(([, a], [, b]) => b - a);
  const currency = filter.currency ?? byTrades[0]?.[0] ?? counted.open[0]?.currency ?? null;
  const figures = (currency !== null && currencies.get(currency)) || openFigures(zone);
  const open = counted.open.filter((trade) => trade.currency === currency);
  // Of a strategy or of what closed them, the rest of the account's profit says nothing.
  const isWhole =
    filter.strategy === undefined && filter.closedBy === undefined && filter.symbol === undefined;
  const profit = figures.sum();
  const ofOpen = open.reduce<Decimal>((sum, { earned }) => add(sum, earned.within), ZERO);
  const earnedBefore = before.get(currency ?? '') ?? ZERO;
  const foreign = counted.foreignFees(currency ?? '');
  const owners = accounts.get(currency ?? '') ?? NONE;
  const real = filter.simulation ? NONE : await realMoneyAmong(db.lists, owners);
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
          foreign_fees: told(foreign),
          realised: told(subtract(subtract(add(profit, ofOpen), earnedBefore), foreign)),
        }
      : null,
  };
}

/** One trade, fill by fill; also one that is open. */
export async function readTrade(
  { db }: { db: Db },
  user: UserId,
  id: string,
): Promise<Denial | (ShownTrade & { readonly fills: readonly ShownPart[] })> {
  const orderId = id.split('.')[0] ?? '';
  const [order] = isUuid(orderId) ? await ordersByIds(db.lists, [orderId as OrderId]) : [];
  if (order?.userId !== user) return NO_SUCH_TRADE;
  const parts: TradePart[] = [];
  let found: RoundTrip | undefined;
  const trades = openTrades({
    onClosed: (trade) => {
      if (trade.id === id) found = trade;
    },
    onPart: (of, part) => {
      if (of === id) parts.push(part);
    },
  });
  const { accountId, simulation } = order;
  for await (const orders of ordersFromTheFirst(db.lists, user, { accountId, simulation })) {
    for (const each of orders) trades.take(each);
    if (found) break;
  }
  found ??= trades.close().find((trade) => trade.id === id) ?? found;
  if (!found) return NO_SUCH_TRADE;
  const [trade] = await withStrategies(db.lists, [found]);
  if (!trade) return NO_SUCH_TRADE;
  const real = simulation ? NONE : await realMoneyAmong(db.lists, [accountId]);
  return { ...show(trade, simulation, real), fills: parts.map(showPart) };
}

const NO_SUCH_TRADE = deny('not_found', {
  detail:
    'You have no such trade. Where a fill was known late, its trade may have another id now: list them again.',
});
const NONE: ReadonlySet<AccountId> = new Set();

/** `onClosed` is given those that fit, as they were closed, and says whether to go on. */
async function countTrades(
  lists: Reads,
  user: UserId,
  filter: TradesFilter,
  onClosed: (trades: readonly Closed[]) => Promise<boolean>,
): Promise<{ readonly open: readonly RoundTrip[]; foreignFees(currency: string): Decimal }> {
  const { simulation, realMoney, from, to, symbol, closedBy, currency } = filter;
  const live = realMoney === undefined || simulation ? NONE : await realMoneyOf(lists, user);
  const closed: Closed[] = [];
  /** Closed after the time that is asked for: in it they were open. */
  const later: RoundTrip[] = [];
  const isOf = (trade: RoundTrip) =>
    (currency === undefined || trade.currency === currency) &&
    (symbol === undefined || canonicalSymbol(trade.brokerName, symbol) === trade.symbol);
  const trades = openTrades(
    {
      onClosed(trade) {
        const { closedAt } = trade;
        if (closedAt === null || !isOf(trade) || (from !== undefined && closedAt < from)) return;
        if (to !== undefined && closedAt > to) later.push(trade);
        else if (closedBy === undefined || trade.closedBy === closedBy) closed.push({ ...trade, closedAt });
      },
    },
    filter,
  );
  const tell = () => (closed.length === 0 ? true : onClosed(closed.splice(0)));
  for await (const orders of ordersFromTheFirst(lists, user, filter)) {
    // Each account has books of its own: what is left out of them changes nothing in the others.
    for (const order of orders)
      if (realMoney === undefined || live.has(order.accountId) === realMoney) trades.take(order);
    if (!(await tell())) return { open: [], foreignFees: trades.foreignFees };
  }
  const open = trades.close().filter(isOf);
  await tell();
  return { open: [...later, ...open], foreignFees: trades.foreignFees };
}

const accountOf = ({ accountId }: RoundTrip): AccountId => accountId;
const openerOf = ({ openedBy: [first] }: RoundTrip): OrderId => first as OrderId;

async function withStrategies<Trade extends RoundTrip>(
  lists: Reads,
  trades: readonly Trade[],
): Promise<(Trade & Pick<ClosedTrade, 'strategy'>)[]> {
  const ids = await alertIdsOf(lists, trades.map(openerOf));
  return trades.map((trade) => ({ ...trade, strategy: ids.get(openerOf(trade)) ?? null }));
}

async function ofStrategy(lists: Reads, name: string, trades: readonly Closed[]): Promise<Closed[]> {
  return (await withStrategies(lists, trades)).filter(({ strategy }) => strategy === name);
}

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
