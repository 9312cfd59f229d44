// Whether what was traded is what was to be traded: every order on the position as it was, with everything in it that
// the account's earlier orders had brought about; no close beyond what was held; and in the end our positions theirs.

import { add, compare, type Decimal, decimal, negate, sign, subtract, ZERO } from '../src/domain/decimal.ts';
import { millis } from '../src/domain/ids.ts';
import type { OrderError, OrderIntent } from '../src/domain/orders/order.ts';
import { leavesSome } from '../src/domain/orders/other-legs.ts';
import { canonicalSymbol } from '../src/domain/signals/symbol.ts';
import type { Desk } from './desks.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { holdings } from './judge-exits.ts';
import { type Finding, firstDeliveries, isProtective, type OrderRow, type Records } from './records.ts';
import type { Signal } from './signals.ts';
import { toldCloses } from './told-closes.ts';

type ExchangeOrder = ExchangeLedger['orders'][number];

const placeOf = (account: string, symbol: string): string => `${account} ${canonicalSymbol('paper', symbol)}`;

const signed = ({ side, fill_quantity }: Pick<ExchangeOrder, 'side' | 'fill_quantity'>): Decimal =>
  side === 'buy' ? decimal(fill_quantity) : negate(decimal(fill_quantity));

const sum = (orders: readonly ExchangeOrder[]): Decimal =>
  orders.reduce<Decimal>((total, order) => add(total, signed(order)), ZERO);

