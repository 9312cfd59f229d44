// The one thing that a trial buys, and how it sells it again.

import type { BrokerOrderState, Instrument } from '../../broker/broker.ts';
import { compare, multiply, sign, subtract } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { Surprise, tookOf } from '../../domain/trial/row.ts';
import type { TrialPlan } from '../../domain/trial/size.ts';
import { AT_ONCE_MS, type Desk, orderOf, type Sent, TWO } from './desk.ts';
import type { Listening } from './listening.ts';
import { isOver, whyNot } from './resting.ts';

type IdOf = (what: string) => ClientOrderId;

interface Buying {
  readonly instrument: Instrument;
  readonly plan: TrialPlan;
  readonly idOf: IdOf;
  readonly listening: Listening | null;
  readonly currency: string;
  /** In which currencies the broker's replies speak of fees. */
  feesIn(): readonly string[];
}

export async function tryBuying(desk: Desk, buying: Buying): Promise<Sent> {
  const { instrument, plan, idOf, listening } = buying;
  const { quantity } = plan;
  const { broker } = desk;
  const began = desk.now();
  let entry: Sent | undefined;
  await desk.step(
    { step: 'buy', assumed: `${quantity} ${instrument.symbol} at the market: taken` },
    async () => {
      const order = orderOf(
        instrument,
        { clientOrderId: idOf('entry'), side: 'buy', quantity, reduceOnly: false },
        desk.now(),
      );
      const placed = await desk.place(order);
      entry = placed.sent;
      if (placed.outcome.outcome !== 'accepted') throw new Surprise(whyNot(placed.outcome));
      return `acknowledged after ${tookOf(desk.now() - began)}`;
    },
  );
  if (!entry) throw new Error('a step that ended told nothing');
  const bought = entry;
  if (broker.capabilities.findsByClientIdMs === 0)
    desk.skip(
      'found by id',
      'an order is found by our id',
      'this broker takes no ids of ours: orders are compared',
    );
  else await findById(desk, bought);
  await findByName(desk, bought);
  const filled = await tryFill(desk, bought, plan);
  await tellFee(desk, filled, buying);
  if (listening)
    await desk.step({ step: 'stream tells', assumed: 'of the order, soon' }, () =>
      listening.toldOf(bought, began),
    );
  await tryPosition(desk, instrument, plan);
  return bought;
}

async function findById(desk: Desk, bought: Sent): Promise<void> {
  await desk.step({ step: 'found by id', assumed: 'an order is found by our id, at once' }, async () => {
    const found = await desk.until(
      (signal) => desk.stateOf({ ...bought, brokerRef: null }, signal),
      (state) => state !== null,
      desk.patience.orderMs,
    );
    if (!found)
      throw new Surprise(
        `not within ${tookOf(desk.patience.orderMs)}. An order whose answer is lost could not be found: the service would leave it as unknown`,
      );
    return found.ms < AT_ONCE_MS ? 'found' : { noted: `found after ${tookOf(found.ms)}` };
  });
}

async function findByName(desk: Desk, bought: Sent): Promise<void> {
  const step = { step: 'found by reference', assumed: 'and by the broker’s own name of it' };
  const { brokerRef } = await desk.look(bought);
  if (brokerRef === null) return desk.skip(step.step, step.assumed, 'the broker gave it none');
  await desk.step(step, async () => {
    const state = await desk.ask((signal) => desk.stateOf({ ...bought, brokerRef }, signal));
    if (state === null) throw new Surprise('not found');
    if (state.brokerRef !== brokerRef) throw new Surprise(`another one was told: ${state.brokerRef}`);
    return 'found';
  });
}

async function tryFill(desk: Desk, bought: Sent, { quantity }: TrialPlan): Promise<BrokerOrderState> {
  let filled: BrokerOrderState | null = null;
  await desk.step({ step: 'fill', assumed: 'filled whole, with its price' }, async () => {
    const { orderMs } = desk.patience;
    const ended = await desk.until((signal) => desk.stateOf(bought, signal), isOver, orderMs);
    await desk.look(bought);
    if (!ended?.value) throw new Surprise(`not within ${tookOf(orderMs)}`);
    filled = ended.value;
    const { status, fillQuantity, fillPrice, reason } = ended.value;
    if (status !== 'filled' || compare(fillQuantity, quantity) !== 0)
      throw new Surprise(`${status}, ${fillQuantity} of ${quantity} filled${reason ? `: ${reason}` : ''}`);
    if (fillPrice === null) throw new Surprise('filled, and without a price');
    return `filled at ${fillPrice}`;
  });
  if (!filled) throw new Error('a step that ended told nothing');
  return filled;
}

