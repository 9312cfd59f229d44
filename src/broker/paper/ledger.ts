// The port to the paper broker's ledger: what survives a restart, and what two processes may share.

import type { Decimal } from '../../domain/decimal.ts';
import type { ClientOrderId, Timestamp } from '../../domain/ids.ts';
import type { Holding as AverageCost } from '../../domain/money/average-cost.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { Beside, Instrument, TriggerBy } from '../broker.ts';

/** An order that was accepted; what was rejected is not in the ledger. */
export interface PaperOrder extends BrokerOrderState {
  readonly brokerRef: string;
  readonly clientOrderId: ClientOrderId;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  /** Fills at this price or better, and rests until then; null: at the market. */
  readonly limit: Decimal | null;
  /** It waits until the price is there; null: it does not, or it was there. */
  readonly trigger: Decimal | null;
  /** When it ends by itself; null: it does not. */
  readonly goodUntil: Timestamp | null;
  /** Of another broker's market; null: our own list is known. */
  readonly instrument: Instrument | null;
  readonly acceptedAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Becomes an order at the market, which can only reduce, once the price is there. */
export interface PaperStop {
  readonly clientOrderId: ClientOrderId;
  readonly brokerRef: string;
  readonly symbol: string;
  /** Of the order that it becomes. */
  readonly side: Side;
  /** null: all that is held when it triggers. */
  readonly quantity: Decimal | null;
  readonly price: Decimal;
  readonly triggerBy: TriggerBy;
  /** It stands beside the order that rests under its id: whichever comes first ends the other. */
  readonly isBeside: boolean;
  /** `rejected`: it triggered, and its order was not taken. */
  readonly status: 'standing' | 'triggered' | 'cancelled' | 'expired' | 'rejected';
  /** What it became. */
  readonly orderId: ClientOrderId | null;
  /** Why it ended. */
  readonly reason: string | null;
  readonly acceptedAt: Timestamp;
  /** While it stands: since when it has this price. */
  readonly updatedAt: Timestamp;
}

/** A position; its cost is in the book's currency. */
export interface Holding extends AverageCost {
  /** Of another broker's market; our own list is known. */
  readonly instrument?: Instrument;
}

export interface Book {
  /** Every change compares and sets it; 0: nothing is written yet. */
  readonly version: number;
  /** Realised, less fees. The settings' starting cash comes on top, so that a change of it takes effect. */
  readonly profit: Decimal;
  /** By symbol; what is flat is not there. */
  readonly holdings: Readonly<Record<string, Holding>>;
  /** Accepted and not ended, oldest first. */
  readonly resting: readonly PaperOrder[];
  /** Those that stand, oldest first. */
  readonly stops: readonly PaperStop[];
  /** Up to when prices were looked at for what waits for one; null: nothing does. */
  readonly walkedTo: Timestamp | null;
}

export interface BookChange {
  /** The book as it is to be; its version is one above that of the book it was made from. */
  readonly book: Book;
  readonly placed: PaperOrder | null;
  /** Orders that rested before the change. */
  readonly changed: readonly PaperOrder[];
  /** Without it nothing is new about stops. */
  readonly stops?: StopChanges;
}

export interface StopChanges {
  readonly placed: PaperStop | null;
  /** Stops that stood before the change. */
  readonly changed: readonly PaperStop[];
  /** The orders that they became. */
  readonly orders: readonly PaperOrder[];
}

export interface PaperLedger {
  read(book: string): Promise<Book>;
  find(book: string, clientOrderId: ClientOrderId): Promise<PaperOrder | null>;
  findStop(book: string, clientOrderId: ClientOrderId): Promise<PaperStop | null>;
  /**
   * One durable unit, all or nothing. `stale`: the book has moved on since it was read. `duplicate`: the client id of the
   * order or stop that is placed is known. `unrecorded`: what was to be written beside it could not be, and so neither was.
   */
  write(
    book: string,
    change: BookChange,
    beside?: Beside | null,
  ): Promise<'written' | 'stale' | 'duplicate' | 'unrecorded'>;
}
