// One order at the broker, from `queued` to whatever the broker makes of it. Every step is saved before the next one
// is taken, so that this function can be called again on an order that a dead worker left anywhere in between: legs
// that were never sent are planned, a leg that may have been sent is asked for by its client order id first.

import {
  type BrokerOrder,
  BrokerUnavailable,
  type Instrument,
  type OrderQuery,
  type PlaceOutcome,
} from '../broker/broker.ts';
import { recordState, STALE_MS } from '../domain/fill.ts';
import { millis, timestamp } from '../domain/ids.ts';
import {
  clientOrderId,
  hasEnded,
  isLate,
  isOpenLeg,
  type Leg,
  type LegName,
  legOf,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
  passed,
  withLeg,
} from '../domain/order.ts';
import { planOrder } from '../domain/position.ts';
import type { Connections, GuardedBroker } from './connections.ts';

export interface Execution {
  readonly connections: Connections;
  /** As in orders.ts, but both throw OrderTaken where another worker has the order, or the user. */
  save(order: Order, options?: { settled: boolean }): Promise<Order>;
  saveSending(order: Order): Promise<Order | 'halted'>;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly reversalPolls: number;
  readonly reversalPollMs: number;
  /** What has not arrived at the broker this long after it was sent is to be refused there: we have given it up. */
  readonly giveUpMs: number;
}

/** Another worker has taken the order, or the user, over: whatever this one was about to do, it must not. */
export class OrderTaken extends Error {
  override readonly name = 'OrderTaken';
}

const MARGIN_MS = 1_000;