async function tellFee(desk: Desk, { fee }: BrokerOrderState, { currency, feesIn }: Buying): Promise<void> {
  await desk.step({ step: 'fee', assumed: `told in ${currency}, or not at all` }, async () => {
    const others = feesIn().filter((each) => each !== currency);
    if (others.length > 0)
      return { noted: `charged in ${others.join(', ')}: it is not counted among the account’s costs` };
    return fee === null ? 'not told' : `${fee} ${currency}`;
  });
}

async function tryPosition(desk: Desk, instrument: Instrument, { quantity }: TrialPlan): Promise<void> {
  const { broker, patience } = desk;
  await desk.step(
    { step: 'position follows', assumed: `what is held is ${quantity}, soon after the fill` },
    async () => {
      const shown = await desk.until(
        (signal) => broker.position(instrument, signal),
        (held) => compare(held, quantity) === 0,
        patience.lagMs,
      );
      if (!shown)
        throw new Surprise(
          `not within ${tookOf(patience.lagMs)}. So long a lag is more than the service waits for (POSITION_LAG_SECONDS)`,
        );
      return shown.ms < AT_ONCE_MS ? `after ${tookOf(shown.ms)}` : { noted: `after ${tookOf(shown.ms)}` };
    },
  );
  await desk.step(
    { step: 'position listed', assumed: 'among all that is held, and as one that can be closed' },
    async () => {
      const rows = (await desk.ask((signal) => broker.positions(signal))).filter(
        (row) => row.symbol === instrument.symbol && sign(row.quantity) !== 0,
      );
      const [row] = rows;
      if (!row) throw new Surprise('it is not in the list');
      if (rows.length > 1) throw new Surprise(`there are ${rows.length} rows of it: the account is hedged`);
      if (!row.tradable) throw new Surprise(`it cannot be closed here: ${row.reason}`);
      return `${row.quantity} at ${row.averagePrice}`;
    },
  );
}

/** More than is held, where the broker clamps it; what is held exactly, where it does not. */
export async function trySelling(
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  idOf: IdOf,
): Promise<Sent> {
  const { broker, patience } = desk;
  const isClamped = broker.capabilities.reduceOnly;
  const quantity = isClamped ? multiply(plan.quantity, TWO) : plan.quantity;
  const assumed = isClamped
    ? `${quantity} to sell, reduce-only, twice what is held: all that is held is closed, and no more`
    : `${quantity} to sell, exactly what is held: closed`;
  let close: Sent | undefined;
  await desk.step({ step: 'close', assumed }, async () => {
    const order = orderOf(
      instrument,
      { clientOrderId: idOf('exit'), side: 'sell', quantity, reduceOnly: true },
      desk.now(),
    );
    const placed = await desk.place(order);
    close = placed.sent;
    if (placed.outcome.outcome !== 'accepted') throw new Surprise(whyNot(placed.outcome));
    const ended = await desk.until((signal) => desk.stateOf(placed.sent, signal), isOver, patience.orderMs);
    close = await desk.look(placed.sent);
    if (!ended) throw new Surprise(`it had not ended after ${tookOf(patience.orderMs)}`);
    const over = subtract(close.filled, plan.quantity);
    if (sign(over) > 0)
      throw new Surprise(`${close.filled} was sold: reduce-only was ignored, and ${over} is held short`);
    if (sign(over) < 0) throw new Surprise(`only ${close.filled} was closed`);
    return `${close.filled} closed after ${tookOf(ended.ms)}`;
  });
  await desk.step({ step: 'flat', assumed: 'nothing is held, nothing rests, no stop stands' }, async () => {
    const flat = await desk.until(
      (signal) => broker.position(instrument, signal),
      (held) => sign(held) === 0,
      patience.lagMs,
    );
    if (!flat) throw new Surprise(`something was still held ${tookOf(patience.lagMs)} after the close`);
    const { symbol } = instrument;
    const open = await desk.ask((signal) => broker.openOrders(signal));
    const rest = open.filter((order) => order.symbol === symbol).length;
    if (rest > 0) throw new Surprise(`${rest} of its orders rest`);
    const stops = (await desk.ask(async (signal) => broker.stops?.standing(instrument, signal))) ?? [];
    if (stops.length > 0) throw new Surprise(`${stops.length} stops stand`);
    return `after ${tookOf(flat.ms)}`;
  });
  if (!close) throw new Error('a step that ended told nothing');
  return close;
}

/** Of orders that have ended: what the service does after a crash. */
export async function tryMemory(desk: Desk, orders: readonly Sent[]): Promise<void> {
  if (desk.broker.capabilities.findsByClientIdMs === 0) return;
  await desk.step(
    { step: 'remembered', assumed: 'orders that have ended are still found by our id' },
    async () => {
      for (const order of orders) {
        const state = await desk.ask((signal) => desk.stateOf({ ...order, brokerRef: null }, signal));
        if (state === null) throw new Surprise(`the ${order.side} is not found any more`);
      }
      return 'found';
    },
  );
}
