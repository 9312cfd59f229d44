// What an order is executed with, and what its worker has in hand.

import type { BrokerUnavailable } from '../../broker/broker.ts';
import type { Counters } from '../../domain/counters.ts';
import type { GuardVerdict, Order } from '../../domain/orders/order.ts';
import type { Rules } from '../../domain/orders/step.ts';
import type { Tracing } from '../../domain/tracing.ts';
import type { Connections } from '../line/connections.ts';
import type { Line } from '../line/line.ts';
import type { Guarding } from '../orders.ts';
import type { GuardedEntry } from './guarding.ts';
import type { ProtectingOrder } from './protect-order.ts';
import type { Protecting } from './protecting.ts';
import type { Sending } from './send-leg.ts';
import type { TakingBack } from './take-back.ts';
import type { Trades } from './trades.ts';

export interface Execution extends Sending, Pick<TakingBack, 'endEntry' | 'foundGone'> {
  readonly connections: Connections;
  /** An order that others may write too by now: where one has, that is how it stands. */
  saveSeen(order: Order): Promise<Order>;
  readonly counters: Pick<Counters, 'orderTaken' | 'orderSent' | 'takenOver'>;
  readonly tracing: Pick<Tracing, 'during' | 'apart'>;
  wait(ms: number): Promise<void>;
  /** By the clock on the wall; ends at once where the signal aborts. */
  rest(ms: number, signal: AbortSignal): Promise<void>;
  readonly rules: Rules;
  /** Months in which something was opened under the order's symbol, and that nothing is held in one any more. */
  monthsUnder(order: Order): Promise<readonly string[]>;
  forgetMonth(order: Order, instrument: string): void;
  /** By what is saved, an entry has something to close first; null: it cannot be read. Asked where the broker cannot be. */
  isAgainstRecord(order: Order): Promise<boolean | null>;
  /** What the account's guards say of an entry that is about to be sent. */
  judge(entry: GuardedEntry): Promise<readonly GuardVerdict[]>;
  /** Of the day's first order, whatever it is. Never in its way. */
  noteEquity(order: Order, line: Line): void;
  /** Who closed last what an exit finds nothing of, or since an entry was accepted what it would open again. */
  closedBy(order: Order, line: Line): Promise<'protection' | 'somebody'>;
  /** In one unit with its end: what it asks for is wanted from now on. */
  want: ProtectingOrder['want'];
  wanted: ProtectingOrder['wanted'];
  readonly protecting: Pick<Protecting, 'see' | 'free'>;
}

/** What a worker has in hand: an order, what else of its account is open, and which connection its account asks for. */
export interface Task extends Guarding {
  readonly order: Order;
  /** Orders of the same account and mode with a leg that is open, as far as we know. */
  readonly others: readonly Order[];
  /** The same as they stand by now, since somebody else may have seen their end; and the account's connection version. */
  now(): Promise<{ readonly others: readonly Order[]; readonly version: number | null }>;
  /** The account's connection version; null: look it up. */
  readonly version: number | null;
  readonly trades: Trades;
  /**
   * Patience, for so long, and with whom: the fault that it waits out, or null. The lane is others' meanwhile. Throws where the
   * worker stops: its successor goes on.
   */
  rest(ms: number, fault: BrokerUnavailable | null): Promise<void>;
}