export async function executeOrder(deps: Execution, accepted: Order): Promise<Order> {
  const now = () => deps.clock.now();
  const settle = (order: Order) => deps.save(passed(order, 'answered', now()), { settled: true });

  // What was saved last: where the task goes on after a reconnect.
  let order = accepted;
  if (order.status === 'queued') {
    const taken = passed(order, 'taken', now());
    if (isLate(order, now())) return settle(moveTo(taken, 'expired', { error: tooLate(order) }));
    order = await deps.save(moveTo(taken, 'executing'));
  }
  try {
    return await deps.connections.use(order, trade);
  } catch (fault) {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    return settle(givenUp(order, 'failed', unreachable(fault)));
  }

  async function trade(broker: GuardedBroker): Promise<Order> {
    const instrument = await broker.resolve(order.symbol);
    if ('rejection' in instrument) return settle(givenUp(order, 'rejected', instrument.rejection));
    let current = order.legs.length > 0 ? order : await plan(broker, instrument);
    for (const { leg } of current.legs) {
      current = await send(broker, instrument, current, leg);
      if (hasEnded(current.status) || isMain(current, leg)) break;
      if (current !== order) order = await deps.save(current);
      current = await awaitClose(broker, instrument, leg);
      if (hasEnded(current.status)) break;
    }
    return settle(current);
  }

  async function plan(broker: GuardedBroker, instrument: Instrument): Promise<Order> {
    const position = await broker.position(instrument);
    const { legs, autoExit } = planOrder(order.intent, order.quantity, position);
    const planned: Order = {
      ...order,
      positionBefore: position,
      autoExit,
      legs: legs.map(({ leg, side, quantity }) => ({
        leg,
        clientOrderId: clientOrderId(order.id, leg),
        brokerRef: null,
        side,
        quantity,
        status: 'planned',
        fillPrice: null,
        fillQuantity: null,
        fee: null,
        instrument: null,
        sentAt: null,
        ackedAt: null,
        filledAt: null,
      })),
    };
    return legs.length > 0 ? planned : rejected(planned, nothingHeld(order));
  }

  /** Saves the leg as `sending`, sends it, and returns the order with what became of it, yet to be saved. */
  async function send(
    broker: GuardedBroker,
    instrument: Instrument,
    current: Order,
    name: LegName,
  ): Promise<Order> {
    const leg = legNamed(current, name);
    const { status } = leg;
    if (status !== 'planned' && status !== 'sending') return current;
    // Whatever becomes of this attempt, an earlier one may have gone out: it can only be found, never ruled out.
    const mayBeThere = status === 'sending';
    if (mayBeThere) {
      const found = await broker.find(queryOf(leg, instrument.symbol));
      if (found) return recordState(current, name, found, now());
      // Not there, though it may yet arrive. Sending the same id again is safe only where a second one is refused.
      if (!broker.capabilities.refusesDuplicateIds || isLate(current, now())) return lost(current, name);
    }
    if (isLate(current, now())) return late(current);
    const pause = pauseSince(now);
    const { symbol } = instrument;
    const sending = { status: 'sending', instrument: symbol, sentAt: timestamp(now()) } as const;
    const saved = await deps.saveSending(withLeg(passed(current, 'sent', now()), name, sending));
    if (saved === 'halted') return mayBeThere ? lost(current, name) : heldBack(current);
    order = saved;
    // The process stood still in between, and whoever looked for the order meanwhile may have given it up: not now.
    if (pause() > STALE_MS || isLate(order, now())) {
      if (!mayBeThere) order = await unsent(name);
      return send(broker, instrument, order, name);
    }
    let outcome: PlaceOutcome;
    try {
      outcome = await broker.place(brokerOrder(order, legNamed(order, name), instrument, deps.giveUpMs));
    } catch (fault) {
      // The connector's word that nothing was sent: the leg is as it was before, and may be sent after a reconnect.
      if (fault instanceof BrokerUnavailable && !mayBeThere) order = await unsent(name);
      throw fault;
    }
    const acked = passed(order, 'acked', now());
    if (mayBeThere && outcome.outcome === 'rejected') return lost(acked, name);
    return recordOutcome(acked, name, outcome, now());
  }

  function unsent(name: LegName): Promise<Order> {
    return deps.save(withLeg(order, name, { status: 'planned', instrument: null, sentAt: null }));
  }

  /** Auto-reversal: polls the close until it is filled; what comes of it otherwise has failed. */
  async function awaitClose(broker: GuardedBroker, instrument: Instrument, name: LegName): Promise<Order> {
    let seen = order;
    for (let poll = 0; isOpenLeg(legNamed(seen, name)) && poll < deps.reversalPolls; poll++) {
      await deps.wait(deps.reversalPollMs);
      // An unavailable broker is a poll without an answer: the polls are the retries.
      const state = await broker.find(queryOf(legNamed(seen, name), instrument.symbol)).catch(ifUnavailable);
      if (state) seen = recordState(seen, name, state, now());
    }
    const close = legNamed(seen, name);
    if (close.status === 'filled') return seen;
    const error = (isOpenLeg(close) ? null : seen.exitError) ?? closeUnfilled(seen, close, deps);
    return moveTo(seen, 'failed', { error, exitError: error });
  }
}

/** By both clocks: one stands still while a machine sleeps, the other can be set back. */
function pauseSince(now: () => number): () => number {
  const [wall, steady] = [now(), performance.now()];
  return () => Math.max(now() - wall, performance.now() - steady);
}

function ifUnavailable(fault: unknown): null {
  if (fault instanceof BrokerUnavailable) return null;
  throw fault;
}

function legNamed(order: Order, name: LegName): Leg {
  const leg = legOf(order, name);
  if (!leg) throw new Error(`order ${order.id} has no ${name} leg`);
  return leg;
}

/** `symbol`: the instrument's of today, for a leg that was sent before it was pinned. */
export const queryOf = (leg: Leg, symbol: string): OrderQuery => ({
  clientOrderId: leg.clientOrderId,
  brokerRef: leg.brokerRef,
  symbol: leg.instrument ?? symbol,
  side: leg.side,
  quantity: leg.quantity,
  sentAt: leg.sentAt ?? timestamp(0),
});

