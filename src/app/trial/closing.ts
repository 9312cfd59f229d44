// The end of a trial, however it comes: what it left resting is cancelled, its stop is removed, and what it bought is sold. Nothing else
// is touched: never more is closed than the trial's own orders have filled, and where the broker is able to, only as an order that can but reduce.

import { BrokerUnavailable, type Instrument } from '../../broker/broker.ts';
import { absolute, add, compare, type Decimal, negate, sign, smaller, ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { type Desk, orderOf, type Sent } from './desk.ts';

export interface Home {
  readonly isFlat: boolean;
  /** How it was closed, or what is left and what to do. */
  readonly words: string;
}

const ROUNDS = 4;

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
      if (sign(left) === 0) return { isFlat: true, words: toldOf(did) };
      trouble = await closeRest(desk, instrument, left, idOf(`close ${round} ${desk.now()}`), did);
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      trouble = fault.message;
      await desk.wait(desk.patience.lookMs * 4);
    }
  }
  const left = await leftOf(desk, instrument).catch(() => null);
  if (left !== null && sign(left) === 0) return { isFlat: true, words: toldOf(did) };
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
      await desk.ask(async (signal) => broker.stops?.remove(stopOf(order), signal));
      desk.note({ ...order, fate: 'ended' });
      did.push(`the stop at ${order.price} was removed`);
      continue;
    }
    let seen = await desk.look(order);
    if (seen.fate === 'open' && seen.brokerRef !== null) {
      const { clientOrderId, brokerRef, symbol } = seen;
      await desk.ask((signal) => broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
      const ended = await desk.until(
        (signal) => desk.stateOf(seen, signal),
        (state) => state !== null && state.status !== 'placed' && state.status !== 'partially_filled',
        desk.patience.orderMs,
      );
      if (ended) seen = await desk.look(seen);
      if (ended?.value?.status === 'cancelled') did.push(`the resting order ${clientOrderId} was cancelled`);
    }
  }
  // A second order under the id of one that rests has no entry of its own: it is known by that id.
  const ours = new Set(desk.sent().map(({ clientOrderId }) => clientOrderId));
  const open = await desk.ask((signal) => broker.openOrders(signal));
  for (const { clientOrderId, brokerRef, symbol } of open)
    if (clientOrderId !== null && ours.has(clientOrderId) && symbol === instrument.symbol) {
      await desk.ask((signal) => broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
      did.push(`the resting order ${brokerRef} was cancelled`);
    }
}

export const stopOf = ({ clientOrderId, brokerRef, symbol, side, quantity, price, sentAt }: Sent) => ({
  ...{ clientOrderId, brokerRef, symbol, side, quantity, sentAt },
  price: price ?? ZERO,
});

/** What the trial's own orders have left open, signed. Of one that nobody can tell of, at most what is held. */
async function leftOf(desk: Desk, instrument: Instrument): Promise<Decimal> {
  const orders = desk.sent().filter(({ kind }) => kind === 'order');
  const signed = ({ side }: Sent, amount: Decimal) => (side === 'buy' ? amount : negate(amount));
  const known = orders.reduce((sum, order) => add(sum, signed(order, order.filled)), ZERO);
  const unsure = orders.filter(({ fate }) => fate === 'unsure' || fate === 'open');
  const most = unsure.reduce((sum, order) => add(sum, signed(order, order.quantity)), known);
  const held = await desk.ask((signal) => desk.broker.position(instrument, signal));
  if (unsure.length > 0) return sign(held) === sign(most) ? within(most, held) : ZERO;
  if (sign(known) === 0) return ZERO;
  // A stop may have closed it, or somebody by hand: then there is nothing of ours left. A position may lag as well.
  if (sign(held) === sign(known)) return within(known, held);
  const shown = await desk.until(
    (signal) => desk.broker.position(instrument, signal),
    (now) => sign(now) === sign(known),
    desk.broker.capabilities.reduceOnly ? desk.patience.lookMs : desk.patience.lagMs,
  );
  if (shown) return within(known, shown.value);
  // Sent all the same where it can only reduce.
  return desk.broker.capabilities.reduceOnly ? known : ZERO;
}

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
  const ended = await desk.until(
    (signal) => desk.stateOf(sent, signal),
    (state) => state !== null && state.status !== 'placed' && state.status !== 'partially_filled',
    desk.patience.orderMs,
  );
  const seen = ended ? await desk.look(sent) : sent;
  if (compare(seen.filled, ZERO) > 0)
    did.push(
      `${seen.filled} ${instrument.symbol} ${side === 'sell' ? 'was sold' : 'was bought back'} at the market`,
    );
  return ended ? (ended.value?.reason ?? '') : 'its close is not confirmed.';
}
