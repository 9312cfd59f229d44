// What whoever keeps a position protected is given, and what is said of it afterwards.

import type { Instrument, TriggerBy } from '../../broker/broker.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { OtherLeg } from '../../domain/orders/other-legs.ts';
import type { Quoted } from '../../domain/protection/follow.ts';
import type { ExitReason, Protection, ProtectiveLeg } from '../../domain/protection/protection.ts';
import type { Room, Rules, Step } from '../../domain/protection/step.ts';
import type { Closing } from '../../domain/protection/under-way.ts';
import type { Line } from '../line/line.ts';
import type { Place } from '../line/protective-leg.ts';
import type { Trades } from './trades.ts';

/** What a leg has closed, and what is left. */
export interface LegClosed {
  readonly leg: ProtectiveLeg;
  readonly fills: Extract<Step, { do: 'record' }>['fills'];
  readonly left: Decimal;
  /** Of our legs that are open beside it, how much is in that. */
  readonly counted: Order['counted'];
  /** Of one, at a price of 1, in the account's currency. */
  readonly unitValue: Decimal;
}

/** Each saves the protection as it stands by then, in one unit with what else it says; `changed`: somebody else has saved it since. */
interface ProtectionSaves {
  save(protection: Protection): Promise<Protection | 'changed'>;
  /** What the leg has closed enters the history of orders, once. */
  record(protection: Protection, closed: LegClosed): Promise<Protection | 'changed'>;
  /** An order that closes what is held is accepted for it. */
  close(protection: Protection, reason: ExitReason, held: Decimal): Promise<Protection | 'changed'>;
}

export interface Keeping {
  readonly saves: ProtectionSaves;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly rules: Rules;
  /** One for the whole process, whoever asks for the price of this instrument. */
  quote(line: Line, instrument: Instrument): Promise<Quoted>;
}

export interface ToKeep {
  readonly protection: Protection;
  readonly instrument: Instrument;
  readonly trades: Pick<Trades, 'expected' | 'closed' | 'explained' | 'standing'>;
  /** Open legs of our orders on this instrument. */
  readonly others: readonly OtherLeg[];
  readonly triggerBy: TriggerBy;
  readonly recorded: Place['recorded'];
  readonly unprotected: 'close' | 'alert';
  /** An order of ours may yet bring or take something on this side. */
  readonly isUnsettled: boolean;
  /** One that asks for a stop may have been filled, and nobody knows. */
  readonly isUndecided: boolean;
  /** Something has happened, or may have. */
  readonly isTold: boolean;
  /** Its owner wants it tried now, what was refused too. */
  readonly isAsked: boolean;
  /** What orders of ours close of it already. */
  readonly closing: Closing;
  /** Entries of ours that the broker takes no stop beside are taken back. */
  makeRoom?(): Promise<Room>;
}

export interface Kept {
  readonly protection: Protection;
  /** `changed`: it is to be read again. `closing`: an order is to be worked off. */
  readonly is: 'kept' | 'changed' | 'closing';
  /** When to look again. */
  readonly untilMs: number;
}
