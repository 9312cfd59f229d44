// The judgement after the kills, from three sources that know nothing of each other: what the senders were told, our
// order_history, and the paper broker's own ledger.

import { LEFT } from '../../src/broker/paper/matching.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { add, type Decimal, decimal, negate, ZERO } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId, OrderId } from '../../src/domain/ids.ts';
import {
  clientOrderId,
  hasEnded,
  type LegName,
  type OrderIntent,
  type OrderStatus,
  type Side,
} from '../../src/domain/orders/order.ts';
import { planOrder } from '../../src/domain/orders/position.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { canonicalSymbol } from '../../src/domain/signals/symbol.ts';

/** A signal and all that became of sending it. Quantities are unique within an account: they tell signals apart. */
export interface Sent {
  readonly accountId: AccountId;
  readonly symbol: string;
  readonly action: string;
  readonly quantity: Decimal;
  /** In turn; null: no answer, or one that broke off. */
  readonly answers: (Answer | null)[];
}

export interface Answer {
  readonly status: number;
  readonly body: OrderResult;
}

interface OrderRow {
  order_id: OrderId;
  user_id: string;
  trading_account_id: AccountId;
  symbol: string;
  action: string;
  quantity: string;
  intent: string;
  status: OrderStatus;
  error: string | null;
  broker_refs: string;
  fill_quantity: string | null;
  position_before: string | null;
}

interface LegRow {
  order_id: OrderId;
  leg: LegName;
  nth: number;
  client_order_id: ClientOrderId;
  broker_ref: string | null;
  side: Side;
  quantity: string;
  status: string;
  fill_quantity: string | null;
  fill_price: string | null;
}

interface PaperRow {
  book: string;
  client_order_id: ClientOrderId;
  broker_ref: string;
  symbol: string;
  side: Side;
  quantity: string;
  status: string;
  fill_quantity: string;
  fill_price: string | null;
  /** Why it was cancelled or failed. */
  reason: string | null;
}

export type Records = Awaited<ReturnType<typeof readRecords>>;

export async function readRecords(db: Db) {
  return {
    orders: await db.all<OrderRow>(sql`select * from order_history`),
    legs: (await db.all<Omit<LegRow, 'nth'>>(sql`select * from order_legs order by order_id, position`)).map(
      numbered,
    ),
    // In the order in which the broker accepted them.
    paper: await db.all<PaperRow>(sql`select * from paper_orders order by rowid`),
    books: await db.all<{ book: string; positions: string }>(sql`select * from paper_accounts`),
    audited: await db.all<{ resource_id: OrderId }>(
      sql`select resource_id from audit_logs where action = 'webhook_order' and success = 1`,
    ),
    counted: await db.all<{ user_id: string; orders: number }>(
      sql`select user_id, sum(orders) as orders from daily_order_counts group by user_id`,
    ),
    unverified: await db.all<{ order_id: OrderId; state: string }>(
      sql`select order_id, state from fill_checks where state <> 'done'`,
    ),
  };
}

/** An exit may need several closes: "exit", "exit 2" … */
function numbered<Row extends Pick<LegRow, 'leg'>>(row: Row): Row & Pick<LegRow, 'nth'> {
  const [leg, nth = '1'] = row.leg.split(' ');
  return { ...row, leg: leg as LegName, nth: Number(nth) };
}

/** Everything that is wrong, as sentences. `immediate`: accounts whose broker fills every order as it comes. */
export function judge(sent: readonly Sent[], records: Records, immediate: ReadonlySet<AccountId>): string[] {
  return [
    ...judgeAnswers(sent, records),
    ...judgeOrders(records),
    ...judgeLedger(records),
    ...judgePlans(records, immediate),
    ...judgeBookkeeping(records),
  ];
}

const nameOf = (signal: Pick<Sent, 'accountId' | 'action' | 'symbol' | 'quantity'>): string =>
  `${signal.action} ${signal.quantity} ${signal.symbol} of account ${signal.accountId.slice(-4)}`;

