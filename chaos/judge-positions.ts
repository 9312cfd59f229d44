// Whether what was traded is what was to be traded: every order on the position as it was, with everything in it that
// the account's earlier orders had brought about; no close beyond what was held; and in the end our positions theirs.

import { add, compare, type Decimal, decimal, negate, sign, ZERO } from '../src/domain/decimal.ts';
import { millis } from '../src/domain/ids.ts';
import type { OrderError, OrderIntent } from '../src/domain/orders/order.ts';
import { canonicalSymbol } from '../src/domain/signals/symbol.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { holdings } from './judge-exits.ts';
import { type Finding, firstDeliveries, type OrderRow, type Records } from './records.ts';
import type { Desk, Signal } from './traffic.ts';

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

/**
 * An order's first leg follows from the position that its worker read last: by then everything that the exchange had
 * accepted of the account's earlier orders must have come to its fill. Of accounts where everything does, in a moment.
 */
export function judgePlans(
  desks: readonly Desk[],
  signals: readonly Signal[],
  { orders, requests, looks, held }: ExchangeLedger,
  { orders: rows, legs }: Records,
): Finding {
  const book = holdings({ held, looks });
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
    const own = legsOf.get(row.order_id) ?? [];
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
    const before = (ordersAt.get(placeOf(row.trading_account_id, row.symbol)) ?? []).filter(
      (order) => millis(order.accepted_at) <= look.at && !isCopyOf(order, ids),
    );
    const certain = before.filter((order) => millis(order.accepted_at) < look.at - MOMENT_MS);
    const planned = decimal(row.position_before);
    if (planned === sum(before) || planned === sum(certain)) continue;
    // An exit takes what is held at once, whatever of ours is still to be filled beside it.
    const { operation } = JSON.parse(row.intent) as OrderIntent;
    const filledBefore = sum(
      orders.filter((order) => isCopyOf(order, ids) && millis(order.updated_at) < look.at),
    );
    const there = book.during(row.trading_account_id, row.symbol, look.at - MOMENT_MS, look.at);
    if (operation !== 'PLACE_ENTRY_ORDER' && there.includes(add(planned, filledBefore))) continue;
    problems.push(
      `order ${row.order_id} (${row.action} ${row.quantity} ${row.symbol}) was planned on ${planned}, ` +
        `and what the exchange had accepted before came to ${sum(before)}`,
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
  { orders }: ExchangeLedger,
  orderOf: ReadonlyMap<string, OrderRow>,
): Finding {
  const ordersAt = Map.groupBy(orders, ({ account, symbol }) => placeOf(account, symbol));
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
      if (meanwhile) continue;
      checked++;
      const held = sum(all.filter(({ accepted_at: at }) => millis(at) < sentAt));
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
export function judgeClosings(desks: readonly Desk[], { orders }: ExchangeLedger): Finding {
  const careful = new Set<string>(
    desks
      .filter(({ traits, isFilling }) => isFilling && !traits.reduceOnly)
      .map(({ trader }) => trader.account.id),
  );
  const problems: string[] = [];
  let checked = 0;
  const held = new Map<string, Decimal>();
  const asFilled = orders
    .filter(({ account }) => careful.has(account))
    .toSorted((a, b) => millis(a.updated_at) - millis(b.updated_at));
  for (const order of asFilled) {
    const place = placeOf(order.account, order.symbol);
    const before = held.get(place) ?? ZERO;
    const after = add(before, signed(order));
    held.set(place, after);
    if (!order.client_order_id.startsWith('fx')) continue;
    checked++;
    const isWithin =
      sign(after) === 0 ||
      (sign(after) === sign(before) && compare(absoluteOf(after), absoluteOf(before)) < 0);
    if (!isWithin)
      problems.push(`the close ${order.client_order_id} of ${order.account} took ${before} to ${after}`);
  }
  return { invariant: 'a close never opens the other side', kind: 'other', checked, problems };
}

const absoluteOf = (value: Decimal): Decimal => (sign(value) < 0 ? negate(value) : value);

/** Whatever was lost, refused or too late on the way: after its last report a strategy's account stands where it does. */
export function judgeStrategies(
  desks: readonly Desk[],
  { positions }: ExchangeLedger,
  listingOf: (symbol: string) => string,
): Finding {
  const problems: string[] = [];
  let checked = 0;
  for (const { name, trader, strategy } of desks)
    for (const [symbol, stands] of strategy ?? []) {
      checked++;
      const held =
        positions.find((row) => row.account === trader.account.id && row.symbol === listingOf(symbol))
          ?.quantity ?? '0';
      if (Number(held) !== stands)
        problems.push(`the strategy of ${name} stands at ${stands} ${symbol}, the exchange has ${held}`);
    }
  return { invariant: "a strategy's position is the exchange's", kind: 'other', checked, problems };
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
