// Saves a leg as `sending`, sends it, and tells what became of it. Before that, what would keep the broker from taking it is taken away.

import {
  BrokerBusy,
  type BrokerOrder,
  BrokerUnavailable,
  type FillOutcome,
  unitValueOf,
} from '../../broker/broker.ts';
import { type Counters, venueOf } from '../../domain/counters.ts';
import { timestamp } from '../../domain/ids.ts';
import { STALE_MS } from '../../domain/orders/fill.ts';
import {
  hasEnded,
  isLate,
  keyOf,
  type Leg,
  type LegKey,
  legOf,
  type Order,
  passed,
  type Side,
  sinceAccepted,
  wasSent,
  withLeg,
} from '../../domain/orders/order.ts';
import { heldBack, lost, rateLimited, recordOutcome, stopped } from '../../domain/orders/outcome.ts';
import { isWorthWaiting } from '../../domain/orders/patience.ts';
import { mayRest } from '../../domain/orders/priced.ts';
import type { Opposed } from '../../domain/orders/step.ts';
import { brokerOrder } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import type { AboutToSend, Guarding, Recording } from '../orders.ts';
import type { Instruments } from './instruments.ts';
import { passedMeanwhile } from './priced-entry.ts';
import type { Protecting } from './protecting.ts';
import type { Trades } from './trades.ts';
import { pauseSince } from './watches.ts';

export interface Sending {
  /** As in orders.ts, but all of them throw OrderTaken where another worker has the order, or the user. */
  save(order: Order, options?: { settled: boolean }): Promise<Order>;
  saveSending(order: Order, revision: number | null): Promise<Order | 'halted' | Guarding>;
  /** For a broker that fills it at once, and saves with that that it was sent and has ended. null: nothing is filled. */
  readonly record: ((ended: Order, sent: AboutToSend) => Recording) | null;
  readonly clock: { now(): number };
  readonly counters: Pick<Counters, 'orderSent'>;
  readonly rules: { readonly giveUpMs: number };
}

interface ToSend {
  readonly order: Order;
  readonly leg: LegKey;
  readonly again: boolean;
  readonly revision: number | null;
  readonly refusals: number;
  /** An entry was not taken beside what protects the position: whether that has left for it. */
  makeWay(): Promise<boolean>;
  now(): number;
}

export interface Sent {
  /** As it goes on. */
  readonly order: Order;
  readonly revision: number | null;
  readonly refusals: number;
  /** It is as if it had not been sent. */
  readonly opposed?: Omit<Opposed, 'times'>;
  /** That was its end, and it was saved with its fill. */
  readonly isSaved?: boolean;
  /** A guard was set meanwhile: the entry is to be judged anew. */
  readonly guards?: Guarding['guards'];
}

interface Freeing {
  readonly protecting: Pick<Protecting, 'free'>;
  readonly line: Line;
  readonly trades: Trades;
}

/** In a row. What the broker does not let go is not waited for until the deadline: it says itself whether it takes the order. */
const MOST_FREES = 2;

/** What protects the position leaves for what is sent, and for nothing else. true: it has left only now, and may have been filled meanwhile. */
export function freeing({ protecting, line, trades }: Freeing) {
  let [before, beside] = [0, 0];
  type Sent = Pick<ToSend, 'order' | 'leg'>;
  const free = (instruments: Instruments, { order, leg: key }: Sent, side: Side) =>
    protecting.free(
      order,
      { instrument: instruments.get(legNamed(order, key).instrument), side },
      line,
      trades,
    );
  return {
    /** Where the broker reserves it, it keeps what is to be closed. */
    async forClose(instruments: Instruments, sent: Sent): Promise<boolean> {
      const isKept = line.capabilities.reserves && before < MOST_FREES;
      const hasFreed = isKept && (await free(instruments, sent, legNamed(sent.order, sent.leg).side));
      before = hasFreed ? before + 1 : 0;
      return hasFreed;
    },
    /** The broker takes no order to add to the position beside it. One that rests would stand against it again, and is refused. */
    async forEntry(instruments: Instruments, sent: Sent): Promise<boolean> {
      const { priced } = sent.order;
      if ((priced && mayRest(priced)) || beside >= MOST_FREES) return false;
      beside++;
      return free(instruments, sent, legNamed(sent.order, sent.leg).side === 'buy' ? 'sell' : 'buy');
    },
  };
}

