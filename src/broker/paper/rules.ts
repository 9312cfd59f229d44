// Which exchange it is, and at which moment it decides.

import { hash } from 'node:crypto';
import type { Decimal } from '../../domain/decimal.ts';
import type { PaperSettings } from '../../domain/paper-settings.ts';
import { type Quotes, waits } from './book.ts';
import type { Book, PaperOrder } from './ledger.ts';
import type { Listing, Path } from './market.ts';
import { AROUND_THE_CLOCK, type Session } from './session.ts';

/** The paper broker's, or the one behind a simulation. */
export interface Rules {
  readonly book: string;
  /** In front of the references that it gives. */
  readonly prefix: string;
  readonly settings: PaperSettings;
  /** A simulation has no margin and no closing time. */
  readonly isUnlimited: boolean;
  /** For how long an order rests before anything becomes of it; as a rule not at all. */
  readonly restsMs?: (order: PaperOrder) => number;
  /** Parts of orders are multiples of it; as a rule of the listing's own. */
  readonly partStep?: (symbol: string) => Decimal | undefined;
  /** As a rule the usual ones. */
  readonly manners?: () => Manners;
}

/** In what exchanges differ about stops and about what rests. */
export interface Manners {
  /** What becomes of another stop of the position: it stands beside the first, is refused, or takes its place. */
  readonly secondStop: 'beside' | 'refused' | 'instead';
  /** When the position is closed, so do its stops end, and the limits that could only reduce it. */
  readonly endsWithPosition: boolean;
  /** A stop is refused where nothing is held that it could close. */
  readonly stopsNeedPosition: boolean;
  /** What an order or a stop would close is kept for it: nothing else can close that. */
  readonly reserves: boolean;
}

export const USUAL_MANNERS: Manners = {
  secondStop: 'beside',
  endsWithPosition: true,
  stopsNeedPosition: true,
  reserves: false,
};

export const mannersOf = ({ manners }: Rules): Manners => manners?.() ?? USUAL_MANNERS;

/** When something is decided, and at which prices. */
export interface Moment {
  readonly now: number;
  readonly quotes: Quotes;
  /** How the price got here; null: a foreign market's, whose past nobody knows. */
  path(listing: Listing): Path | null;
  /** Of a foreign market only where it was asked for. */
  isQuoted(listing: Listing): boolean;
  /** Prices were set at this very moment: what is reached by them is reached now. */
  readonly isJump?: boolean;
}

export const sessionOf = (listing: Listing, rules: Rules): Session =>
  rules.isUnlimited ? AROUND_THE_CLOCK : listing.session;

/** Derived from the book and the client's id, so that a repeat has the same. */
export function brokerRef(id: string, rules: Rules): string {
  const digest = hash('sha256', `${rules.book}:${id}`);
  return `${rules.prefix}-${digest.slice(0, 20)}`;
}

/** The book after prices were looked at up to this moment, where anything waits for one. */
export function walkedTo(book: Book, now: Book['walkedTo'] & string): Book {
  const reached = book.walkedTo !== null && book.walkedTo > now ? book.walkedTo : now;
  const until = waits(book) ? reached : null;
  return until === book.walkedTo ? book : { ...book, walkedTo: until };
}
