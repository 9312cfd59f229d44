// One order at the broker, from `queued` to whatever the broker makes of it. domain/orders/next-step.ts decides what to do next;
// this is the driver that does it. Every step is saved before the next one is taken, so that it can begin on an order that
// a dead worker left anywhere in between.

import { BrokerBusy, BrokerUnavailable, type Instrument, unitValueOf } from '../../broker/broker.ts';
import { type Counters, venueOf } from '../../domain/counters.ts';
import { ZERO } from '../../domain/decimal.ts';
import { timestamp } from '../../domain/ids.ts';
import { recordState, STALE_MS } from '../../domain/orders/fill.ts';
import {
  type Facts,
  isWorthWaiting,
  type Judgement,
  nextStep,
  type Rules,
  wasSent,
} from '../../domain/orders/next-step.ts';
import {
  type GuardVerdict,
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
  sinceAccepted,
  withLeg,
} from '../../domain/orders/order.ts';
import { isYoung, type OtherLeg } from '../../domain/orders/other-legs.ts';
import {
  givenUp,
  heldBack,
  late,
  lost,
  rateLimited,
  recordOutcome,
  unreachable,
} from '../../domain/orders/outcome.ts';
import type { Tracing } from '../../domain/tracing.ts';
import type { Connections } from '../line/connections.ts';
import { brokerOrder, queryOf } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import type { Guarding } from '../orders.ts';
import type { GuardedEntry } from './guarding.ts';
import type { Trades } from './trades.ts';
import { pauseSince, stopwatch } from './watches.ts';

export interface Execution {
  readonly connections: Connections;
  /** As in orders.ts, but all of them throw OrderTaken where another worker has the order, or the user. */
  save(order: Order, options?: { settled: boolean }): Promise<Order>;
  saveSending(order: Order, revision: number | null): Promise<Order | 'halted' | Guarding>;
  /** An order that others may write too by now: where one has, that is how it stands. */
  saveSeen(order: Order): Promise<Order>;
  readonly clock: { now(): number };
  readonly counters: Pick<Counters, 'orderTaken' | 'orderSent' | 'takenOver'>;
  readonly tracing: Pick<Tracing, 'during' | 'apart'>;
  wait(ms: number): Promise<void>;
  readonly rules: Rules;
  /** What the account's guards say of an entry that is about to be sent. */
  judge(entry: GuardedEntry): Promise<readonly GuardVerdict[]>;
  /** Of the day's first order, whatever it is. Never in its way. */
  noteEquity(order: Order, line: Line): void;
}

/** What a worker has in hand: an order, what else of its account is open, and which connection its account asks for. */
export interface Task extends Guarding {
  readonly order: Order;
  /** Orders of the same account and mode with a leg that is open, as far as we know. */
  readonly others: readonly Order[];
  /** The account's connection version; null: look it up. */
  readonly version: number | null;
  readonly trades: Trades;
}

/** Another worker has taken the order, or the user, over: whatever this one was about to do, it must not. */
export class OrderTaken extends Error {
  override readonly name = 'OrderTaken';
}

const SPREAD_MS = 100;
/** After a wait. A broker that never lets us look holds nothing up for ever. */
const MOST_LOOKS_AGAIN = 2;