export async function sendLeg(
  deps: Sending,
  line: Line,
  instruments: Instruments,
  { order: planned, leg: key, again, revision, refusals, makeWay, now }: ToSend,
): Promise<Sent> {
  const instrument = instruments.get(legNamed(planned, key).instrument);
  const goesOn = (to: Order): Sent => ({ order: to, revision, refusals });
  if (planned.priced && legNamed(planned, key).leg === 'entry' && wasSent(planned) && !again) {
    const passedBy = await passedMeanwhile(line, instrument, planned);
    if (passedBy) return goesOn(stopped(planned, 'failed', passedBy));
  }
  const pause = pauseSince(now);
  const sending = {
    status: 'sending',
    sentAt: timestamp(now()),
    unitValue: unitValueOf(instrument),
  } as const;
  const toSend = {
    ...withLeg(passed(planned, 'sent', now()), key, sending),
    credentialsVersion: line.credentialsVersion,
  };
  const countSent = (sinceMs: number) => {
    if (!('sent' in planned.trace)) deps.counters.orderSent(venueOf(planned), sinceMs);
  };
  const filled = await fill();
  if (filled) return filled;
  const saved = await deps.saveSending(toSend, revision);
  if (saved === 'halted') return goesOn(again ? lost(planned, key) : heldBack(planned));
  // A guard that was set since holds too: the entry is judged anew.
  if ('revision' in saved) return { ...goesOn(planned), revision: saved.revision, guards: saved.guards };
  const order = saved;
  countSent(sinceAccepted(order, now()));
  if (hasEnded(order.status)) return { ...goesOn(order), isSaved: true };
  // The process stood still in between, and whoever looked for the order meanwhile may have given it up: not now.
  if (pause() > STALE_MS || isLate(order, now()))
    return goesOn(again ? order : await unsend(deps, order, key));
  try {
    const outcome = await line.place(atBroker(order));
    const acked = passed(order, 'acked', now());
    // Whatever becomes of this attempt, an earlier one may have gone out: it can only be found, never ruled out.
    if (again && outcome.outcome === 'rejected') return goesOn(lost(acked, key));
    if (outcome.outcome === 'rejected' && outcome.isOpposed) {
      const { leg, side } = legNamed(order, key);
      const isExit = leg === 'exit';
      if (isExit || (await makeWay()))
        return {
          ...goesOn(await unsend(deps, order, key)),
          ...(isExit && { opposed: { side, error: outcome.error } }),
        };
    }
    const after = recordOutcome(acked, key, outcome, now());
    if (!isWorthKeeping(after, key)) return goesOn(after);
    // Before anything is waited for: the broker's own id may be all that the order can be found by.
    return goesOn(await deps.save(after, { settled: after.status !== 'executing' }));
  } catch (fault) {
    if (fault instanceof BrokerBusy) return { ...goesOn(await afterRefusal(fault)), refusals: refusals + 1 };
    // The connector's word that nothing was sent: the leg is as it was before.
    if (fault instanceof BrokerUnavailable && !again) await unsend(deps, order, key);
    throw fault;
  }

  function atBroker(order: Order): BrokerOrder {
    return brokerOrder(order, legNamed(order, key), instrument, deps.rules.giveUpMs);
  }

  /** Where the broker's book lies in our own database, all is one unit. null: it is sent as to any other broker. */
  async function fill(): Promise<Sent | null> {
    const { record } = deps;
    if (!record || !line.fill || again || !isLastOf(toSend, key)) return null;
    const sinceMs = sinceAccepted(toSend, now());
    let recording: Recording | null = null;
    const filling = line.fill(atBroker(toSend), (state) => {
      if (pause() > STALE_MS || isLate(toSend, now())) return null;
      const filled = recordOutcome(
        passed(toSend, 'acked', now()),
        key,
        { outcome: 'accepted', state },
        now(),
      );
      if (!hasEnded(filled.status)) return null;
      recording = record(passed(filled, 'answered', now()), { order: toSend, revision });
      return recording.unit;
    });
    const outcome = await filling.catch(apartWhereBusy);
    const recorded = outcome.outcome === 'apart' ? null : await savedBy(recording, outcome);
    if (!recorded) return null;
    countSent(sinceMs);
    return { ...goesOn(recorded), isSaved: true };
  }

  /** Certainly not taken. It is as if it had not been sent, where it is worth waiting for the next try. */
  async function afterRefusal({ retryAfterMs }: BrokerBusy): Promise<Order> {
    if (again) return lost(order, key);
    const facts = { now: now(), busyMs: retryAfterMs, refusals: refusals + 1, mayReverse: false };
    if (isWorthWaiting(order, facts)) return unsend(deps, order, key);
    const error = rateLimited(retryAfterMs, order);
    return recordOutcome(order, key, { outcome: 'rejected', error }, now());
  }
}

/** Nothing of it is left to be sent after this leg. */
const isLastOf = ({ legs, awaitsRest }: Order, key: LegKey): boolean =>
  !awaitsRest && legs.every((leg) => leg.status !== 'planned' || keyOf(leg) === key);

/** It is turned away once more as it is sent, as any other. */
function apartWhereBusy(fault: unknown): FillOutcome {
  if (fault instanceof BrokerBusy) return { outcome: 'apart' };
  throw fault;
}

const savedBy = async (recording: Recording | null, { outcome }: FillOutcome): Promise<Order | null> =>
  recording ? recording.saved(outcome === 'filled') : null;

/** Certainly not sent. Where no other leg was, the plan is forgotten too: what is held may change meanwhile. */
function unsend({ save }: Sending, order: Order, key: LegKey): Promise<Order> {
  const back = withLeg(order, key, { status: 'planned', sentAt: null });
  return save(
    wasSent(back)
      ? back
      : {
          ...back,
          legs: [],
          autoExit: false,
          awaitsRest: false,
          positionBefore: null,
          credentialsVersion: null,
        },
  );
}

/** An acknowledgement, or the refusal of a close that is not the end: neither can be asked for again. */
function isWorthKeeping(order: Order, key: LegKey): boolean {
  const { status } = legNamed(order, key);
  if (status === 'rejected') return order.status === 'executing';
  return status === 'placed' || status === 'partially_filled';
}

function legNamed(order: Order, key: LegKey): Leg {
  const leg = legOf(order, key);
  if (!leg) throw new Error(`order ${order.id} has no ${key} leg`);
  return leg;
}
