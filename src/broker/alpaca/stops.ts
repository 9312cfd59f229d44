// Stops at Alpaca. One is an order like any other (“stop”, until it is cancelled): it is found by our id, and what it became
// is its own fill. It triggers in regular hours only, and what it would sell is reserved for it: no second one is taken for
// the same shares. Beside a target it is the second leg of one order (OCO), under an id of Alpaca's: the target's leads to it.
//
// To move one, Alpaca puts a new order in its place, with an id of its own and one of ours. That it was taken does not mean yet
// that it stands: where it is rejected, the old one does, or has been filled, and that fill is told as its own.
//
// Where the documents are silent, the worse is assumed:
// - Legs are not told of an order that is asked for by the client's id: they are asked for by Alpaca's.
// - A leg that was replaced may stay in the list of legs, and the one in its place may not come in: it is followed.
// - Whether a target that is filled in part lessens its stop: no more can be sold than is left of the target, and a stop that
//   is filled with that is filled, whatever its quantity says.
// - An order that waits for its cancellation can trigger until it has ended, and reserves its shares: it stands.
// - A stop to sell what is not held would be taken for a short sale that waits: so the position is looked at first.

import { compare, type Decimal, decimal, sign, smaller, subtract } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import {
  type BrokerOrderState,
  BrokerUnavailable,
  type StandingStop,
  type StopOrder,
  type StopOutcome,
  type StopState,
  type Stops,
} from '../broker.ts';
import {
  exact,
  isShares,
  type NestedOrder,
  nestedOrdersIn,
  ORDER,
  type Order,
  reasonOf,
  signed,
  stateOf,
  type Watching,
} from './answers.ts';
import { type Answer, ask, busy, isAboutKeys, keysRefused, notAsAgreed } from './api.ts';
import { fractionProblem, isAt } from './placing.ts';
import { listOf, MOST_ORDERS, type Questions } from './questions.ts';
import { DUPLICATE, isAboutTheId, isUnchanged, type Refusal, stopRefusalOf } from './refusals.ts';

/** The stop itself, and the target beside which it stands. */
interface Found {
  readonly order: Order;
  readonly target: NestedOrder | null;
}

type Rejected = Extract<StopOutcome, { readonly outcome: 'rejected' }>;

