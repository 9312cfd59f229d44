// What Alpaca is asked, and what it must say to be believed: everything else is BrokerUnavailable, or one of its kinds.

import type { ClientOrderId } from '../../domain/ids.ts';
import { BrokerUnavailable } from '../broker.ts';
import {
  ACCOUNT,
  type Account,
  CLOCK,
  type Clock,
  type Held,
  hasEnded,
  NESTED_ORDER,
  type NestedOrder,
  oddPositionIn,
  POSITIONS,
} from './answers.ts';
import { type Answer, type Api, ask, unanswered } from './api.ts';
import { brief } from './refusals.ts';

/** More than so many are not listed at once. */
export const MOST_ORDERS = 500;

/** Of open orders; throws where there may be more than are listed at once. */
export const listOf =
  <Row>(read: (body: unknown) => readonly Row[] | undefined) =>
  (answer: Answer): readonly Row[] | undefined => {
    if (answer.kind !== 'answer') return undefined;
    const { body } = answer;
    if (Array.isArray(body) && body.length >= MOST_ORDERS)
      throw new BrokerUnavailable(
        `There are more open orders at Alpaca than it lists at once (${MOST_ORDERS}).`,
      );
    return read(body);
  };

export type Questions = ReturnType<typeof openQuestions>;

export function openQuestions(api: Api, environment: string) {
  const closing = new AbortController();
  let aheadMs: number | null = null;

  function checkOpen(signal: AbortSignal): void {
    if (closing.signal.aborted) throw new BrokerUnavailable('The connection to Alpaca is closed.');
    if (signal.aborted) throw new BrokerUnavailable('Alpaca was not asked in time.');
  }

  /** `read` gives undefined where the answer is not one to this question; `why` then says more, where there is more to say. */
  async function question<Value>(
    signal: AbortSignal,
    call: Parameters<typeof ask>[0],
    read: (answer: Answer) => Value | undefined,
    why: (answer: Answer) => string = () => '',
  ): Promise<Value> {
    checkOpen(signal);
    const answer = await ask(call, signal);
    const value = read(answer);
    if (value !== undefined) return value;
    api.unreadable(answer);
    throw unanswered(answer, environment, why(answer));
  }

  /** null is Alpaca's own word that it has none; another order than that one is not believed. */
  const orderIn =
    (isIt: (order: NestedOrder) => boolean) =>
    (answer: Answer): NestedOrder | null | undefined => {
      if (answer.kind === 'refusal') return isNotFound(answer) ? null : undefined;
      if (answer.kind !== 'answer' || !NESTED_ORDER.Check(answer.body)) return undefined;
      return isIt(answer.body) ? answer.body : undefined;
    };

  /** With its legs. */
  const orderById = (orderId: string, signal: AbortSignal): Promise<NestedOrder | null> =>
    question(
      signal,
      (init) => api.orders.getOrderByOrderIDRaw({ orderId, nested: true }, init),
      orderIn(({ id }) => id === orderId),
    );

  return {
    api,
    environment,
    checkOpen,
    question,
    orderById,
    /** Aborts when the connection is closed. */
    closed: closing.signal,
    close: () => closing.abort(),

    /** Without its legs, whatever it has: there is no word for them in this question. */
    orderByClientId: (clientOrderId: ClientOrderId, signal: AbortSignal): Promise<NestedOrder | null> =>
      question(
        signal,
        (init) => api.orders.getOrderByClientOrderIdRaw({ clientOrderId }, init),
        orderIn(({ client_order_id }) => client_order_id === clientOrderId),
      ),

    account: (signal: AbortSignal): Promise<Account> =>
      question(
        signal,
        (init) => api.accounts.getAccountRaw(init),
        (answer) => (answer.kind === 'answer' && ACCOUNT.Check(answer.body) ? answer.body : undefined),
      ),

    async marketClock(signal: AbortSignal): Promise<Clock> {
      const began = Date.now();
      const clock = await question(
        signal,
        (init) => api.clock.legacyClockRaw(init),
        (answer) => (answer.kind === 'answer' && CLOCK.Check(answer.body) ? answer.body : undefined),
      );
      aheadMs = Math.round((began + Date.now()) / 2 - Date.parse(clock.timestamp));
      return clock;
    },
    aheadMs: () => aheadMs,

    held: (signal: AbortSignal): Promise<readonly Held[]> =>
      question(
        signal,
        (init) => api.positions.getAllOpenPositionsRaw(init),
        (answer) => (answer.kind === 'answer' && POSITIONS.Check(answer.body) ? answer.body : undefined),
        (answer) => (answer.kind === 'answer' ? oddPositionIn(answer.body) : ''),
      ),

    /**
     * Asks for the end of an order, and so of its legs. "Not cancelable" is said of one that has ended, and of one that is
     * being replaced, which stands: a look decides.
     */
    async cancel(orderId: string, signal: AbortSignal): Promise<void> {
      const refusal = await question(
        signal,
        (init) => api.orders.deleteOrderByOrderIDRaw({ orderId }, init),
        (answer) => {
          if (answer.kind === 'answer') return answer.status === 204 ? null : undefined;
          if (answer.kind !== 'refusal' || answer.code === null) return undefined;
          if (answer.status === 404) return null;
          return answer.status === 422 ? answer.message : undefined;
        },
      );
      if (refusal === null) return;
      const order = await orderById(orderId, signal);
      if (order && !hasEnded(order) && order.status !== 'pending_cancel')
        throw new BrokerUnavailable(`Alpaca does not cancel the order ${orderId} now: “${brief(refusal)}”.`);
    },
  };
}

const isNotFound = ({ status, code }: { readonly status: number; readonly code: number | null }): boolean =>
  status === 404 && code !== null;
