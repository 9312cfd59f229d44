// What protection closed stays closed: a strategy that was stopped out opens on that side again only once it has been flat, or on the
// other side, by its own word.

import { decimal, sign } from '../src/domain/decimal.ts';
import { millis } from '../src/domain/ids.ts';
import type { OrderIntent } from '../src/domain/orders/order.ts';
import type { Desk } from './desks.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { tradesOf } from './judge-positions.ts';
import { type Finding, isProtective, keyOf, type OrderRow, type Records } from './records.ts';
import type { Signal } from './signals.ts';

interface Evidence {
  readonly desks: readonly Desk[];
  readonly signals: readonly Signal[];
  readonly ledger: Pick<ExchangeLedger, 'fills' | 'orders'>;
  readonly records: Records;
}

/** What a strategy's alert says of where it stands. */
interface Stance {
  readonly market_position?: string;
  readonly prev_market_position?: string;
}

export function judgeStoppedOut({ desks, signals, ledger, records }: Evidence): Finding {
  const ofStrategies = new Set<string>(
    desks.filter(({ strategy, protects }) => strategy && protects).map(({ trader }) => trader.account.id),
  );
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const legOf = new Map(records.legs.map((leg) => [leg.client_order_id, leg]));
  const isOfProtection = (id: string) =>
    isProtective(id) || orderOf.get(legOf.get(id)?.order_id ?? '')?.source === 'protection';
  const closed = tradesOf(ledger.fills).filter(
    ({ account, id, after }) => ofStrategies.has(account) && isOfProtection(id) && sign(after) === 0,
  );
  const signalOf = new Map(signals.map((signal, nth) => [signal.key, { signal, nth }]));
  const acceptedAt = new Map(
    ledger.orders.map((order) => [order.client_order_id, millis(order.accepted_at)]),
  );
  const sideOf = (row: OrderRow): 'long' | 'short' | null => {
    const intent = JSON.parse(row.intent) as OrderIntent;
    return intent.operation === 'PLACE_ENTRY_ORDER' ? (intent.side === 'buy' ? 'long' : 'short') : null;
  };

  /** Since then the strategy has said nothing but that it is on that side. */
  function hasStayed(row: OrderRow, side: string, since: number): boolean {
    const own = signalOf.get(keyOf(row));
    const isHere = (signal: Signal) =>
      signal.accountId === row.trading_account_id && signal.symbol === row.symbol;
    // A report at the end says the last word once more.
    const upTo = own?.nth ?? signals.length - 1;
    const said = signals.filter((signal, nth) => nth <= upTo && isHere(signal));
    const sinceThen = said.filter((signal) => lastHeard(signal) >= since);
    const words = own ? [...sinceThen, own.signal] : [...sinceThen, ...said.slice(-1)];
    return words.every((signal) => {
      const { market_position, prev_market_position } = JSON.parse(signal.body) as Stance;
      return market_position === side && prev_market_position === side;
    });
  }

  const opened = records.legs.flatMap((leg) => {
    const row = orderOf.get(leg.order_id);
    const at = acceptedAt.get(leg.client_order_id);
    const isFromFlat = row?.position_before != null && sign(decimal(row.position_before)) === 0;
    if (!row || leg.leg !== 'entry' || at === undefined || !isFromFlat) return [];
    return ofStrategies.has(row.trading_account_id) ? [{ row, at, side: sideOf(row) }] : [];
  });
  const problems = opened.flatMap(({ row, at, side }) => {
    const stop = closed.findLast(
      (trade) => trade.account === row.trading_account_id && trade.symbol === row.symbol && trade.at < at,
    );
    const wasSide = stop && (sign(stop.before) > 0 ? 'long' : 'short');
    if (!stop || side === null || wasSide !== side || !hasStayed(row, side, stop.at)) return [];
    return [
      `order ${row.order_id} (${row.action} ${row.symbol} of ${row.trading_account_id}) opened ${side} again ` +
        `${((at - stop.at) / 1000).toFixed(1)} s after ${stop.id} had closed it`,
    ];
  });
  return {
    invariant: `stopped out stays out (${closed.length} times something was)`,
    kind: 'other',
    checked: opened.length,
    problems,
  };
}

/** When it was heard, at the latest. */
function lastHeard({ deliveries }: Signal): number {
  const isTaken = ({ answer }: Signal['deliveries'][number]) =>
    answer?.status === 200 || answer?.status === 202;
  const heard = deliveries.some(isTaken) ? deliveries.filter(isTaken) : deliveries;
  return Math.max(...heard.map(({ sentAt, ms }) => sentAt + ms));
}
