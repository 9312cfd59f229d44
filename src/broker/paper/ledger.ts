// The port to the paper broker's ledger: what survives a restart, and what two processes may share.

import type { Decimal } from '../../domain/decimal.ts';
import type { ClientOrderId, Timestamp } from '../../domain/ids.ts';
import type { Holding as AverageCost } from '../../domain/money/average-cost.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { Instrument } from '../broker.ts';

/** An order that was accepted; what was rejected is not in the ledger. */
export interface PaperOrder extends BrokerOrderState {
  readonly brokerRef: string;
  readonly clientOrderId: ClientOrderId;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  readonly acceptedAt: Timestamp;
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
}

export interface BookChange {
  /** The book as it is to be; its version is one above that of the book it was made from. */
  readonly book: Book;
  readonly placed: PaperOrder | null;
  /** Orders that rested before the change. */
  readonly changed: readonly PaperOrder[];
}

export interface PaperLedger {
  read(book: string): Promise<Book>;
  find(book: string, clientOrderId: ClientOrderId): Promise<PaperOrder | null>;
  /**
   * One durable unit, all or nothing. `stale`: the book has moved on since it was read. `duplicate`: the placed
   * order's client id is known.
   */
  write(book: string, change: BookChange): Promise<'written' | 'stale' | 'duplicate'>;
}