const isCopyOf = (order: ExchangeOrder, ids: ReadonlySet<string>): boolean =>
  ids.has(order.client_order_id.replace(/#\d+$/, ''));

/** What was accepted so shortly before a look may be in it or not. */
const MOMENT_MS = 100;
/** So long before its position is read an order asks what became of the stops and targets beside it, and may have to ask again. */
const ASKING_MS = 4_000;

/** What stops and targets have traded at a place, from when on: all of it, and below zero what was sold. */
function protectiveTrades({ fills }: Pick<ExchangeLedger, 'fills'>) {
  const changes = new Map<string, { at: number; traded: Decimal }[]>();
  for (const { at, account, symbol, side, id, change } of tradesOf(fills)) {
    if (!isProtective(id)) continue;
    const own = changes.get(placeOf(account, symbol)) ?? [];
    const by = side === 'buy' ? change : negate(change);
    own.push({ at, traded: add(own.at(-1)?.traded ?? ZERO, by) });
    changes.set(placeOf(account, symbol), own);
  }
  return {
    at: (place: string, at: number): Decimal =>
      changes.get(place)?.findLast((change) => change.at <= at)?.traded ?? ZERO,
    /** Whatever it was in that time. */
    during(place: string, from: number, to: number): Decimal[] {
      const own = changes.get(place) ?? [];
      const since = own.filter(({ at }) => at > from && at <= to).map(({ traded }) => traded);
      return [own.findLast(({ at }) => at <= from)?.traded ?? ZERO, ...since];
    },
  };
}

/**
 * An order's first leg follows from the position that its worker read last: by then everything that the exchange had
 * accepted of the account's earlier orders must have come to its fill. Of accounts where everything does, in a moment.
 */
export function judgePlans(
  desks: readonly Desk[],
  signals: readonly Signal[],
  { orders: all, requests, looks, held, fills }: ExchangeLedger,
  { orders: rows, legs }: Records,
): Finding {
  const book = holdings({ held, looks });
  // When a stop or a target was accepted says nothing: it trades later.
  const orders = all.filter(({ client_order_id: id }) => !isProtective(id));
  const protective = protectiveTrades({ fills });
  const filling = new Set<string>(
    desks.filter(({ isFilling }) => isFilling).map(({ trader }) => trader.account.id),
  );
  const reducing = new Set<string>(
    desks.filter(({ traits }) => traits.reduceOnly).map(({ trader }) => trader.account.id),
  );
  const firstSent = firstDeliveries(signals);
  const taken = new Map(
    requests
      .filter(({ outcome }) => outcome === 'accepted')
      .map((request) => [request.client_order_id, request]),
  );
  const legsOf = Map.groupBy(legs, (leg) => leg.order_id);
  const looksOf = Map.groupBy(looks, ({ account, asker }) => `${account} ${asker}`);
  const ordersAt = Map.groupBy(orders, ({ account, symbol }) => placeOf(account, symbol));
  const problems: string[] = [];
  let checked = 0;
  for (const row of rows) {
    const own = (legsOf.get(row.order_id) ?? []).filter(({ client_order_id: id }) => !isProtective(id));
    // With every close it is planned anew.
    const closes = own.filter(({ leg }) => leg === 'exit').toSorted((a, b) => b.nth - a.nth);
    const first = closes.find(({ sent_at }) => sent_at !== null) ?? own[0];
    const sent = first && taken.get(first.client_order_id);
    if (!sent || row.position_before === null || !filling.has(row.trading_account_id)) continue;
    const look = looksOf
      .get(`${row.trading_account_id} ${sent.asker}`)
      ?.findLast(({ at }) => at <= sent.arrived_at);
    // Otherwise it was planned by another worker, which is gone.
    if (!look || look.at < firstSent(row)) continue;
    // What only reduces may be sent on a position of a while ago, for the larger of what it was and what it should be.
    const isClamped = first.leg === 'exit' && reducing.has(row.trading_account_id);
    if (look.lag_ms > 0 && isClamped) continue;
    checked++;
    const ids = new Set(own.map((leg) => leg.client_order_id));
    const place = placeOf(row.trading_account_id, row.symbol);
    const before = (ordersAt.get(place) ?? []).filter(
      (order) => millis(order.accepted_at) <= look.at && !isCopyOf(order, ids),
    );
    const certain = before.filter((order) => millis(order.accepted_at) < look.at - MOMENT_MS);
    const planned = decimal(row.position_before);
    // Where its close had found less than it was sent for, its record says what was held when its entry was planned.
    const entry = own.find(({ leg }) => leg === 'entry');
    const isRebased = first.leg === 'exit' && first.status !== 'filled';
    const opened = isRebased && entry ? taken.get(entry.client_order_id) : undefined;
    const upTo = Math.max(look.at, opened?.arrived_at ?? look.at);
    const known = protective.during(place, look.at - look.lag_ms - ASKING_MS, upTo);
    const isSum = (of: readonly ExchangeOrder[]) => known.some((traded) => planned === add(sum(of), traded));
    if (isSum(before) || isSum(certain)) continue;
    // An exit takes what is held at once, whatever of ours is still to be filled beside it.
    const intent = JSON.parse(row.intent) as OrderIntent;
    const { operation } = intent;
    const filledBefore = sum(
      orders.filter((order) => isCopyOf(order, ids) && millis(order.updated_at) < look.at),
    );
    const there = book.during(row.trading_account_id, row.symbol, look.at - MOMENT_MS, look.at);
    if (operation !== 'PLACE_ENTRY_ORDER' && there.includes(add(planned, filledBefore))) continue;
    // Where a close of ours is in doubt, one of all that is held is sent for the more of both, and the exchange clamps it.
    const isOfAll = isClamped && operation !== 'PLACE_ENTRY_ORDER' && !leavesSome(intent);
    if (isOfAll && there.some((held) => isWithin(planned, held))) continue;
    problems.push(
      `order ${row.order_id} (${row.action} ${row.quantity} ${row.symbol}) was planned on ${planned}, ` +
        `and what the exchange had accepted before came to ${sum(before)}, and ${protective.at(place, look.at)} by protection`,
    );
  }
  return {
    invariant: "orders are planned on the position with the account's own earlier orders in it",
    kind: 'other',
    checked,
    problems,
  };
}

/** "Nothing to close", told where everything that came before had been accepted before the signal, and left something. */
export function judgeNothingHeld(
  signals: readonly Signal[],
  { orders, fills }: ExchangeLedger,
  orderOf: ReadonlyMap<string, OrderRow>,
): Finding {
  const own = orders.filter(({ client_order_id: id }) => !isProtective(id));
  const ordersAt = Map.groupBy(own, ({ account, symbol }) => placeOf(account, symbol));
  const protective = protectiveTrades({ fills });
  const problems: string[] = [];
  let checked = 0;
  for (const { desk, accountId, symbol, deliveries } of signals.filter(({ desk }) => desk.isFilling))
    for (const { answer, sentAt, ms } of deliveries) {
      const error: OrderError | null | undefined = answer?.status === 200 ? answer.body.error : null;
      const row = orderOf.get(answer?.body.order_id ?? '');
      // Where a close of ours is in doubt and a second one would be taken as well, nothing is sent on purpose.
      if (error?.code !== 'no_position' || !row || error.message.startsWith('Nothing was sent')) continue;
      const all = ordersAt.get(placeOf(accountId, symbol)) ?? [];
      const meanwhile = all.some(
        ({ accepted_at: at }) => millis(at) > sentAt - MOMENT_MS && millis(at) < sentAt + ms,
      );
      const traded = protective.during(placeOf(accountId, symbol), sentAt - MOMENT_MS, sentAt + ms);
      if (meanwhile || traded.length > 1) continue;
      checked++;
      const held = add(sum(all.filter(({ accepted_at: at }) => millis(at) < sentAt)), traded[0] ?? ZERO);
      const intent = JSON.parse(row.intent) as OrderIntent;
      const wanted = 'direction' in intent ? (intent.direction === 'long' ? 1 : -1) : 0;
      if (wanted !== 0 && sign(held) === wanted)
        problems.push(
          `order ${row.order_id} of ${desk.name} (${row.action} ${row.symbol}) found nothing to close, and ${held} was held`,
        );
    }
  return { invariant: 'what is held can be closed', kind: 'other', checked, problems };
}

/** Of accounts without reduce-only, where nothing but our own care keeps a close from opening the other side. */
export function judgeClosings(desks: readonly Desk[], { fills }: ExchangeLedger): Finding {
  const careful = new Set<string>(
    desks
      .filter(({ traits, isFilling }) => isFilling && !traits.reduceOnly)
      .map(({ trader }) => trader.account.id),
  );
  const trades = tradesOf(fills.filter(({ account }) => careful.has(account))).filter(({ id }) =>
    id.startsWith('fx'),
  );
  const problems = trades
    .filter(({ before, after }) => !isWithin(before, after))
    .map(({ id, account, before, after }) => `the close ${id} of ${account} took ${before} to ${after}`);
  return { invariant: 'a close never opens the other side', kind: 'other', checked: trades.length, problems };
}

/** Less than before, and on the same side. */
export const isWithin = (before: Decimal, after: Decimal): boolean =>
  sign(after) === 0 || (sign(after) === sign(before) && compare(absoluteOf(after), absoluteOf(before)) < 0);

/** Each with what was held before and after it. */
export function tradesOf(fills: ExchangeLedger['fills']) {
  const held = new Map<string, Decimal>();
  const known = new Map<string, Decimal>();
  return fills.flatMap(({ at, account, symbol, side, client_order_id: id, fill_quantity }) => {
    const change = subtract(decimal(fill_quantity), known.get(`${account} ${id}`) ?? ZERO);
    known.set(`${account} ${id}`, decimal(fill_quantity));
    if (sign(change) === 0) return [];
    const place = placeOf(account, symbol);
    const before = held.get(place) ?? ZERO;
    const after = add(before, side === 'buy' ? change : negate(change));
    held.set(place, after);
    return [{ at, account, symbol, side, id, change, before, after }];
  });
}

const absoluteOf = (value: Decimal): Decimal => (sign(value) < 0 ? negate(value) : value);

/**
 * Whatever was lost, refused or too late on the way: after its last report a strategy's account stands where it does. What
 * protection has closed since the strategy was last flat, or on the other side, stays closed.
 */
export function judgeStrategies(
  desks: readonly Desk[],
  signals: readonly Signal[],
  { positions, fills }: ExchangeLedger,
  { orders, legs }: Records,
  listingOf: (symbol: string) => string,
): Finding {
  const sources = new Map(orders.map(({ order_id, source }) => [order_id, source]));
  const ofProtection = new Set(
    legs.filter(({ order_id }) => sources.get(order_id) === 'protection').map((leg) => leg.client_order_id),
  );
  const closed = tradesOf(fills).filter(({ id }) => isProtective(id) || ofProtection.has(id));
  const problems: string[] = [];
  let checked = 0;
  for (const { name, trader, strategy } of desks)
    for (const [symbol, stands] of strategy ?? []) {
      checked++;
      const { id } = trader.account;
      const isHere = (of: { account: string; symbol: string }) =>
        of.account === id && of.symbol === listingOf(symbol);
      const held = Number(positions.find(isHere)?.quantity ?? '0');
      if (held === stands) continue;
      const since = lastElsewhere(signals, id, listingOf(symbol), Math.sign(stands));
      const isStopped = closed.some((trade) => isHere(trade) && trade.at >= since);
      const isLess = Math.abs(held) < Math.abs(stands) && Math.sign(held) !== -Math.sign(stands);
      if (!isStopped || !isLess)
        problems.push(`the strategy of ${name} stands at ${stands} ${symbol}, the exchange has ${held}`);
    }
  return { invariant: "a strategy's position is the exchange's", kind: 'other', checked, problems };
}

/** When the strategy was last flat, or on the other side, by its own word. */
function lastElsewhere(signals: readonly Signal[], account: string, symbol: string, side: number): number {
  const last = signals.findLast((signal) => {
    if (signal.accountId !== account || signal.symbol !== symbol) return false;
    const { market_position: stands } = JSON.parse(signal.body) as { market_position?: string };
    return stands !== (side > 0 ? 'long' : 'short');
  });
  return last?.deliveries[0]?.sentAt ?? 0;
}

export function judgePositions({
  ledger,
  records,
  forgotten,
  told,
}: {
  readonly ledger: ExchangeLedger;
  readonly records: Records;
  readonly forgotten: ReadonlySet<string>;
  readonly told: ReadonlyMap<string, readonly { symbol: string; quantity: number }[]>;
}): Finding {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const atExchange = new Map(ledger.orders.map((order) => [order.client_order_id, order]));
  const ours = new Map<string, Decimal>();
  for (const leg of records.legs) {
    const order = orderOf.get(leg.order_id);
    const isForgotten = leg.status === 'unknown' && forgotten.has(leg.client_order_id);
    const filled = isForgotten ? atExchange.get(leg.client_order_id)?.fill_quantity : leg.fill_quantity;
    if (!order || !filled) continue;
    const place = placeOf(order.trading_account_id, order.symbol);
    ours.set(place, add(ours.get(place) ?? ZERO, signed({ side: leg.side, fill_quantity: filled })));
  }
  for (const order of toldCloses(ledger, records).untold) {
    const place = placeOf(order.account, order.symbol);
    ours.set(place, add(ours.get(place) ?? ZERO, signed(order)));
  }
  const theirs = new Map(
    ledger.positions.map(({ account, symbol, quantity }) => [`${account} ${symbol}`, decimal(quantity)]),
  );
  const problems: string[] = [];
  const places = new Set([...ours.keys(), ...theirs.keys()]);
  for (const place of places) {
    const [mine, actual] = [ours.get(place) ?? ZERO, theirs.get(place) ?? ZERO];
    if (mine !== actual)
      problems.push(`the position ${place} is ${mine} by our fills and ${actual} at the exchange`);
    const [account = '', symbol = ''] = place.split(' ');
    const shown = told.get(account)?.find((position) => position.symbol === symbol)?.quantity ?? 0;
    if (told.has(account) && shown !== Number(actual))
      problems.push(`the API shows the position ${place} as ${shown}, the exchange has ${actual}`);
  }
  return { invariant: "our positions are the exchange's", kind: 'other', checked: places.size, problems };
}