export function openStops(questions: Questions): Stops {
  const { api, environment, checkOpen, question, held, orderById, orderByClientId, cancel } = questions;

  /** Of a leg that was replaced, the last one in its place that was seen: a stop that follows the price is moved often. */
  const successors = new Map<string, string>();

  /** The leg that counts now: what is not among those that are told is asked for. */
  async function lastLeg<Leg extends Pick<Order, 'id' | 'status' | 'replaced_by'>>(
    legs: readonly Leg[],
    signal: AbortSignal,
  ): Promise<Leg | Order | null> {
    const [first] = legs;
    if (!first) return null;
    const passed = new Set<string>();
    let leg: Leg | Order = legs.find(({ status }) => status !== 'replaced') ?? first;
    while (leg.status === 'replaced' && leg.replaced_by && !passed.has(leg.id)) {
      passed.add(leg.id);
      const next: string = successors.get(leg.id) ?? leg.replaced_by;
      const successor = legs.find(({ id }) => id === next) ?? (await orderById(next, signal));
      if (!successor) break;
      leg = successor;
      successors.set(first.id, leg.id);
    }
    return leg;
  }

  async function locate(clientOrderId: ClientOrderId, signal: AbortSignal): Promise<Found | null> {
    const order = await orderByClientId(clientOrderId, signal);
    if (!order) return null;
    if (isStop(order)) return { order, target: null };
    const target = await orderById(order.id, signal);
    const leg = target && (await lastLeg((target.legs ?? []).filter(isStop), signal));
    return leg ? { order: leg, target } : null;
  }

  /** Of one that was rejected: what has filled the one in whose place it was to stand; null: nothing has. */
  async function filledBefore({ order, target }: Found, signal: AbortSignal): Promise<StopState | null> {
    const { id, status, filled_qty, replaces } = order;
    if (target || status !== 'rejected' || sign(exact(filled_qty)) > 0 || !replaces) return null;
    const before = await orderById(replaces, signal);
    const state = before && stopStateOf({ order: before, target: null });
    return state?.order ? { ...state, brokerRef: id } : null;
  }

  /** `accepted`: what Alpaca's answer makes of it; null: it is not the stop that was sent. */
  async function outcomeOf(
    answer: Answer,
    accepted: (order: Order) => ClientOrderId | null,
    refused: (refusal: Refusal) => StopOutcome | Promise<StopOutcome>,
  ): Promise<StopOutcome> {
    switch (answer.kind) {
      case 'busy':
        throw busy(answer.retryAfterMs);
      case 'silence':
        if (answer.isUnsent) throw new BrokerUnavailable(`${answer.why}.`);
        return { outcome: 'unknown', reason: `${answer.why}.` };
      case 'refusal':
        if (isAboutKeys(answer)) throw keysRefused(answer, environment);
        return refused(answer);
      case 'answer': {
        const { body } = answer;
        const clientOrderId = ORDER.Check(body) ? accepted(body) : null;
        if (ORDER.Check(body) && clientOrderId)
          return { outcome: 'accepted', clientOrderId, brokerRef: body.id };
        api.unreadable(answer);
        return { outcome: 'unknown', reason: `${notAsAgreed(answer.status)}.` };
      }
    }
  }

  /** The code of a known id stands for any wrong input. Where there is an order under the id, that is the answer. */
  async function afterRefusal(
    refusal: Refusal,
    { clientOrderId }: StopOrder,
    { call, signal }: { readonly call: 'place' | 'move'; readonly signal: AbortSignal },
  ): Promise<StopOutcome> {
    if (refusal.code !== DUPLICATE) return stopRefusalOf(refusal, call);
    try {
      const known = await orderByClientId(clientOrderId, signal);
      if (known) return { outcome: 'accepted', clientOrderId, brokerRef: known.id };
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
    }
    if (!isAboutTheId(refusal)) return stopRefusalOf(refusal, call);
    return {
      outcome: 'unknown',
      reason: `Alpaca has an order under the id ${clientOrderId}, and does not show it.`,
    };
  }

  async function isCovered({ instrument, side }: StopOrder, signal: AbortSignal): Promise<boolean> {
    const row = (await held(signal)).find((each) => each.symbol === instrument.symbol && isShares(each));
    return row !== undefined && (signed(row).startsWith('-') ? 'buy' : 'sell') === side;
  }

  return {
    async place(stop, signal) {
      checkOpen(signal);
      const { clientOrderId, instrument, side, quantity, price } = stop;
      const fraction = fractionProblem('stops', quantity);
      if (fraction) return rejected('refused', fraction);
      if (!(await isCovered(stop, signal)))
        return rejected('no_position', `nothing of ${instrument.symbol} is held that it could close`);
      checkOpen(signal);
      const postOrderRequest = {
        symbol: instrument.symbol,
        qty: quantity,
        side,
        type: 'stop',
        timeInForce: 'gtc',
        stopPrice: price,
        clientOrderId,
      } as const;
      const answer = await ask((init) => api.orders.postOrderRaw({ postOrderRequest }, init), signal);
      return outcomeOf(
        answer,
        (order) => (order.client_order_id === clientOrderId && isOf(order, stop) ? clientOrderId : null),
        (refusal) => afterRefusal(refusal, stop, { call: 'place', signal }),
      );
    },

    async move({ clientOrderId }, to, signal) {
      checkOpen(signal);
      const fraction = fractionProblem('stops', to.quantity);
      if (fraction) return rejected('refused', fraction);
      const found = await locate(clientOrderId, signal);
      if (!found) return rejected('gone', `there is no stop under the id ${clientOrderId}`);
      const { order, target } = found;
      const { status, reason } = stopStateOf(found);
      if (status !== 'standing') return rejected('gone', reason ?? 'it has triggered');
      const asItIs = { outcome: 'accepted', clientOrderId, brokerRef: order.id } as const;
      const isResized = compare(decimal(order.qty), to.quantity) !== 0;
      if (target && isResized)
        return rejected(
          'refused',
          `Alpaca changes no quantity beside a target: cancel the target, and place both again for ${to.quantity}`,
        );
      if (!isResized && isAt(order.stop_price, to.price)) return asItIs;
      checkOpen(signal);
      const patchOrderRequest = {
        stopPrice: to.price,
        ...(isResized && { qty: to.quantity }),
        // A leg is found by its target, and Alpaca names it.
        ...(!target && { clientOrderId: to.clientOrderId }),
      };
      const answer = await ask(
        (init) => api.orders.patchOrderByOrderIdRaw({ orderId: order.id, patchOrderRequest }, init),
        signal,
      );
      return outcomeOf(
        answer,
        (moved) => {
          if (moved.id === order.id || !isOf(moved, to)) return null;
          if (target) return clientOrderId;
          return moved.client_order_id === to.clientOrderId ? to.clientOrderId : null;
        },
        (refusal) => (isUnchanged(refusal) ? asItIs : afterRefusal(refusal, to, { call: 'move', signal })),
      );
    },

    async remove({ clientOrderId, brokerRef }, signal) {
      const ref = brokerRef ?? (await orderByClientId(clientOrderId, signal))?.id;
      if (ref !== undefined) await cancel(ref, signal);
    },

    async standing({ symbol }, signal) {
      const orders = await question(
        signal,
        (init) =>
          api.orders.getAllOrdersRaw(
            { status: 'open', symbols: symbol, nested: true, limit: MOST_ORDERS, direction: 'asc' },
            init,
          ),
        listOf(nestedOrdersIn),
      );
      const own = orders.filter((order) => order.symbol === symbol);
      // By Alpaca's ids: what hangs on a target may be told of by itself too.
      const seen = new Map<string, StandingStop>();
      for (const target of own) {
        const legs = (target.legs ?? []).filter(isStop);
        const leg = await lastLeg(legs, signal);
        const left = target.qty ? subtract(exact(target.qty), exact(target.filled_qty)) : undefined;
        const stop = leg && standingStopOf(leg);
        if (stop && left)
          seen.set(leg.id, {
            ...stop,
            clientOrderId: target.client_order_id as ClientOrderId,
            quantity: smaller(stop.quantity, left),
          });
      }
      for (const order of own) {
        const stop = standingStopOf(order);
        if (stop && !seen.has(order.id)) seen.set(order.id, stop);
      }
      return [...seen.values()];
    },

    async find({ clientOrderId }, signal) {
      const found = await locate(clientOrderId, signal);
      return found && ((await filledBefore(found, signal)) ?? stopStateOf(found));
    },
  };
}

