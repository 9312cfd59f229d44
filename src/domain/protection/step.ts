// The words of the decision: what it is decided on, and what there is to do. next-protection.ts decides.

import type { Capabilities } from '../capabilities.ts';
import type { Decimal } from '../decimal.ts';
import type { ClientOrderId } from '../ids.ts';
import type { BrokerOrderState } from '../orders/fill.ts';
import type { Side } from '../side.ts';
import type { Quoted } from './follow.ts';
import type { ExitReason, Protection, ProtectiveLeg } from './protection.ts';
import type { TriggerBy } from './settings.ts';

/** A stop that stands at the broker; see the port. */
export interface ShownStop {
  readonly clientOrderId: ClientOrderId | null;
  readonly brokerRef: string | null;
  readonly side: Side;
  readonly price: Decimal;
  /** null: all that is held. */
  readonly quantity: Decimal | null;
}

/** An order of ours that rests at the broker. */
export interface ShownOrder {
  readonly clientOrderId: ClientOrderId;
  readonly brokerRef: string;
}

/** What a leg has closed: as a target, or as a stop. */
export interface LegFill {
  readonly by: 'stop' | 'target';
  readonly order: BrokerOrderState;
}

/** What became of a leg, as the broker says when it is asked for that one. */
export interface Fate {
  readonly brokerRef: string | null;
  /** `triggered`: it has become an order that has not ended. */
  readonly status: 'standing' | 'triggered' | 'ended';
  /** The order that it became is known. */
  readonly isOrdered: boolean;
  /** So far. A target with a stop beside it may have been filled in part before the stop came. */
  readonly fills: readonly LegFill[];
  /** It triggered, and its order ended before it had closed all that it was to close. */
  readonly hasDied: boolean;
  /** Its time at the broker was over: nobody took it away. */
  readonly hasExpired: boolean;
}

export interface Held {
  /** On the protected side; zero where the other one is held. */
  readonly quantity: Decimal;
  /** Or what our own fills make of it, where that is more: what was added may not be shown yet. */
  readonly most: Decimal;
  /** The same, where that is less: what was closed may still be shown. */
  readonly least: Decimal;
  /** It is what our own fills make of it, or they say nothing. */
  readonly isAgreed: boolean;
}

/** Of entries of ours that are in the way of a stop: they are not there any more, they are about to go, or there are none. */
export type Room = 'made' | 'awaited' | 'none';

export interface Rules {
  /** So long after the fill a stop is tried, as often as it is to be, and then what the account's `unprotected` says is done. */
  readonly protectMs: number;
  readonly sweepMs: number;
  readonly followMs: number;
  /** A stop that is not shown so long after it was sent is sent again: it can only reduce. */
  readonly lostMs: number;
  /** So long what the broker does not know may yet arrive, or turn out to have been filled. */
  readonly giveUpMs: number;
}

export interface Facts {
  readonly now: number;
  readonly able: Pick<Capabilities, 'moves' | 'reserves'>;
  /** By whose ids it shows stops; none: by their price. */
  readonly names: 'ours' | 'theirs' | 'none';
  readonly tickSize: Decimal;
  readonly quantityStep: Decimal;
  /** Which price a stop is to watch. */
  readonly triggerBy: TriggerBy;
  readonly minQuantity: Decimal;
  /** null: to be read. */
  readonly held: Held | null;
  /** Those on the closing side, whoever set them; null: to be looked at. */
  readonly stops: readonly ShownStop[] | null;
  /** Targets of this protection that rest at the broker, by its references; null: nobody has looked. */
  readonly resting: readonly ShownOrder[] | null;
  /** Of legs that were asked for in this pass; null: the broker has none. */
  readonly fates: ReadonlyMap<ClientOrderId, Fate | null>;
  readonly quoted: Quoted | null;
  /** An order of ours may yet bring or take something on this side. */
  readonly isUnsettled: boolean;
  /** One that asks for a stop may have been filled, and nobody knows: its wish is not taken in, or not for good. */
  readonly isUndecided: boolean;
  /** Something has happened, or may have: everything is looked at. Else the price alone can change what is wanted. */
  readonly isTold: boolean;
  /** It can be traded now: while it cannot, an order at the market is refused. */
  readonly isOpen: boolean;
  /** When somebody wanted it tried now, what was refused before that too; null: nobody does. */
  readonly askedAt: number | null;
  /** What the order that closes the position for it has still to close; null: none is under way. */
  readonly closing: Decimal | null;
  /** What orders of ours rest for at the broker that close some of it. */
  readonly reserved: Decimal;
  /** What to do where the broker refuses the stop. */
  readonly unprotected: 'close' | 'alert';
  /** How often this pass has waited for the broker to show what it was asked for. */
  readonly waits: number;
  /** What this pass has asked to leave, by the ids or references that it has at the broker. */
  readonly asked: ReadonlySet<string>;
}

/** `protection`: how it stands by then; it is saved before anything is sent. */
export type Step =
  | { readonly do: 'read the position' }
  | { readonly do: 'look at the stops' }
  | { readonly do: 'find'; readonly leg: ProtectiveLeg }
  | { readonly do: 'ask for the price' }
  /** Whether something of ours rests that is in no record. */
  | { readonly do: 'look at the orders' }
  /** `leg`: the last of its legs, as it stands there. */
  | { readonly do: 'place'; readonly protection: Protection; readonly leg: ProtectiveLeg }
  /** `from`: as it stands at the broker. */
  | {
      readonly do: 'move';
      readonly protection: Protection;
      readonly from: ProtectiveLeg;
      readonly leg: ProtectiveLeg;
    }
  | { readonly do: 'remove'; readonly protection: Protection; readonly leg: ProtectiveLeg }
  /** One that stands there and is in no record any more: it was given up, and arrived after all. */
  | { readonly do: 'clear'; readonly protection: Protection; readonly stop: ShownStop }
  | { readonly do: 'cancel'; readonly protection: Protection; readonly order: ShownOrder }
  /** What a leg has filled is written down, once. */
  | {
      readonly do: 'record';
      readonly protection: Protection;
      readonly leg: ProtectiveLeg;
      readonly fills: readonly (LegFill & { readonly reason: ExitReason })[];
    }
  /** What is held is closed at the market. */
  | { readonly do: 'close'; readonly protection: Protection; readonly reason: ExitReason }
  /** Looked at again soon, within this pass. */
  | { readonly do: 'wait'; readonly protection: Protection; readonly ms: number }
  /** All is as it is wanted, or nothing can be done before then. */
  | { readonly do: 'rest'; readonly protection: Protection; readonly untilMs: number }
  | { readonly do: 'end'; readonly protection: Protection };
