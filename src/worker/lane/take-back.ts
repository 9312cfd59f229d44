// Takes entries back that rest at the broker: why is saved first, then the broker is asked to end them, and what became of each is
// looked at until it has ended or the time is over. A fill that came before wins, and is kept.

import { BrokerUnavailable, CredentialsRejected } from '../../broker/broker.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { type BrokerOrderState, recordState } from '../../domain/orders/fill.ts';
import { isUnderWay, keyOf, type Leg, type Order, type OrderError } from '../../domain/orders/order.ts';
import { isForgotten } from '../../domain/orders/other-legs.ts';
import { openEntry, TAKE_BACK_MS } from '../../domain/orders/resting.ts';
import { isGone, isOfAnotherLogin, queryOf, whyDoubt } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';

export interface TakingBack {
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  /** From now on that is why it ends, unless another reason came before. */
  endEntry(order: Order, why: OrderError): Promise<Order>;
  /** As its worker saves what it saw: where somebody else has written, that is how it stands. */
  saveSeen(order: Order): Promise<Order>;
  readonly rules: { readonly giveUpMs: number };
  /** What was looked for long enough to be believed gone, and when: whoever comes right after does not look for as long. */
  readonly foundGone?: Map<ClientOrderId, number>;
}

/** How an order stands after it was to be taken back. */
export interface TakenBack {
  readonly order: Order;
  /** false: nobody knows that yet. */
  readonly isOver: boolean;
  /** It had ended before anybody asked for it. */
  readonly wasOver?: boolean;
  /** Nor will anybody who asks over this connection again. */
  readonly isOutOfReach?: boolean;
  /** Whatever became of it: the account behind this connection does not have it. */
  readonly isElsewhere?: boolean;
}

type Asks = Pick<Line, 'find' | 'cancel' | 'capabilities' | 'credentialsVersion'>;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
/** One that rests on is asked to end once more. */
const AGAIN_MS = 1_000;
/** What moves from one list of an exchange into another, as its price is reached, is in neither for a moment. */
const UNSHOWN_MS = 2_000;
/** So long one that was gone is believed to be, unless it is seen. */
const STAYS_GONE_MS = 60_000;
/** A cancel that hangs may have arrived: what became of the entry is looked at in the time that is left. */
const CANCEL_WITHIN_MS = 2_000;

export const takeBack = (
  deps: TakingBack,
  line: Asks,
  orders: readonly Order[],
  why: (order: Order) => OrderError,
): Promise<TakenBack[]> => Promise.all(orders.map((order) => takeOne(deps, line, order, why(order))));

async function takeOne(deps: TakingBack, line: Asks, rested: Order, why: OrderError): Promise<TakenBack> {
  const order = await deps.endEntry(rested, why);
  const leg = openEntry(order);
  if (!leg) return { order, isOver: true, wasOver: true };
  const begunAt = deps.clock.now();
  let waitedMs = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  let ref = leg.brokerRef;
  let unshownAt: number | null = null;
  const passedMs = () => Math.max(waitedMs, deps.clock.now() - begunAt);
  for (let looks = 0; ; looks++) {
    // What is not known to be there is found first: by our id alone nothing is cancelled.
    if (ref !== null && passedMs() - askedAt >= AGAIN_MS) {
      await orNothing(line.cancel(cancelling(order, leg, ref), CANCEL_WITHIN_MS));
      askedAt = passedMs();
    }
    const left = Math.max(1, TAKE_BACK_MS - passedMs());
    const state = await orNothing(line.find(queryOf(leg, order), left));
    if (state && hasEnded(state))
      return { order: await deps.saveSeen(ended(order, leg, state, deps)), isOver: true };
    if (state === null) {
      const now = deps.clock.now();
      unshownAt ??= passedMs();
      // What was never acknowledged may never have been in any.
      const isBelieved =
        leg.ackedAt === null ||
        isOfAnotherLogin(order, line) ||
        wasGone(deps, leg, now) ||
        passedMs() - unshownAt >= UNSHOWN_MS;
      const isElsewhere = isBelieved && isGone(order, leg, line, now, deps.rules);
      if (isOutOfReach(order, leg, line, now))
        return { order, isOver: false, isOutOfReach: true, isElsewhere };
      if (isElsewhere) {
        noteGone(deps, leg, now);
        return { order, isOver: true, isElsewhere };
      }
    }
    if (state) {
      unshownAt = null;
      deps.foundGone?.delete(leg.clientOrderId);
    }
    if (state && ref === null && state.brokerRef !== null) {
      ref = state.brokerRef;
      continue;
    }
    if (passedMs() >= TAKE_BACK_MS) return { order: seen(order, leg, state, deps), isOver: false };
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** looks, LONGEST_PAUSE_MS);
    await deps.wait(pauseMs);
    // A test's clock may stand still.
    waitedMs += pauseMs;
  }
}

const cancelling = (order: Order, leg: Leg, brokerRef: string) => {
  const { clientOrderId, symbol, isConditional } = queryOf(leg, order);
  return { clientOrderId, brokerRef, symbol, ...(isConditional && { isConditional }) };
};

/** Of another account, behind other credentials; or nothing was heard of it for so long that nobody can say. */
const isOutOfReach = (order: Order, leg: Leg, line: Asks, now: number): boolean =>
  isOfAnotherLogin(order, line) ||
  (leg.ackedAt === null && isForgotten(leg, now) && whyDoubt(order, leg, line, now) !== null);

const wasGone = ({ foundGone }: TakingBack, { clientOrderId }: Leg, now: number): boolean =>
  isFresh(foundGone?.get(clientOrderId), now);

function noteGone(deps: TakingBack, leg: Leg, now: number): void {
  const { foundGone } = deps;
  if (!foundGone || wasGone(deps, leg, now)) return;
  for (const [id, at] of foundGone) if (!isFresh(at, now)) foundGone.delete(id);
  foundGone.set(leg.clientOrderId, now);
}

const isFresh = (at: number | undefined, now: number): boolean =>
  at !== undefined && Math.abs(now - at) < STAYS_GONE_MS;

const hasEnded = ({ status }: BrokerOrderState): boolean =>
  status === 'filled' || status === 'cancelled' || status === 'failed';

const seen = (
  order: Order,
  leg: Leg,
  state: BrokerOrderState | null | undefined,
  { clock }: TakingBack,
): Order => (state && !isUnderWay(order.status) ? recordState(order, keyOf(leg), state, clock.now()) : order);

const ended = (order: Order, leg: Leg, state: BrokerOrderState, { clock }: TakingBack): Order =>
  recordState(order, keyOf(leg), state, clock.now());

/** A broker that is away, or busy, is asked again until the time is over; not one that refuses the credentials. */
async function orNothing<Answer>(asking: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asking;
  } catch (fault) {
    if (fault instanceof BrokerUnavailable && !(fault instanceof CredentialsRejected)) return undefined;
    throw fault;
  }
}