/** Nothing twice, nothing lost, nothing told that is not so. */
function judgeAnswers(sent: readonly Sent[], { orders }: Records): string[] {
  const problems: string[] = [];
  const rowsOf = Map.groupBy(orders, (row) =>
    nameOf({
      ...row,
      accountId: row.trading_account_id,
      quantity: decimal(row.quantity),
    }),
  );
  for (const signal of sent) {
    const name = nameOf(signal);
    const rows = rowsOf.get(name) ?? [];
    rowsOf.delete(name);
    if (rows.length > 1) problems.push(`${name} has ${rows.length} orders`);
    let stands: 'no' | 'perhaps' | 'yes' = 'no';
    for (const answer of signal.answers) {
      if (answer === null) stands = stands === 'no' ? 'perhaps' : stands;
      else if (answer.status === 409) {
        if (stands === 'no') problems.push(`${name} was called a replay and had never been sent before`);
        if (rows.length === 0) problems.push(`${name} was called a replay and has no order`);
        stands = 'yes';
      } else if (answer.status === 200 || answer.status === 202) {
        if (stands === 'yes') problems.push(`${name} was shown again and answered ${answer.status}`);
        // The senders do not wait for as long as the API would wait for a worker.
        if (answer.status === 202) problems.push(`${name} was answered 202: its worker was never told`);
        problems.push(...judgeAnswer(name, answer, rows));
        stands = 'yes';
      } else if (answer.status < 500) problems.push(`${name} was answered ${JSON.stringify(answer)}`);
    }
  }
  for (const [name, rows] of rowsOf) problems.push(`${name} has ${rows.length} orders and was never sent`);
  return problems;
}

function judgeAnswer(name: string, { status, body }: Answer, rows: readonly OrderRow[]): string[] {
  const row = rows.find((row) => row.order_id === body.order_id);
  if (!row) return [`${name} was answered ${status} as order ${body.order_id}, which is lost`];
  if (!hasEnded(body.status)) return [];
  const told = [body.status, JSON.stringify(body.broker_refs), body.fill_quantity];
  const stands = [row.status, row.broker_refs, row.fill_quantity === null ? null : Number(row.fill_quantity)];
  return `${told}` === `${stands}` ? [] : [`${name} was answered ${told} and stands as ${stands}`];
}

/** Every order has ended, and the broker has of it what its end says. */
function judgeOrders({ orders, legs, paper, unverified }: Records): string[] {
  const problems = unverified.map(({ order_id, state }) => `the fill check of order ${order_id} is ${state}`);
  const legsOf = Map.groupBy(legs, (leg) => leg.order_id);
  const paperOf = new Map(paper.map((order) => [order.client_order_id, order]));
  for (const row of orders) {
    const own = legsOf.get(row.order_id) ?? [];
    const main = own.at(-1);
    const traded = own.filter((leg) => paperOf.has(leg.client_order_id)).map(({ leg }) => leg);
    const atBroker = main && paperOf.get(main.client_order_id);
    const error = row.error === null ? null : (JSON.parse(row.error) as { code: string }).code;
    const report = (text: string) =>
      problems.push(`order ${row.order_id} (${row.action} ${row.quantity}, ${row.status}, ${error}) ${text}`);

    if (!hasEnded(row.status)) report('has not ended');
    const isAllThereWas = main?.leg === 'exit' && atBroker !== undefined && tookAllThereWas(atBroker);
    if (row.status === 'filled' && atBroker?.status !== 'filled' && !isAllThereWas)
      report(`is ${atBroker?.status} there`);
    if (row.status === 'cancelled' && atBroker?.status !== 'cancelled')
      report(`is ${atBroker?.status} there`);
    if (row.status === 'rejected' && traded.length > 0) report(`has traded its ${traded}`);
    // An exit takes what is held, and may then wait in vain for an entry before it.
    if (row.status === 'expired' && traded.length > 0 && own.some(({ leg }) => leg === 'entry'))
      report(`has traded its ${traded}`);
    // Only what closes fails here: it got stuck after its close, or before it was known what became of that.
    if (row.status === 'failed' && (own[0]?.leg !== 'exit' || traded.includes('entry')))
      report(`has ${own.length} legs and traded ${traded}`);
  }
  return problems;
}

/** The broker filled a part of it, and ended the rest because another order had closed what it was for. */
const tookAllThereWas = ({ status, reason, fill_quantity }: PaperRow): boolean =>
  status === 'cancelled' && reason === LEFT && decimal(fill_quantity) !== ZERO;

