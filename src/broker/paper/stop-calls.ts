// The port's stops, at a paper book. They are of the position: all that is held is closed when one triggers.

import type { ClientOrderId } from '../../domain/ids.ts';
import {
  BrokerBusy,
  type Instrument,
  type StopOrder,
  type StopOutcome,
  type StopState,
  type Stops,
} from '../broker.ts';
import type { Bookkeeping } from './bookkeeping.ts';
import type { PaperOrder, PaperStop } from './ledger.ts';
import { invalidSymbol, RETRY_AFTER_SECONDS } from './rejections.ts';
import type { Rules } from './rules.ts';
import { stateOf } from './state.ts';
import {
  type AskedStop,
  moveStop,
  placeStop,
  removeStop,
  type StopDecision,
  type StopRefusal,
} from './stops.ts';
import type { Venue } from './venue.ts';

/** `moves`: of the one that stands and is to be so from now on; without it a new one. */
export type StopWish = AskedStop & { readonly instrument: Instrument; readonly moves?: ClientOrderId };

export type StopTaken =
  /** `isAnswered` is false where the settings lose the answer. */
  | { readonly stop: PaperStop; readonly isAnswered: boolean }
  | { readonly refusal: StopRefusal }
  | { readonly isLost: true };

export interface PaperStops extends Required<Omit<Stops, 'names'>> {
  /** As an exchange has it: of the position or of a quantity, and with its own words for a refusal. */
  take(wish: StopWish, signal: AbortSignal): Promise<StopTaken>;
}

export function stopCalls(
  book: Bookkeeping,
  rules: Rules,
  venue: Venue,
  /** Before anything is taken. */
  pause: (signal: AbortSignal) => Promise<void>,
): PaperStops {
  async function take(wish: StopWish, signal: AbortSignal): Promise<StopTaken> {
    book.checkOpen(signal);
    await pause(signal);
    const listing = venue.listing(wish.instrument);
    const prices = await book.pricesOf(listing, signal);
    book.checkOpen(signal);
    const taken = await book.attempt<PaperStop, StopRefusal>(
      {
        decide(now, moment) {
          if (!listing) return unlisted(wish.instrument);
          const { moves } = wish;
          return asDecided(
            moves === undefined
              ? placeStop(now, wish, listing, rules, moment)
              : moveStop(now, moves, wish, listing, rules, moment),
          );
        },
        // What was to be moved is not taken twice by being there.
        known: async () => (wish.moves === undefined ? book.findStop(wish.clientOrderId) : null),
      },
      prices,
      signal,
    );
    if ('taken' in taken)
      return { stop: taken.taken, isAnswered: rules.settings.protection !== 'lose_answer' };
    return 'refusal' in taken ? taken : { isLost: true };
  }

  const asked = async (wish: StopWish, signal: AbortSignal): Promise<StopOutcome> =>
    outcomeOf(await take(wish, signal));

  return {
    take,
    place: (stop, signal) => asked(wishOf(stop), signal),
    move: ({ clientOrderId: moves }, to, signal) => asked({ ...wishOf(to), moves }, signal),

    remove: ({ clientOrderId }, signal) =>
      book.answered(signal, () =>
        book.change((now, moment) => removeStop(now, clientOrderId, rules, moment), signal),
      ),

    standing: ({ symbol }, signal) =>
      book.answered(signal, async () => {
        const { stops } = await book.look(signal);
        return stops.filter((stop) => stop.symbol === symbol);
      }),

    find: ({ clientOrderId }, signal) =>
      book.answered(signal, async () => {
        await book.look(signal);
        const stop = await book.findStop(clientOrderId);
        const order = stop?.orderId ? await book.findOrder(stop.orderId) : null;
        return stop && stopStateOf(stop, order);
      }),
  };
}

const wishOf = ({ quantity: _all, ...stop }: StopOrder): StopWish => ({ ...stop, quantity: null });

const unlisted = ({ symbol }: Instrument): { readonly refusal: StopRefusal } => ({
  refusal: { code: 'invalid_symbol', words: invalidSymbol(symbol).message },
});

const asDecided = (decision: StopDecision) =>
  'refusal' in decision ? decision : { change: decision.change, taken: decision.stop };

const LOST: StopOutcome = { outcome: 'unknown', reason: 'The paper broker did not answer.' };

function outcomeOf(taken: StopTaken): StopOutcome {
  if ('isLost' in taken) return LOST;
  if ('refusal' in taken) return rejected(taken.refusal);
  if (!taken.isAnswered) return { outcome: 'unknown', reason: 'The answer of the paper broker was lost.' };
  const { clientOrderId, brokerRef } = taken.stop;
  return { outcome: 'accepted', clientOrderId, brokerRef };
}

const WHY: Partial<Record<StopRefusal['code'], 'passed' | 'no_position' | 'gone'>> = {
  would_trigger: 'passed',
  no_position: 'no_position',
  not_found: 'gone',
};

function rejected({ code, words }: StopRefusal): StopOutcome {
  if (code === 'broker_rate_limited') throw new BrokerBusy(words, RETRY_AFTER_SECONDS * 1000);
  return { outcome: 'rejected', why: WHY[code] ?? 'refused', words };
}

function stopStateOf({ brokerRef, status, reason }: PaperStop, order: PaperOrder | null): StopState {
  const isOver = status !== 'standing' && status !== 'triggered';
  return {
    ...{ brokerRef, status: isOver ? 'ended' : status, order: order && stateOf(order), reason },
    ...(status === 'expired' && { hasExpired: true }),
  };
}
