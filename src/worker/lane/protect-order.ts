// An order that sets, moves or removes what protects a position, and trades nothing. It is an exit in every right: whoever wants a
// stop is waited for as whoever wants to be out.

import { BrokerBusy, BrokerUnavailable, type Instrument, type Position } from '../../broker/broker.ts';
import { absolute, type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import {
  isLate,
  isOpenLeg,
  type Leg,
  moveTo,
  type Order,
  type OrderError,
  passed,
} from '../../domain/orders/order.ts';
import { late, stopped, unreachable } from '../../domain/orders/outcome.ts';
import { beforeRound } from '../../domain/orders/patience.ts';
import { keptQuantities } from '../../domain/protection/ability.ts';
import { planProtection, whyAgainstMarket } from '../../domain/protection/planned.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import type { Connections } from '../line/connections.ts';
import type { Line } from '../line/line.ts';
import type { Wanting } from '../orders.ts';
import type { Trades } from './trades.ts';

export interface ProtectingOrder {
  readonly connections: Connections;
  readonly clock: { now(): number };
  save(order: Order, options?: { settled: boolean }): Promise<Order>;
  /** In one unit with its end: it is wanted from now on. */
  want(order: Order, of: Wanting): Promise<Order>;
  /** What is wanted of the position by now; null: nothing is. */
  wanted(order: Order, of: Pick<Wanting, 'instrument' | 'side'>): Promise<Protection | null>;
}

interface Task {
  readonly order: Order;
  readonly trades: Pick<Trades, 'expected'>;
  /** The account's orders with an open leg, as they stand by now. */
  now(): Promise<{ readonly others: readonly Order[] }>;
  rest(ms: number, fault: BrokerUnavailable | null): Promise<void>;
}

/** What is held may be shown late. */
const LOOK_AGAIN_MS = 500;
/** An entry that has not been filled by then rests. */
const SOON_FILLED_MS = 10_000;

export async function protectPosition(deps: ProtectingOrder, task: Task): Promise<Order> {
  const { clock } = deps;
  let order = passed(task.order, 'taken', clock.now());
  if (order.status === 'queued') order = moveTo(order, 'executing');
  let rounds = 0;
  for (;;) {
    if (isLate(order, clock.now())) return end(late(order));
    try {
      const target = { accountId: order.accountId, simulation: order.simulation };
      const done = await deps.connections.use(target, judge, { mayTryRefused: true, isTrading: true });
      if (done !== 'not shown yet') return done;
      await resting(LOOK_AGAIN_MS, null);
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      if (isLate(order, clock.now())) return end(stopped(order, 'failed', unreachable(fault.message)));
      await resting(fault instanceof BrokerBusy ? fault.retryAfterMs : beforeRound(++rounds), fault);
    }
  }

  async function resting(ms: number, fault: BrokerUnavailable | null): Promise<void> {
    if (order.version === task.order.version) order = await deps.save(order);
    await task.rest(ms, fault);
  }

  async function judge(line: Line): Promise<Order | 'not shown yet'> {
    const instrument = await line.resolve(order.symbol);
    if ('rejection' in instrument) return end(stopped(order, 'rejected', instrument.rejection));
    const held = (await line.positions()).find(({ symbol }) => symbol === instrument.symbol);
    const quantity = held?.quantity ?? ZERO;
    if (isOfBefore(instrument, quantity)) return 'not shown yet';
    if (!held || sign(quantity) === 0)
      // What was open while the position was read may have been filled since.
      return (await mayBeHeld(instrument)) || isOfBefore(instrument, quantity)
        ? 'not shown yet'
        : end(stopped(order, 'rejected', nothingHeld(instrument)));
    const wrong = await wrongIn(line, instrument, held);
    if (wrong) return end(stopped(order, 'rejected', wrong));
    const side = sign(quantity) > 0 ? 'long' : 'short';
    const done = passed(moveTo({ ...order, positionBefore: quantity }, 'done'), 'answered', clock.now());
    const { credentialsVersion } = line;
    return deps.want(
      { ...done, filledAt: timestamp(clock.now()) },
      { instrument: instrument.symbol, side, credentialsVersion },
    );
  }

  /** By our own fills it is on another side, or gone: what is shown is what was before them. */
  function isOfBefore({ symbol }: Instrument, shown: Decimal): boolean {
    const expected = task.trades.expected(symbol);
    return expected !== null && sign(expected) !== sign(shown);
  }

  /** Nobody knows yet whether an entry was filled there, or it was taken a moment ago and is about to be. */
  async function mayBeHeld({ symbol }: Instrument): Promise<boolean> {
    const { others } = await task.now();
    const isYoung = ({ sentAt }: Leg) => sentAt !== null && clock.now() - millis(sentAt) < SOON_FILLED_MS;
    return others.some(({ legs }) =>
      legs.some(
        (leg) =>
          leg.leg === 'entry' &&
          leg.instrument === symbol &&
          (leg.status === 'sending' || leg.status === 'unknown' || (isOpenLeg(leg) && isYoung(leg))),
      ),
    );
  }

  /** The market does not let it stand there: what stands now is left. */
  async function wrongIn(line: Line, instrument: Instrument, held: Position): Promise<OrderError | null> {
    if (!order.wish) return null;
    const { quantityStep: step, minQuantity: least } = keptQuantities(instrument, line.capabilities);
    const { tickSize: tick } = instrument;
    const side = sign(held.quantity) > 0 ? 'long' : 'short';
    const kept = await deps.wanted(order, { instrument: instrument.symbol, side });
    const on = { side, entry: held.averagePrice, held: absolute(held.quantity), tick, step, least } as const;
    const planned = planProtection(order.wish.own, { ...on, kept });
    const problem =
      'problem' in planned
        ? planned.problem
        : whyAgainstMarket(planned.legs, side, await line.quote(instrument));
    return problem === null ? null : { code: 'invalid_protection', message: problem };
  }

  function end(ended: Order): Promise<Order> {
    return deps.save(passed(ended, 'answered', clock.now()), { settled: true });
  }
}

const nothingHeld = ({ symbol }: Instrument): OrderError => ({
  code: 'no_position',
  message: `Nothing is held in ${symbol}: there is nothing to protect.`,
});