/** Per leg at most one order at the broker, and that one as the leg says; no trade without a leg; positions add up. */
function judgeLedger({ orders, legs, paper, books }: Records): string[] {
  const problems: string[] = [];
  const orderOf = new Map(orders.map((row) => [row.order_id, row]));
  const legOf = new Map(legs.map((leg) => [leg.client_order_id, leg]));
  const sums = new Map<string, Decimal>();
  for (const [id, twice] of Map.groupBy(paper, (order) => order.client_order_id))
    if (twice.length > 1) problems.push(`the broker has ${id} ${twice.length} times`);
  for (const traded of paper) {
    const leg = legOf.get(traded.client_order_id);
    const order = leg && orderOf.get(leg.order_id);
    const name = `the broker's ${traded.side} ${traded.quantity} ${traded.symbol} (${traded.client_order_id})`;
    const place = `${traded.book} ${traded.symbol}`;
    const signed =
      traded.side === 'buy' ? decimal(traded.fill_quantity) : negate(decimal(traded.fill_quantity));
    sums.set(place, add(sums.get(place) ?? ZERO, signed));
    if (!leg || !order) {
      problems.push(`${name} belongs to no leg of ours`);
      continue;
    }
    const symbol = canonicalSymbol('paper', order.symbol);
    const ours = [order.trading_account_id, symbol, leg.side, leg.quantity, leg.broker_ref];
    const theirs = [traded.book, traded.symbol, traded.side, traded.quantity, traded.broker_ref];
    if (`${ours}` !== `${theirs}`) problems.push(`${name} is ${ours} with us`);
    const seen = [leg.status, leg.fill_quantity, leg.fill_price];
    const done = [traded.status, traded.fill_quantity, traded.fill_price];
    if (`${seen}` !== `${done}`) problems.push(`${name} is ${done} there and ${seen} with us`);
    if (leg.client_order_id !== clientOrderId(leg.order_id, leg.leg, leg.nth))
      problems.push(`${name} has an id that no other worker could have derived`);
  }
  for (const { book, positions } of books)
    for (const [symbol, { quantity }] of Object.entries(
      JSON.parse(positions) as Record<string, { quantity: string }>,
    )) {
      const place = `${book} ${symbol}`;
      if (sums.get(place) !== quantity)
        problems.push(`the position ${place} is ${quantity} and its fills add up to ${sums.get(place)}`);
      sums.delete(place);
    }
  for (const [place, sum] of sums)
    if (sum !== ZERO) problems.push(`the position ${place} is flat and its fills add up to ${sum}`);
  return problems;
}

/**
 * Each order was planned on the very position that its first leg then met: nobody traded in between, and recovery
 * did not shuffle the orders.
 */
function judgePlans({ orders, legs, paper }: Records, immediate: ReadonlySet<AccountId>): string[] {
  const problems: string[] = [];
  const orderOf = new Map(orders.map((row) => [row.order_id, row]));
  const legsOf = Map.groupBy(legs, (leg) => leg.order_id);
  const legOf = new Map(legs.map((leg) => [leg.client_order_id, leg]));
  const held = new Map<string, Decimal>();
  for (const traded of paper) {
    if (!immediate.has(traded.book as AccountId)) continue;
    const place = `${traded.book} ${traded.symbol}`;
    const before = held.get(place) ?? ZERO;
    const signed =
      traded.side === 'buy' ? decimal(traded.fill_quantity) : negate(decimal(traded.fill_quantity));
    held.set(place, add(before, signed));
    const leg = legOf.get(traded.client_order_id);
    const order = leg && orderOf.get(leg.order_id);
    const own = (order && legsOf.get(order.order_id)) ?? [];
    if (!order || own[0] !== leg) continue;
    const name = `order ${order.order_id} (${order.action} ${order.quantity})`;
    if (order.position_before !== before)
      problems.push(`${name} was planned at ${order.position_before} and met ${before}`);
    const intent = JSON.parse(order.intent) as OrderIntent;
    const there = [{ instrument: order.symbol, quantity: decimal(order.position_before ?? 0) }];
    const plan = planOrder(intent, decimal(order.quantity), there, order.symbol);
    const expected = plan.legs.map(({ leg, side, quantity }) => `${leg}: ${side} ${quantity}`);
    // A close that never arrived was planned anew.
    const planned = own
      .filter(({ leg, status }) => leg === 'entry' || status !== 'expired')
      .map(({ leg, side, quantity }) => `${leg}: ${side} ${quantity}`);
    if (`${expected}` !== `${planned}`) problems.push(`${name} became ${planned} and not ${expected}`);
  }
  return problems;
}

/** One audit entry and one place in the user's day for each order, no more and no less. */
function judgeBookkeeping({ orders, audited, counted }: Records): string[] {
  const problems: string[] = [];
  const entries = Map.groupBy(audited, (entry) => entry.resource_id);
  for (const { order_id } of orders) {
    const count = entries.get(order_id)?.length ?? 0;
    entries.delete(order_id);
    if (count !== 1) problems.push(`order ${order_id} has ${count} audit entries`);
  }
  for (const id of entries.keys()) problems.push(`an audit entry tells of order ${id}, which is lost`);
  const ordersOf = Map.groupBy(orders, (row) => row.user_id);
  for (const { user_id, orders: count } of counted)
    if (ordersOf.get(user_id)?.length !== count)
      problems.push(`user ${user_id} has ${ordersOf.get(user_id)?.length} orders and ${count} are counted`);
  return problems;
}
