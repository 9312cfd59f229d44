// The words of the decision: what it is decided on, and what there is to do. domain/orders/next-step.ts decides.

import type { Decimal } from '../decimal.ts';
import type { GuardVerdict, Leg, LegKey, Order, OrderError, Side } from './order.ts';
import type { OtherLeg } from './other-legs.ts';
import { stopped } from './outcome.ts';
import type { Holding } from './position.ts';
import type { OrderMarket } from './sized-order.ts';

/** What the broker can promise; see the port. */
interface Abilities {
  readonly refusesDuplicateIds: boolean;
  readonly reduceOnly: boolean;
  readonly fractionalQuantities: boolean;
  /** It keeps stops for whole quantities only. */
  readonly wholeStops?: boolean;
}

/** What guards said, and of which entry: another plan is judged anew. */
export interface Judgement {
  readonly verdicts: readonly GuardVerdict[];
  readonly quantity: Decimal;
  readonly positionAfter: Decimal;
}

/** How often, and for how long, something was looked at. By the clock and by what was waited, whichever is more. */
export interface Watch {
  readonly looks: number;
  readonly ms: number;
}

export const UNWATCHED: Watch = { looks: 0, ms: 0 };

export interface Rules {
  /** A broker that acknowledges and fills a moment later: so long the answer waits for the fill. */
  readonly fillWaitMs: number;
  /** So long an entry waits for the account's other open legs on its instrument; one that rests is not waited for longer. */
  readonly settleMs: number;
  /** A reversal's entry waits so long for its close. */
  readonly closeWaitMs: number;
  /** At first sooner, and then so far apart a leg is looked at. */
  readonly lookEveryMs: number;
  /** What has not arrived at the broker this long after it was sent is given up. */
  readonly giveUpMs: number;
  /** A broker's positions may lag so far behind its fills. */
  readonly lagMs: number;
  /** What is older opens nothing any more, however long it may close. */
  readonly openWithinMs: number;
}

/** A close that the broker took for one that could trade with another order of the account. */
export interface Opposed {
  /** Of the close. */
  readonly side: Side;
  /** In a row. */
  readonly times: number;
  readonly error: OrderError;
}

/** As the broker says, beside what should be held by our fills of late; null: there were none. */
export interface Held extends Holding {
  readonly expected: Decimal | null;
}

export interface Facts {
  readonly now: number;
  readonly able: Abilities;
  /** The broker's name for what the order's symbol means now, or why it has none; null: to be asked. */
  readonly instrument: string | { readonly rejection: OrderError } | null;
  /** The connection is of the credentials with which the order's legs were sent, if any were. */
  readonly isSameLogin: boolean;
  readonly others: readonly OtherLeg[];
  /** Since they were first looked at. */
  readonly othersWatch: Watch;
  /** Of every month that may be held, the oldest first; mostly there is one. null: to be read. */
  readonly position: { readonly held: readonly Held[]; readonly readAt: number } | null;
  /** Since it was first read. */
  readonly positionWatch: Watch;
  /** What is held stood against this entry when it was last read. */
  readonly mayReverse: boolean;
  /** What the account's guards say of the entry that is about to be sent; none: it has none. */
  readonly guards: 'none' | 'unjudged' | Judgement;
  /** Until the broker takes calls again, in ms. */
  readonly busyMs: number;
  /** How often the broker has refused this order for the rate. */
  readonly refusals: number;
  /** Of the leg in hand, since it was sent or found. */
  readonly watch: Watch;
  /** The leg in hand was looked for, and the broker does not have it. */
  readonly isMissing: boolean;
  /** By what an order is sized that counts something else than units; null: it was not asked for, or nobody could tell. */
  readonly market: OrderMarket | null;
  /** Why the market does not let what is to protect an entry stand; null: it does, or nothing is. */
  readonly wrong: OrderError | null;
  /** Why the prices that an entry waits for cannot stand; null: they can, or it waits for none. */
  readonly wrongPrice: OrderError | null;
  /** Entries that are in its way were asked to end, and their end was waited for. */
  readonly isCleared: boolean;
  /** The broker did not take its close beside an order of the other side; null: it did, or was not asked yet. */
  readonly opposed: Opposed | null;
  /** What is not held any more; null: to be asked, where somebody wants to close it. */
  readonly closedBy: 'protection' | 'somebody' | null;
  /** "Not found" is this broker's word, and can be believed of the leg in hand. */
  readonly isBelieved: boolean;
}

/** `rests`: it is patience that waits, for as long as it says; a worker that stops does not wait for it. */
export interface Pause {
  readonly afterMs: number;
  readonly rests: boolean;
}

export type Step =
  | { readonly do: 'resolve the symbol' }
  | ({ readonly do: 'look at others'; readonly withinMs: number } & Pause)
  /** Entries: why is saved, they are asked to end, and that is waited for. */
  | { readonly do: 'take back'; readonly others: readonly OtherLeg[] }
  | ({ readonly do: 'read the position' } & Pause)
  /** Wait until the broker takes calls again. */
  | ({ readonly do: 'wait' } & Pause)
  /** `withinMs`: an answer that comes later is of no use. */
  | ({ readonly do: 'look'; readonly leg: Leg; readonly withinMs: number | null } & Pause)
  | { readonly do: 'ask who closed it' }
  | { readonly do: 'judge the guards'; readonly order: Order; readonly positionAfter: Decimal }
  | { readonly do: 'send'; readonly order: Order; readonly leg: LegKey; readonly again: boolean }
  | { readonly do: 'end'; readonly order: Order };

export const end = (order: Order): Step => ({ do: 'end', order });

/** It is not made, and this is why. */
export const refuse = (order: Order, error: OrderError): Step => end(stopped(order, 'rejected', error));
