// What a process counts of its own doing, for who watches the deployment. A call costs about a microsecond and never fails. No
// user, account or symbol: what is counted by name has few names, all of them ours.

import type { BrokerName } from './brokers.ts';
import type { DenialCode } from './denial.ts';
import type { OrderStatus } from './orders/order.ts';

/** By which a user is told of something. */
export const CHANNELS = ['mail', 'telegram', 'discord', 'slack', 'webhook'] as const;
type Channel = (typeof CHANNELS)[number];

/** Where something is let through because what decides it is away. */
export const FAIL_OPENS = ['rate_limit', 'broker_reads'] as const;
type FailOpen = (typeof FAIL_OPENS)[number];

/** How a webhook was answered: the order's result, a 202, a refusal, or a fault of ours. */
export const ANSWERS = ['result', 'accepted', 'denied', 'failed'] as const;
export type AnswerKind = (typeof ANSWERS)[number];

/** What a worker asks a broker for: an order, how one stands, and everything else. */
export type BrokerCall = 'place' | 'find' | 'ask';

/** What a broker is asked about stops: to take, move or remove one, which of them stand, and what became of one. */
export const PROTECTION_CALLS = ['place', 'move', 'remove', 'standing', 'find'] as const;
export type ProtectionCall = (typeof PROTECTION_CALLS)[number];
/** `unknown`: the answer was lost. */
type ProtectionOutcome = 'accepted' | 'rejected' | 'unknown' | 'answered' | 'failed';

/** What somebody's death left, and another has now. */
export const TAKEOVERS = ['user', 'order'] as const;
type Takeover = (typeof TAKEOVERS)[number];

/** Whose order it is: a broker's, or that of the simulated books. */
export type Venue = BrokerName | 'simulation';

export const venueOf = (order: { readonly brokerName: BrokerName; readonly simulation: boolean }): Venue =>
  order.simulation ? 'simulation' : order.brokerName;

export interface SweepInterval {
  readonly broker: BrokerName;
  readonly ms: number;
}

export interface Counters {
  webhookAnswered(answer: AnswerKind, ms: number): void;
  denied(code: DenialCode): void;
  failedOpen(what: FailOpen): void;

  /** So many orders a group's signal became. */
  groupOrders(count: number): void;
  /** By its worker, so long after its acceptance. */
  orderTaken(ms: number): void;
  /** To the broker, for the first time, so long after its acceptance. */
  orderSent(venue: Venue, ms: number): void;
  orderEnded(venue: Venue, outcome: OrderStatus): void;
  /** It answered, and nobody could read it. `call`: as the connector names it. */
  replyUnreadable(broker: BrokerName, call: string): void;
  brokerCalled(venue: Venue, call: BrokerCall, outcome: 'answered' | 'failed', ms: number): void;
  /** So long after it was due. */
  checkTaken(ms: number): void;
  deadLetter(): void;

  protectionCalled(call: ProtectionCall, outcome: ProtectionOutcome): void;
  /** So long after its first fill was known its stop was seen at the broker. */
  positionProtected(venue: Venue, ms: number): void;
  /** Somebody else had taken it away, or changed it. */
  protectionRestored(): void;
  /** How far apart two sweeps of a position are by now is asked whenever somebody reads the figures. */
  watchSweeps(intervals: () => readonly SweepInterval[]): void;

  workerStarted(): void;
  takenOver(what: Takeover): void;

  notified(channel: Channel, outcome: 'sent' | 'failed' | 'dropped'): void;

  /** A unit waited so long for its turn to be committed. */
  commitWaited(ms: number): void;
  /** So many units in one transaction, which took so long. */
  committed(units: number, ms: number): void;
  /** For one of the pool's connections. */
  poolWaited(pool: string, ms: number): void;
  /** How many wait for one is asked whenever somebody reads the figures. */
  watchPool(pool: string, waiting: () => number): void;
}

/** For who is not watched. */
export const UNCOUNTED: Counters = {
  webhookAnswered() {},
  denied() {},
  failedOpen() {},
  groupOrders() {},
  orderTaken() {},
  orderSent() {},
  orderEnded() {},
  replyUnreadable() {},
  brokerCalled() {},
  checkTaken() {},
  deadLetter() {},
  protectionCalled() {},
  positionProtected() {},
  protectionRestored() {},
  watchSweeps() {},
  workerStarted() {},
  takenOver() {},
  notified() {},
  commitWaited() {},
  committed() {},
  poolWaited() {},
  watchPool() {},
};