const brokerOrder = (order: Order, leg: Leg, instrument: Instrument, giveUpMs: number): BrokerOrder => ({
  clientOrderId: leg.clientOrderId,
  instrument,
  side: leg.side,
  quantity: leg.quantity,
  // A leg that closes must never open the other side, whatever happened since the position was read.
  reduceOnly: leg.leg === 'exit',
  // Well before we give it up, by whatever clock.
  sendBefore: timestamp(
    Math.min(millis(order.deadlineAt), millis(leg.sentAt ?? order.deadlineAt) + giveUpMs - MARGIN_MS),
  ),
});

function recordOutcome(order: Order, name: LegName, outcome: PlaceOutcome, now: number): Order {
  switch (outcome.outcome) {
    case 'accepted':
      return recordState(order, name, outcome.state, now);
    case 'rejected': {
      const refused = withLeg(order, name, { status: 'rejected' });
      // It was on its way for too long, and the broker says so.
      if (outcome.error.code === 'expired') return late(refused);
      return rejected(
        isMain(order, name) ? refused : { ...refused, exitError: outcome.error },
        outcome.error,
      );
    }
    case 'unknown':
      return lost(order, name);
  }
}

const isMain = (order: Order, name: LegName): boolean => mainLeg(order)?.leg === name;

/** Sent, and no answer. A reversal goes on polling for its close; otherwise the order is `unknown`. */
function lost(order: Order, name: LegName): Order {
  const unanswered = withLeg(order, name, { status: 'unknown' });
  return isMain(order, name) ? moveTo(unanswered, 'unknown') : unanswered;
}

const rejected = (order: Order, error: OrderError): Order => moveTo(order, 'rejected', { error });

/** Its time has run out before this leg was sent. A reversal that has closed already has failed, not expired. */
const late = (order: Order): Order =>
  moveTo(order, hasTraded(order) ? 'failed' : 'expired', { error: tooLate(order) });

/** The account was halted after the entry was accepted and before this leg was sent. */
const heldBack = (order: Order): Order =>
  moveTo(order, hasTraded(order) ? 'failed' : 'rejected', { error: HALTED });

const hasTraded = (order: Order): boolean => order.legs.some((leg) => leg.status === 'filled');

const HALTED: OrderError = {
  code: 'account_halted',
  message: 'The entry was not sent: the account was halted, or its user deactivated, before.',
};

/** Nothing more can be done about it. What was certainly not sent has ended; what may have been is unknown. */
function givenUp(order: Order, status: 'failed' | 'rejected', error: OrderError): Order {
  const sending = order.legs.find((leg) => leg.status === 'sending');
  const current = sending ? lost(order, sending.leg) : order;
  return current.status === 'unknown' ? current : moveTo(current, status, { error });
}

const unreachable = (fault: BrokerUnavailable): OrderError => ({
  code: 'broker_unavailable',
  message: `The broker cannot be reached: ${fault.message}.`,
});

const tooLate = (order: Order): OrderError => ({
  code: 'expired',
  message: `The order was not sent: it could not be executed before its deadline, ${order.deadlineAt}.`,
});

const nothingHeld = (order: Order): OrderError => ({
  code: 'no_position',
  message: `There is no position in ${order.symbol} for ${order.action} to close.`,
});

function closeUnfilled(order: Order, close: Leg, { reversalPolls, reversalPollMs }: Execution): OrderError {
  const seconds = (reversalPolls * reversalPollMs) / 1000;
  const filled = close.fillQuantity ?? '0';
  const whereabouts =
    close.status === 'unknown' ? 'not known to have reached the broker' : 'still open at the broker';
  return {
    code: 'reversal_timeout',
    message:
      `The reversal was aborted: the close (${close.side} ${close.quantity} ${order.symbol}, ` +
      `client order id ${close.clientOrderId}) was filled to ${filled} of ${close.quantity} within ${seconds} s. ` +
      `It is ${whereabouts} and the entry was not sent. Check the position and act by hand.`,
  };
}