export async function executeOrder(
  deps: Execution,
  { order: accepted, others, version, trades, ...guarding }: Task,
): Promise<Order> {
  const now = () => deps.clock.now();
  const answered = (order: Order) => passed(order, 'answered', now());

  // What was saved last. That it is being executed is saved with the first leg that is sent, or with its end.
  let order = passed(accepted, 'taken', now());
  if (order.status === 'queued') order = moveTo(order, 'executing');
  let refusals = 0;
  let waits = 0;
  let { guards, revision } = guarding;
  const watches = { leg: stopwatch(), others: stopwatch(), position: stopwatch() };
  let open = otherLegs(others);
  /** A look that fails may fail by the connection: that is tried once. */
  let hasReconnected = false;
  if (!wasSent(order) && isLate(order, now())) return end(late(order));
  // Begun by a predecessor: what that one knew of the position stands with the order.
  for (const leg of order.legs)
    if (leg.instrument !== null && order.positionBefore !== null) {
      if (leg === order.legs[0]) trades.planned(leg.instrument, order.positionBefore, []);
      trades.seen(leg);
    }
  for (;;)
    try {
      return await deps.connections.use({ ...order, version }, trade);
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      const busyMs = fault instanceof BrokerBusy ? fault.retryAfterMs : Number.POSITIVE_INFINITY;
      if (!isWorthWaiting(order, { now: now(), busyMs, refusals: ++refusals }))
        return end(givenUp(order, whyNot(fault, order)));
      await deps.wait(busyMs);
    }

  /** Once its main leg is known to be at the broker, fill verification may have come first. */
  async function end(ended: Order): Promise<Order> {
    if (order.status === 'executing') return deps.save(answered(ended), { settled: true });
    return deps.saveSeen(answered(ended));
  }

  async function trade(line: Line): Promise<Order> {
    let instrument: Instrument | { readonly rejection: OrderError } | null = null;
    let position: Facts['position'] = null;
    let isMissing = false;
    let judged: (Judgement & { readonly at: number }) | null = null;
    // The order as it goes on, yet to be saved.
    let current = order;
    // Over a new connection too: what was filled meanwhile would count twice, in the position and as what is open.
    watches.others.begin();

    for (;;) {
      const symbol = instrument && ('rejection' in instrument ? instrument : instrument.symbol);
      const facts: Facts = {
        now: now(),
        able: line.capabilities,
        instrument: symbol,
        isSameLogin:
          current.credentialsVersion === null || current.credentialsVersion === line.credentialsVersion,
        others: open.filter((other) => other.instrument === symbol),
        othersWatch: watches.others.read(),
        position,
        positionWatch: watches.position.read(),
        expected: typeof symbol === 'string' ? trades.expected(symbol) : null,
        guards: guards === null ? 'none' : judged && now() - judged.at < STALE_MS ? judged : 'unjudged',
        busyMs: line.busyMs(),
        refusals,
        watch: watches.leg.read(),
        isMissing,
      };
      const step = nextStep(current, facts, deps.rules);
      try {
        switch (step.do) {
          case 'end':
            return await end(step.order);
          case 'wait':
            // All who wait for the same moment are not to come in it.
            await pass(step.ms + Math.floor(Math.random() * SPREAD_MS));
            position = null;
            // A look at what else is open was turned away, or is of before.
            if (++waits <= MOST_LOOKS_AGAIN) watches.others.begin();
            break;
          case 'resolve the symbol':
            instrument = await line.resolve(current.symbol);
            break;
          case 'look at others':
            await pass(step.afterMs);
            if (facts.othersWatch.looks === 0) watches.others.begin();
            open = await Promise.all(
              open.map((other) =>
                other.instrument === symbol ? lookElsewhere(line, other, step.withinMs) : [other],
              ),
            ).then((found) => found.flat());
            watches.others.looked();
            break;
          case 'read the position':
            await pass(step.afterMs);
            if (position === null) watches.position.begin();
            // Beside it, and not waited for: what the day began with.
            if (guards?.max_daily_loss !== undefined) deps.noteEquity(current, line);
            position = { quantity: await line.position(tradable(instrument)), readAt: now() };
            watches.position.looked();
            break;
          case 'look': {
            await pass(step.afterMs);
            const { leg, withinMs } = step;
            const isFound = leg.status === 'sending';
            // One found `sending` must be asked for until there is an answer.
            const state = await line
              .find(queryOf(leg, current.symbol), withinMs ?? undefined)
              .catch((fault: unknown) => {
                if (isFound) throw fault;
                return orReconnect(fault, withinMs);
              });
            watches.leg.looked();
            if (state) current = seen(recordState(current, leg.leg, state, now()), leg.leg);
            else isMissing = isFound;
            break;
          }
          case 'judge the guards': {
            const { order: planned, positionAfter } = step;
            const entry = { order: planned, positionAfter, guards: guards ?? {}, line };
            judged = {
              verdicts: await deps.judge({ ...entry, instrument: tradable(instrument) }),
              quantity: mainLeg(planned)?.quantity ?? ZERO,
              positionAfter,
              at: now(),
            };
            break;
          }
          case 'send':
            if (!wasSent(current))
              trades.planned(
                tradable(instrument).symbol,
                step.order.positionBefore ?? ZERO,
                facts.others.map(({ leg }) => leg),
              );
            current = await send(line, tradable(instrument), step);
            isMissing = false;
            position = null;
            judged = null;
            for (const watch of Object.values(watches)) watch.begin();
        }
      } catch (fault) {
        if (!(fault instanceof BrokerBusy)) throw fault;
        refusals++;
        // After the wait the position is another: what else is open is looked at once more, or it would count twice.
        watches.others.begin();
      }
    }

    /** Waits, and lets every watch know: a test's clock may stand still. */
    async function pass(ms: number): Promise<void> {
      if (ms <= 0) return;
      await deps.wait(ms);
      for (const watch of Object.values(watches)) watch.pass(ms);
    }
  }

  function seen(after: Order, name: LegName): Order {
    trades.seen(legNamed(after, name));
    return after;
  }

  /**
   * An unavailable broker is a look without an answer: the looks are the retries. One that had hardly any time, as the last
   * one has, says nothing of the connection.
   */
  function orReconnect(fault: unknown, withinMs: number | null): null {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    const hadTime = withinMs === null || withinMs >= deps.rules.lookEveryMs;
    if (!hasReconnected && hadTime && !(fault instanceof BrokerBusy)) {
      hasReconnected = true;
      throw fault;
    }
    return null;
  }

  /**
   * None: it was acknowledged, and is not known. It is of another account, behind other credentials; or it has ended, a while
   * ago: by the broker's own id what has ended is forgotten, and never what rests.
   */
  async function lookElsewhere(line: Line, other: OpenElsewhere, withinMs: number): Promise<OpenElsewhere[]> {
    const query = queryOf(other.leg, other.instrument);
    const state = await line
      .find(query, withinMs)
      .catch((fault) => orReconnect(fault, withinMs) ?? undefined);
    const isOfAnother = other.login !== null && other.login !== line.credentialsVersion;
    const { ackedAt, brokerRef } = other.leg;
    const isOld = brokerRef !== null && !isYoung(other.leg, now(), deps.rules);
    const isGone = state === null && ackedAt !== null && (isOfAnother || isOld);
    if (!state) return isGone ? [] : [other];
    const { status, fillPrice, fillQuantity } = state;
    const leg = { ...other.leg, instrument: other.instrument, status, fillPrice, fillQuantity };
    trades.seen(leg);
    return [{ ...other, leg }];
  }

  /** Saves the leg as `sending`, sends it, and returns the order with what became of it. */
  async function send(
    line: Line,
    instrument: Instrument,
    { order: planned, leg: name, again }: { order: Order; leg: LegName; again: boolean },
  ): Promise<Order> {
    const pause = pauseSince(now);
    const unitValue = unitValueOf(instrument);
    const sending = { status: 'sending', sentAt: timestamp(now()), unitValue } as const;
    const toSend = {
      ...withLeg(passed(planned, 'sent', now()), name, sending),
      credentialsVersion: line.credentialsVersion,
    };
    const saved = await deps.saveSending(toSend, revision);
    if (saved === 'halted') return again ? lost(planned, name) : heldBack(planned);
    // A guard that was set since holds too: the entry is judged anew.
    if ('revision' in saved) {
      ({ guards, revision } = saved);
      return planned;
    }
    order = saved;
    if (!('sent' in planned.trace)) deps.counters.orderSent(venueOf(order), sinceAccepted(order, now()));
    // The process stood still in between, and whoever looked for the order meanwhile may have given it up: not now.
    if (pause() > STALE_MS || isLate(order, now())) return again ? order : unsend(name);
    try {
      const outcome = await line.place(
        brokerOrder(order, legNamed(order, name), instrument, deps.rules.giveUpMs),
      );
      const acked = passed(order, 'acked', now());
      // Whatever becomes of this attempt, an earlier one may have gone out: it can only be found, never ruled out.
      if (again && outcome.outcome === 'rejected') return lost(acked, name);
      const after = seen(recordOutcome(acked, name, outcome, now()), name);
      return isWorthKeeping(after, name) ? await keep(after, name) : after;
    } catch (fault) {
      if (fault instanceof BrokerBusy) return afterRefusal(fault, name, again);
      // The connector's word that nothing was sent: the leg is as it was before.
      if (fault instanceof BrokerUnavailable && !again) await unsend(name);
      throw fault;
    }
  }

  /** Certainly not taken. It is as if it had not been sent, where it is worth waiting for the next try. */
  async function afterRefusal({ retryAfterMs }: BrokerBusy, name: LegName, again: boolean): Promise<Order> {
    refusals++;
    if (again) return lost(order, name);
    if (isWorthWaiting(order, { now: now(), busyMs: retryAfterMs, refusals })) return unsend(name);
    return recordOutcome(
      order,
      name,
      { outcome: 'rejected', error: rateLimited(retryAfterMs, order) },
      now(),
    );
  }

  /** Before anything is waited for: the broker's own id may be all that the order can be found by. */
  async function keep(after: Order, name: LegName): Promise<Order> {
    order = await deps.save(after, { settled: mainLeg(after)?.leg === name });
    return order;
  }

  /** Certainly not sent. Where no other leg was, the plan is forgotten too: what is held may change meanwhile. */
  async function unsend(name: LegName): Promise<Order> {
    const back = withLeg(order, name, { status: 'planned', sentAt: null });
    order = await deps.save(
      wasSent(back)
        ? back
        : { ...back, legs: [], autoExit: false, positionBefore: null, credentialsVersion: null },
    );
    return order;
  }
}

