// An order that is not meant to fill: placed far from the market, seen, cancelled. What ids are good for is tried with it, because
// nothing can be bought by it.

import type { BrokerOrder, BrokerOrderState, Instrument, PlaceOutcome } from '../../broker/broker.ts';
import { sign } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { Surprise, tookOf } from '../../domain/trial/row.ts';
import type { TrialPlan } from '../../domain/trial/size.ts';
import { AT_ONCE_MS, type Desk, orderOf, type Sent } from './desk.ts';

type IdOf = (what: string) => ClientOrderId;

export const isOver = (state: BrokerOrderState | null): boolean =>
  state !== null && state.status !== 'placed' && state.status !== 'partially_filled';

/** In the words of a refusal, or of an answer that nobody got. */
export function whyNot(outcome: Exclude<PlaceOutcome, { readonly outcome: 'accepted' }>): string {
  return outcome.outcome === 'rejected'
    ? `refused (${outcome.error.code}): ${outcome.error.message}`
    : `no answer that could be read: ${outcome.reason}`;
}

export async function tryUnknownId(
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  idOf: IdOf,
): Promise<void> {
  const step = { step: 'unknown id', assumed: 'an id that was never sent is not found' };
  if (desk.broker.capabilities.findsByClientIdMs === 0)
    return desk.skip(step.step, step.assumed, 'this broker takes no ids of ours');
  await desk.step(step, async () => {
    const query = unsent(desk, idOf('never sent'), instrument, plan);
    const state = await desk.ask((signal) => desk.broker.find(query, signal));
    if (state !== null) throw new Surprise(`it was found: ${state.status}`);
    return 'not found';
  });
}

const unsent = (
  desk: Desk,
  clientOrderId: ClientOrderId,
  { symbol }: Instrument,
  { quantity }: TrialPlan,
) => ({
  ...{ clientOrderId, brokerRef: null, symbol, side: 'buy' as const, quantity },
  sentAt: new Date(desk.now()).toISOString() as Sent['sentAt'],
});

/** `day` where the broker has nothing longer. */
const restsFor = ({ broker }: Desk): BrokerOrder['timeInForce'] =>
  (['gtc', 'day'] as const).find((time) => broker.capabilities.timeInForce.includes(time));

const farOff = (
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  clientOrderId: ClientOrderId,
): BrokerOrder =>
  orderOf(
    instrument,
    {
      ...{ clientOrderId, side: 'buy', quantity: plan.quantity, reduceOnly: false },
      limit: plan.farLimit,
      timeInForce: restsFor(desk) ?? 'gtc',
    },
    desk.now(),
  );

export async function tryResting(
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  idOf: IdOf,
): Promise<void> {
  const { broker, patience } = desk;
  const placing = {
    step: 'limit',
    assumed: `to buy ${plan.quantity} at ${plan.farLimit}, far below: it rests`,
  };
  if (restsFor(desk) === undefined)
    return desk.skip(placing.step, placing.assumed, 'orders that rest are not sent to this broker');
  const order = farOff(desk, instrument, plan, idOf('limit'));
  let sent: Sent | undefined;
  await desk.step(placing, async () => {
    const began = desk.now();
    const placed = await desk.place(order);
    sent = placed.sent;
    if (placed.outcome.outcome !== 'accepted') throw new Surprise(whyNot(placed.outcome));
    if (sign(placed.sent.filled) !== 0) throw new Surprise(`${placed.sent.filled} was filled at once`);
    return `taken after ${tookOf(desk.now() - began)}`;
  });
  if (!sent) return;
  const resting = sent;
  await desk.step(
    { step: 'limit listed', assumed: 'it is in the list of open orders, by its id' },
    async () => {
      const isIt = ({ brokerRef, clientOrderId }: { brokerRef: string; clientOrderId: string | null }) =>
        clientOrderId === resting.clientOrderId ||
        (clientOrderId === null && brokerRef === resting.brokerRef);
      const found = await desk.until(
        (signal) => broker.openOrders(signal),
        (orders) => orders.some(isIt),
        patience.orderMs,
      );
      if (!found) throw new Surprise(`not within ${tookOf(patience.orderMs)}`);
      return found.ms < AT_ONCE_MS ? 'so it is' : { noted: `after ${tookOf(found.ms)}` };
    },
  );
  await trySecond(desk, order, resting);
  await desk.step({ step: 'cancel', assumed: 'it ends as cancelled, and leaves the list' }, async () => {
    const { clientOrderId, symbol } = resting;
    const brokerRef = desk.sent().find((each) => each.clientOrderId === clientOrderId)?.brokerRef;
    if (!brokerRef) throw new Surprise('the broker gave it no name to cancel it by');
    await desk.ask((signal) => broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
    const ended = await desk.until(
      (signal) => desk.stateOf({ ...resting, brokerRef }, signal),
      (state) => state === null || isOver(state),
      patience.orderMs,
    );
    if (ended && ended.value === null)
      throw new Surprise('once it has ended it is not found any more: its id is forgotten');
    if (!ended) throw new Surprise(`it had not ended ${tookOf(patience.orderMs)} after it was cancelled`);
    await desk.look({ ...resting, brokerRef });
    if (ended.value?.status !== 'cancelled') throw new Surprise(`it ended as ${ended.value?.status}`);
    return `cancelled after ${tookOf(ended.ms)}`;
  });
}

/** While the first rests: whatever comes of it can be cancelled. */
async function trySecond(desk: Desk, order: BrokerOrder, first: Sent): Promise<void> {
  const { refusesDuplicateIds, findsByClientIdMs } = desk.broker.capabilities;
  const step = 'same id again';
  if (findsByClientIdMs === 0) return desk.skip(step, 'refused', 'this broker takes no ids of ours');
  const assumed = refusesDuplicateIds
    ? 'refused: one order to an id'
    : 'refused while the first is open; if not, it is a second order, which we never send';
  await desk.step({ step, assumed }, async () => {
    const second = await sendAgain(desk, order, first);
    if (second === null) return 'refused';
    const words = `taken, as a second order (${second})`;
    if (refusesDuplicateIds) throw new Surprise(`${words}. Sending again after a crash would not be safe`);
    return { noted: `${words}. No id is sent twice here` };
  });
}

/** The second order's own name; null: there is none. It is cancelled at once. */
async function sendAgain(desk: Desk, order: BrokerOrder, first: Sent): Promise<string | null> {
  const { outcome } = await desk.place({ ...order, ...orderOf(order.instrument, order, desk.now()) });
  const { clientOrderId, symbol } = first;
  // A refusal is answered with the order that is there; a second one has another name.
  if (outcome.outcome !== 'accepted') return null;
  const { brokerRef } = outcome.state;
  if (brokerRef === null || brokerRef === first.brokerRef) return null;
  await desk.ask((signal) => desk.broker.cancel({ clientOrderId, brokerRef, symbol }, signal));
  return brokerRef;
}

/** Under the id of an order that was filled: with a limit far off, so that nothing is bought where it is taken. */
export async function tryUsedId(
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  entry: Sent,
): Promise<void> {
  const step = { step: 'used id', assumed: 'a second order under the id of one that was filled is refused' };
  if (!desk.broker.capabilities.refusesDuplicateIds || restsFor(desk) === undefined)
    return desk.skip(step.step, step.assumed, 'nothing relies on that at this broker: no id is sent twice');
  await desk.step(step, async () => {
    const second = await sendAgain(desk, farOff(desk, instrument, plan, entry.clientOrderId), entry);
    if (second === null) return 'refused';
    throw new Surprise(`taken, as a second order (${second}). Sending again after a crash would not be safe`);
  });
}
