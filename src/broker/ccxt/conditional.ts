// Entries that wait for a price, at one of ccxt's exchanges. Never through createOrder: what its unified words mean for a trigger differs
// from exchange to exchange, and at some it is an order at the market. Where the exchange keeps them in another place, they have ids
// of their own there and become plain orders when the price is there: then it is that order that tells, and that is cancelled.

import { type Decimal, ZERO } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { BrokerUnavailable, type CancelQuery } from '../broker.ts';
import type { Exchange } from './exchange.ts';
import type { Market } from './listing.ts';
import type { Asking, Codes, OrderToFind, OrderToSend, Question, SeenOrder } from './profile.ts';

export interface ConditionalToSend extends OrderToSend {
  readonly trigger: Decimal;
}

/** As the exchange has it. */
export interface SeenConditional {
  /** With nothing filled: it only waits. */
  readonly order: SeenOrder;
  /** The exchange's id of what it became; null: it waits, or has ended without becoming anything. */
  readonly became: string | null;
  /** It has become an order, also where its row does not name that yet. */
  readonly hasTriggered: boolean;
  /** When it triggered, or changed last, by the exchange's clock, in ms; null: its row does not say. */
  readonly changedAt: number | null;
}

/** What it became is shown by then. */
const SHOWN_WITHIN_MS = 60_000;

export interface ConditionalWords {
  /** What codes mean here, where that is more than for orders, or something else. */
  readonly codes: Codes;
  place(order: ConditionalToSend): Question<SeenOrder>;
  /** Without it, it is found and cancelled as any other order. */
  readonly apart?: {
    /** One after the other, until one has it: null is "not there". */
    lookUps(order: OrderToFind): readonly Question<SeenConditional | null>[];
    /** What it became. */
    order(ref: string, order: OrderToFind): Question<SeenOrder>;
    cancel(ref: string, market: Market): Question<true>;
  };
}

interface Waiting {
  /** With its own ids, whatever it became; null: the exchange has none. */
  find(sought: OrderToFind, signal: AbortSignal): Promise<SeenOrder | null>;
  /** What ends it, or the exchange's id of the plain order that it has become. */
  cancelling(
    order: CancelQuery,
    market: Market,
    signal: AbortSignal,
  ): Promise<Question<true> | { readonly ref: string }>;
}

/** null: what waits for a price is found and cancelled as any other order, or there is none. */
export function createWaiting({
  words,
  asking,
  title,
  now,
}: {
  readonly words: ConditionalWords | null;
  asking(signal: AbortSignal): Asking;
  readonly title: string;
  /** By the exchange's clock, in ms. */
  now(): number;
}): Waiting | null {
  const apart = words?.apart;
  if (!apart) return null;

  async function seen(sought: OrderToFind, signal: AbortSignal): Promise<SeenConditional | null> {
    for (const question of apart?.lookUps(sought) ?? []) {
      const reply = await asking(signal).tell(question);
      if ('refused' in reply) {
        if (reply.refused === 'not_found') continue;
        throw new BrokerUnavailable(`${title} refused to look for the order.`);
      }
      if (reply.answer === null) continue;
      const { order } = reply.answer;
      if (order.clientId !== sought.clientOrderId || (sought.ref !== null && order.ref !== sought.ref))
        throw new BrokerUnavailable(`${title} answered with another order.`);
      return reply.answer;
    }
    return null;
  }

  /** Of one whose order is not found. Where its row does not say when it triggered, one that has ended there has ended. */
  const isAwaited = ({ order, changedAt }: SeenConditional): boolean =>
    changedAt === null ? order.fate === 'open' : now() - changedAt < SHOWN_WITHIN_MS;

  return {
    async find(sought, signal) {
      const found = await seen(sought, signal);
      if (!found) return null;
      // It is not shown yet, and waits until it is; or it was cancelled, and the exchange has forgotten it.
      const unshown = isAwaited(found) ? ({ ...found.order, fate: 'open' } as const) : null;
      if (found.became === null) return found.hasTriggered ? unshown : found.order;
      const made = await asking(signal).tell(apart.order(found.became, sought));
      if ('refused' in made && made.refused === 'not_found') return unshown;
      if ('refused' in made || made.answer.ref !== found.became || made.answer.side !== sought.side)
        throw new BrokerUnavailable(`${title} answered with another order.`);
      return { ...made.answer, ref: found.order.ref, clientId: found.order.clientId };
    },
    async cancelling({ clientOrderId, brokerRef }, market, signal) {
      // Only who looks for its fills counts by side and quantity.
      const sought = { market, ref: brokerRef, side: 'buy', contracts: ZERO, since: 0 } as const;
      const found = clientOrderId && (await seen({ ...sought, clientOrderId }, signal));
      const became = found ? found.became : null;
      return became === null ? apart.cancel(brokerRef, market) : { ref: became };
    },
  };
}

/** What a code means for such an order goes before what it means for others. */
export const withCodes = (exchange: Exchange, { codes }: Pick<ConditionalWords, 'codes'>): Exchange => ({
  ...exchange,
  profile: { ...exchange.profile, codes: { ...exchange.profile.codes, ...codes } },
});

/** Around the clock there is no day that ends. */
export const noDay = (title: string): OrderError => ({
  code: 'failed_at_broker',
  message: `${title} has no orders of the day. Nothing was sent; send gtc with “expires_in”.`,
});

export const noTrigger = (title: string): OrderError => ({
  code: 'failed_at_broker',
  message: `${title} takes no entry on this account that waits for a price and could be found by our id. Nothing was sent.`,
});