/** An acknowledgement, or the refusal of a reversal's close: neither can be asked for again. */
function isWorthKeeping(order: Order, name: LegName): boolean {
  const { status } = legNamed(order, name);
  if (status === 'rejected') return order.status === 'executing';
  return status === 'placed' || status === 'partially_filled';
}

/** The symbol is resolved before anything is read or sent. */
function tradable(instrument: Instrument | { readonly rejection: OrderError } | null): Instrument {
  if (instrument === null || 'rejection' in instrument) throw new Error('there is no instrument to trade');
  return instrument;
}

interface OpenElsewhere extends OtherLeg {
  readonly instrument: string;
  /** The version of the credentials that it was sent with. */
  readonly login: number | null;
}

const otherLegs = (orders: readonly Order[]): OpenElsewhere[] =>
  orders.flatMap(({ id, symbol, legs, credentialsVersion: login }) =>
    legs
      .filter((leg) => isOpenLeg(leg) && leg.sentAt !== null)
      .map((leg) => ({ orderId: id, leg, login, instrument: leg.instrument ?? symbol })),
  );

function legNamed(order: Order, name: LegName): Leg {
  const leg = legOf(order, name);
  if (!leg) throw new Error(`order ${order.id} has no ${name} leg`);
  return leg;
}

const whyNot = (fault: BrokerUnavailable, order: Order): OrderError =>
  fault instanceof BrokerBusy ? rateLimited(fault.retryAfterMs, order) : unreachable(fault.message);
