// The end of a trial, however it comes: what it left resting is cancelled, its stop is removed, and what it bought is sold. Nothing else
// is touched: never more is closed than the trial's own orders have filled, and where the broker is able to, only as an order that can but reduce.

import { BrokerUnavailable, type Instrument } from '../../broker/broker.ts';
import {
  absolute,
  add,
  compare,
  type Decimal,
  negate,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { type Desk, orderOf, type Sent } from './desk.ts';

export interface Home {
  readonly isFlat: boolean;
  /** How it was closed, or what is left and what to do. */
  readonly words: string;
}

const ROUNDS = 4;
const NOT_SHOWN =
  'the broker does not show it as held, and would take its close for a sale of what is not there.';

/** `idOf`: for what it sends. */
export async function goHome(
  desk: Desk,
  instrument: Instrument,
  idOf: (what: string) => ClientOrderId,
): Promise<Home> {
  desk.beginClosing();
  const did: string[] = [];
  let trouble = '';
  for (let round = 1; round <= ROUNDS; round++) {
    try {
      await clearAway(desk, instrument, did);
      const left = await leftOf(desk, instrument);
      const isClear = !desk.sent().some(({ kind, fate }) => kind === 'stop' && fate === 'open');
      if (sign(left) === 0 && isClear) return { isFlat: true, words: toldOf(did) };
      if (sign(left) === 0) trouble = 'its stop could not be removed.';
      else trouble = await closeRest(desk, instrument, left, idOf(`close ${round} ${desk.now()}`), did);
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      trouble = fault.message;
      await desk.wait(desk.patience.lookMs * 4);
    }
  }
  const left = await leftOf(desk, instrument).catch(() => null);
  const held = await desk.ask((signal) => desk.broker.position(instrument, signal)).catch(() => null);
  const isIdle = held !== null && sign(held) === 0 && trouble === NOT_SHOWN;
  if (isIdle)
    return { isFlat: true, words: `${toldOf(did)} The broker shows nothing of it as held any more.` };
  const what = left === null ? 'What the trial opened' : `${absolute(left)} of ${instrument.symbol}`;
  return {
    isFlat: false,
    words:
      `${what} may still be open: ${trouble || 'its close is not confirmed.'} Look at your broker now, and close it there, ` +
      'or run the same command again: it closes what this trial opened, and begins nothing before that.',
  };
}

const toldOf = (did: readonly string[]): string =>
  did.length === 0 ? 'Nothing of the trial was open.' : `${did.join(', ')}.`;

/** What rests and what stands. */
async function clearAway(desk: Desk, instrument: Instrument, did: string[]): Promise<void> {
  const { broker } = desk;
  for (const order of desk.sent().filter(({ fate }) => fate === 'open' || fate === 'unsure')) {
    if (order.kind === 'stop') {
      const isGone = await desk
        .ask(async (signal) => broker.stops?.remove(stopOf(order), signal))
        .then(() => true, unlessUnavailable(false));
      desk.note({ ...order, fate: isGone ? 'ended' : 'open' });
      if (isGone) did.push(`the stop at ${order.price} was removed`);
      continue;
    }
    let seen = await lookAt(desk, order);
    if (seen.fate === 'open' && seen.brokerRef !== null) {
      const { clientOrderId, brokerRef, symbol } = seen;
      await desk.ask((signal) => broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
      const ended = await untilOver(desk, seen);
      if (ended) seen = await lookAt(desk, seen);
      if (ended?.value?.status === 'cancelled') did.push(`the resting order ${clientOrderId} was cancelled`);
    }
  }
  // A second order under the id of one that rests has no entry of its own: it is known by that id.
  const ours = new Set(desk.sent().map(({ clientOrderId }) => clientOrderId));
  const open = await desk.ask((signal) => broker.openOrders(signal)).catch(unlessUnavailable([]));
  for (const { clientOrderId, brokerRef, symbol } of open)
    if (clientOrderId !== null && ours.has(clientOrderId) && symbol === instrument.symbol) {
      await desk.ask((signal) => broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
      did.push(`the resting order ${brokerRef} was cancelled`);
    }
}

/** As it was, where the broker cannot tell: that keeps nobody from closing. */
const lookAt = (desk: Desk, order: Sent): Promise<Sent> => desk.look(order).catch(unlessUnavailable(order));

/** null: it is not known to have ended. */
const untilOver = (desk: Desk, order: Sent) =>
  desk
    .until(
      (signal) => desk.stateOf(order, signal),
      (state) => state !== null && state.status !== 'placed' && state.status !== 'partially_filled',
      desk.patience.orderMs,
    )
    .catch(unlessUnavailable(null));

const unlessUnavailable =
  <T>(instead: T) =>
  (fault: unknown): T => {
    if (fault instanceof BrokerUnavailable) return instead;
    throw fault;
  };

export const stopOf = ({ clientOrderId, brokerRef, symbol, side, quantity, price, sentAt }: Sent) => ({
  ...{ clientOrderId, brokerRef, symbol, side, quantity, sentAt },
  price: price ?? ZERO,
});

/** What the trial's own orders have left open, signed. Of those that nobody can tell of, no more than is held. */
async function leftOf(desk: Desk, instrument: Instrument): Promise<Decimal> {
  const orders = desk.sent().filter(({ kind }) => kind === 'order');
  const ofSide = (side: Sent['side']) => orders.filter((order) => order.side === side);
  const filled = (side: Sent['side']) => ofSide(side).reduce((sum, order) => add(sum, order.filled), ZERO);
  const known = subtract(filled('buy'), filled('sell'));
  const position = (signal: AbortSignal) => desk.broker.position(instrument, signal);
  const isSure = !orders.some(isUnsure);
  let held = await desk.ask(position).catch((fault: unknown) => {
    // Where what is held cannot be read, the broker's word of each fill is what there is.
    if (fault instanceof BrokerUnavailable && isSure) return known;
    throw fault;
  });
  if (!isSure) {
    // It may be on its way.
    if (sign(held) === 0)
      held = (await desk.until(position, (now) => sign(now) !== 0, desk.patience.orderMs))?.value ?? held;
    const possible = ofSide(sign(held) > 0 ? 'buy' : 'sell').reduce(
      (sum, order) => add(sum, isUnsure(order) ? order.quantity : order.filled),
      ZERO,
    );
    return sign(held) < 0 ? within(negate(possible), held) : within(possible, held);
  }
  // A stop may have closed it, or somebody by hand; or what is held is not shown yet.
  return sign(held) === sign(known) ? within(known, held) : known;
}

const isUnsure = ({ fate }: Sent): boolean => fate === 'unsure' || fate === 'open';

const within = (wanted: Decimal, held: Decimal): Decimal => {
  const size = smaller(absolute(wanted), absolute(held));
  return sign(wanted) < 0 ? negate(size) : size;
};

/** In words what went wrong; empty: nothing. */
async function closeRest(
  desk: Desk,
  instrument: Instrument,
  left: Decimal,
  clientOrderId: ClientOrderId,
  did: string[],
): Promise<string> {
  if (!desk.broker.capabilities.reduceOnly) {
    const shown = await desk
      .until(
        (signal) => desk.broker.position(instrument, signal),
        (held) => sign(held) === sign(left),
        desk.patience.lagMs,
      )
      .catch(unlessUnavailable('it cannot be read' as const));
    if (!shown) return NOT_SHOWN;
  }
  const side = sign(left) > 0 ? 'sell' : 'buy';
  const quantity = absolute(left);
  const order = orderOf(instrument, { clientOrderId, side, quantity, reduceOnly: true }, desk.now());
  const { outcome, sent } = await desk.place(order);
  if (outcome.outcome === 'rejected') {
    if (outcome.error.code !== 'no_position') return outcome.error.message;
    // By the broker's own word nothing is held: what we counted was closed otherwise.
    const held = await desk.ask((signal) => desk.broker.position(instrument, signal));
    if (sign(held) !== 0) return outcome.error.message;
    for (const each of desk.sent())
      if (each.kind === 'order') desk.note({ ...each, filled: ZERO, fate: 'ended' });
    did.push('nothing was held any more');
    return '';
  }
  const ended = await untilOver(desk, sent);
  const seen = ended ? await lookAt(desk, sent) : sent;
  if (compare(seen.filled, ZERO) > 0)
    did.push(
      `${seen.filled} ${instrument.symbol} ${side === 'sell' ? 'was sold' : 'was bought back'} at the market`,
    );
  return ended ? (ended.value?.reason ?? '') : 'its close is not confirmed.';
}