const rejected = (why: Rejected['why'], words: string): Rejected => ({ outcome: 'rejected', why, words });

/** One that waits for a price, whoever set it and whatever it then becomes. */
const isStop = ({ stop_price }: Pick<Order, 'stop_price'>): boolean =>
  stop_price !== null && stop_price !== undefined;

/** Whether an answer is about the stop that was sent. */
const isOf = (order: Order, { instrument, side, quantity, price }: StopOrder): boolean =>
  order.type === 'stop' &&
  order.symbol === instrument.symbol &&
  order.side === side &&
  compare(decimal(order.qty), quantity) === 0 &&
  isAt(order.stop_price, price);

/** “Stopped”: a trade is guaranteed, and has not yet occurred. */
const TRIGGERED: readonly Order['status'][] = ['stopped', 'partially_filled', 'filled'];
const ENDED: readonly Order['status'][] = ['canceled', 'expired', 'replaced', 'rejected'];

const fateOf = ({ status, filled_qty }: Pick<Order, 'status' | 'filled_qty'>): StopState['status'] => {
  if (ENDED.includes(status)) return 'ended';
  return TRIGGERED.includes(status) || sign(exact(filled_qty)) > 0 ? 'triggered' : 'standing';
};

function stopStateOf({ order, target }: Found): StopState {
  const status = fateOf(order);
  const became: BrokerOrderState = stateOf(order);
  const isTraded = status === 'triggered' || became.fillPrice !== null;
  const isDone = target?.status === 'filled' && order.status === 'canceled';
  return {
    brokerRef: order.id,
    status,
    order: isTraded ? became : null,
    reason: status !== 'ended' ? null : isDone ? 'its target was filled' : reasonOf(order),
    ...(order.status === 'expired' && { hasExpired: true }),
  };
}

/** null: it is none, or stands no more. */
function standingStopOf(order: Watching | Order): (StandingStop & { readonly quantity: Decimal }) | null {
  const { side, qty, stop_price } = order;
  if (!stop_price || !qty || (side !== 'buy' && side !== 'sell') || fateOf(order) !== 'standing') return null;
  return {
    clientOrderId: order.client_order_id as ClientOrderId,
    brokerRef: order.id,
    side,
    price: exact(stop_price),
    quantity: exact(qty),
  };
}
