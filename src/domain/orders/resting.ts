// Entries that rest: they wait at the broker for a price, and are taken back by us: when their time is over, when another takes their
// place, when somebody asks for it. Why one is taken back is saved before the broker is asked to, so that whoever finds its end,
// after whatever crash, knows whose doing it was. A fill that came before wins.

import type { Capabilities } from '../capabilities.ts';
import { type Decimal, isOnStep, toNumberOrNull, ZERO } from '../decimal.ts';
import { type Guards, guardRefusal, judgeHours } from '../guards/guards.ts';
import { millis, type OrderId } from '../ids.ts';
import type { LeftOrder } from '../protection/left.ts';
import { isOpenLeg, type Leg, type Order, type OrderError, type OrderIntent } from './order.ts';
import type { Priced } from './priced.ts';

/** So many of a symbol, all on one side. */
export const MOST_RESTING = 10;
/** How long the end of what was taken back is waited for. */
export const TAKE_BACK_MS = 5_000;

type Able = Pick<Capabilities, 'stopEntries' | 'timeInForce'>;

/** Why a broker does not take such an entry, in words; null: it does. `hasSessions`: of what is traded. */
export function whyNoKind(
  asked: Pick<Priced, 'limit' | 'stop' | 'timeInForce'>,
  { stopEntries, timeInForce }: Able,
  { title, symbol, hasSessions }: { title: string; symbol: string; hasSessions: boolean },
): string | null {
  if (timeInForce.length === 0)
    return `${title} lets no entry rest that could be found by our id: send the order at the market, without prices.`;
  if (asked.stop !== null && !stopEntries)
    return `${title} takes no entry with "stop_price" that could be found by our id: send "limit_price", or the order when the price is there.`;
  if (asked.stop !== null && (asked.timeInForce === 'ioc' || asked.timeInForce === 'fok'))
    return `An entry with "stop_price" waits, and ${asked.timeInForce} does not: send gtc with "expires_in".`;
  if (!timeInForce.includes(asked.timeInForce))
    return `${title} does not take "time_in_force" ${asked.timeInForce}: send one of ${timeInForce.join(', ')}.`;
  if (asked.timeInForce === 'day' && !hasSessions)
    return `${symbol} trades around the clock at ${title}, and has no day that ends: send gtc with "expires_in".`;
  return null;
}

/** Why its prices cannot stand, in words; null: they can. */
export function whyOffTick(
  { limit, stop }: Pick<Priced, 'limit' | 'stop'>,
  tick: Decimal,
): OrderError | null {
  for (const [name, price] of [['limit_price', limit] as const, ['stop_price', stop] as const])
    if (price !== null && !isOnStep(price, tick))
      return invalidPrice(`"${name}" is ${price}, and prices of this instrument are multiples of ${tick}.`);
  return null;
}

export const invalidPrice = (message: string): OrderError => ({ code: 'invalid_price', message });

/** The entry of it that is at the broker, or may be. */
export const openEntry = ({ legs }: Pick<Order, 'legs'>): Leg | undefined =>
  legs.find((leg) => leg.leg === 'entry' && isOpenLeg(leg));

/** Known to be there, and not over. */
export const rests = (order: Pick<Order, 'legs'>): boolean => {
  const status = openEntry(order)?.status;
  return status === 'placed' || status === 'partially_filled';
};

/** By whom it is taken back. */
const replacedBy = (by: { readonly id: OrderId }): OrderError => ({
  code: 'replaced',
  message: `The entry was taken back: order ${by.id} took its place.`,
});

export const cancelledBy = (words: string): OrderError => ({
  code: 'cancelled_on_request',
  message: `The entry was taken back: ${words}.`,
});

/** What an order of the same symbol says to the entries that rest there: a target takes their place, also where it is less than what is held. */
export const endingFor = (order: Pick<Order, 'id' | 'intent' | 'action'>): OrderError =>
  order.intent.operation === 'PLACE_ENTRY_ORDER' || isTarget(order.intent)
    ? replacedBy(order)
    : cancelledBy(`order ${order.id} (${order.action}) asked for it`);

/** Flat is none: whoever goes there leaves. */
const isTarget = ({ target }: OrderIntent): boolean => target !== undefined && target.position !== ZERO;

const lapsed = ({ expiresAt }: Priced): OrderError => ({
  code: 'lapsed',
  message: `The entry was taken back: it was good until ${expiresAt}.`,
});

/** What an account says to what rests there, at any moment. */
export interface Ground {
  readonly now: number;
  /** null: it was deleted. */
  readonly account: { readonly halted: boolean; readonly guards: Guards } | null;
}

/** Why it is not to rest any longer; null: it may. */
export function endingNow(
  { priced, ending, legs }: Pick<Order, 'priced' | 'ending' | 'legs'>,
  { now, account }: Ground,
): OrderError | null {
  if (ending) return ending;
  if (!priced || !openEntry({ legs })) return null;
  if (now >= millis(priced.expiresAt)) return lapsed(priced);
  if (!account || account.halted) return cancelledBy('the account is halted');
  const refusal = guardRefusal(judgeHours(account.guards, now));
  return refusal && { ...refusal, message: `The entry was taken back. ${refusal.message}` };
}

/** When it is looked at again: what it fills is to be protected soon, and it is not to outlive its time. */
export function nextLookAt(
  { priced, ending, wish }: Pick<Order, 'priced' | 'ending' | 'wish'>,
  now: number,
  everyMs: number,
): number {
  const soonest = now + Math.min(everyMs, ending || wish ? SOON_MS : everyMs);
  const due = priced && !ending ? millis(priced.expiresAt) : Number.POSITIVE_INFINITY;
  return Math.max(now, Math.min(soonest, due));
}
const SOON_MS = 5_000;

/** One that was given up is looked at now and then, and when its time is over: it may rest all the same. */
export function seldomLookAt({ priced, ending }: Pick<Order, 'priced' | 'ending'>, now: number): number {
  const due = priced && !ending ? millis(priced.expiresAt) : now;
  return due > now ? Math.min(due, now + SELDOM_MS) : now + SELDOM_MS;
}
const SELDOM_MS = 120_000;

/** Whose entries a `cancel` is about. */
export const isMeantBy = (
  intent: Extract<OrderIntent, { readonly operation: 'CANCEL_ENTRIES' }>,
  { priced }: Pick<Order, 'priced'>,
): boolean => intent.id === undefined || (priced?.id ?? null) === intent.id;

/** What of it stays at the broker where nobody looks after it any more; a simulated book has nobody else who looks at it. */
export const leftEntries = (order: Order): readonly LeftOrder[] =>
  order.simulation
    ? []
    : order.legs
        .filter((leg) => leg === openEntry(order))
        .map(({ instrument, brokerRef }) => ({
          symbol: instrument ?? order.symbol,
          kind: 'entry',
          price: toNumberOrNull(order.priced?.limit ?? order.priced?.stop ?? null),
          broker_ref: brokerRef,
        }));

/** Every symbol of the account. */
export const EVERY_SYMBOL = '*';
