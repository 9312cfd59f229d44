// A stop for what the trial holds: placed, seen, moved as this broker moves them, removed.

import {
  BrokerBusy,
  type Instrument,
  type StopOrder,
  type StopOutcome,
  type Stops,
} from '../../broker/broker.ts';
import { compare, type Decimal, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../domain/ids.ts';
import { Surprise, tookOf } from '../../domain/trial/row.ts';
import type { TrialPlan } from '../../domain/trial/size.ts';
import { stopOf } from './closing.ts';
import type { Desk, Sent } from './desk.ts';

export async function tryStops(
  desk: Desk,
  instrument: Instrument,
  plan: TrialPlan,
  idOf: (what: string) => ClientOrderId,
): Promise<void> {
  const { stops } = desk.broker;
  const placing = { step: 'stop', assumed: `at ${plan.stop}: taken, and it stands` };
  if (!stops) return desk.skip(placing.step, placing.assumed, 'no stops are kept at this broker');
  const first = stopAt(instrument, plan, plan.stop, idOf('stop'));
  let standing: Sent | undefined;
  await desk.step(placing, async () => {
    const began = desk.now();
    standing = await send(desk, first, (signal) => stops.place(first, signal));
    const seen = await seenAt(desk, stops, instrument, plan.stop, true);
    return `seen after ${tookOf(seen - began)}`;
  });
  if (!standing) return;
  const old = standing;
  const second = stopAt(instrument, plan, plan.movedStop, idOf('moved stop'));
  await desk.step(
    { step: 'stop moved', assumed: `to ${plan.movedStop}: one stop stands, at that price` },
    async () => {
      const began = desk.now();
      const { moves } = desk.broker.capabilities;
      const moved = await send(desk, second, (signal) =>
        moves === 'amend' && stops.move
          ? stops.move(stopOf(old), second, signal)
          : stops.place(second, signal),
      );
      if (moves === 'replace') await desk.ask((signal) => stops.remove(stopOf(old), signal));
      // Where it was overwritten or changed, the first is no more by itself.
      if (moved.clientOrderId !== old.clientOrderId) desk.note({ ...old, fate: 'ended' });
      await seenAt(desk, stops, instrument, plan.movedStop, true);
      const seen = await seenAt(desk, stops, instrument, plan.stop, false);
      standing = moved;
      return `seen after ${tookOf(seen - began)}`;
    },
  );
  await desk.step({ step: 'stop removed', assumed: 'no stop stands, and the position is left' }, async () => {
    const last = standing ?? old;
    const began = desk.now();
    await desk.ask((signal) => stops.remove(stopOf(last), signal));
    const gone = await seenAt(desk, stops, instrument, plan.movedStop, false);
    desk.note({ ...last, fate: 'ended' });
    const held = await desk.ask((signal) => desk.broker.position(instrument, signal));
    if (compare(held, plan.quantity) !== 0) throw new Surprise(`${held} is held, and ${plan.quantity} was`);
    return `gone after ${tookOf(gone - began)}`;
  });
}

const stopAt = (
  instrument: Instrument,
  { quantity }: TrialPlan,
  price: Decimal,
  clientOrderId: ClientOrderId,
): StopOrder => ({ clientOrderId, instrument, side: 'sell', quantity, price, triggerBy: 'last' });

/** Written down first. Some brokers know of a position only seconds after its fill: they are asked again. */
async function send(
  desk: Desk,
  stop: StopOrder,
  sending: (signal: AbortSignal) => Promise<StopOutcome>,
): Promise<Sent> {
  const { clientOrderId, instrument, side, quantity, price } = stop;
  const entry: Sent = {
    ...{ kind: 'stop', clientOrderId, brokerRef: null, symbol: instrument.symbol, side, quantity, price },
    ...{ fate: 'unsure', filled: ZERO, sentAt: timestamp(desk.now()) },
  };
  desk.note(entry);
  const until = desk.now() + desk.patience.orderMs;
  let outcome: StopOutcome | null = null;
  do {
    try {
      outcome = await desk.ask(sending);
    } catch (fault) {
      if (!(fault instanceof BrokerBusy)) throw fault;
      await desk.wait(fault.retryAfterMs);
    }
    if (outcome?.outcome === 'rejected' && outcome.why !== 'no_position') break;
    if (outcome?.outcome === 'accepted' || outcome?.outcome === 'unknown') break;
    await desk.wait(desk.patience.lookMs);
  } while (desk.now() < until);
  if (outcome?.outcome === 'accepted') {
    if (outcome.clientOrderId !== clientOrderId) desk.note({ ...entry, fate: 'ended' });
    return desk.note({
      ...entry,
      clientOrderId: outcome.clientOrderId,
      brokerRef: outcome.brokerRef,
      fate: 'open',
    });
  }
  if (outcome?.outcome !== 'unknown') desk.note({ ...entry, fate: 'refused' });
  throw new Surprise(
    outcome === null
      ? 'the broker was busy all the time'
      : outcome.outcome === 'rejected'
        ? `refused (${outcome.why}): ${outcome.words}`
        : `no answer that could be read: ${outcome.reason}`,
  );
}

/** When it was so. */
async function seenAt(
  desk: Desk,
  stops: Stops,
  instrument: Instrument,
  price: Decimal,
  isThere: boolean,
): Promise<number> {
  const found = await desk.until(
    (signal) => stops.standing(instrument, signal),
    (rows) => rows.some((row) => compare(row.price, price) === 0) === isThere,
    desk.patience.orderMs,
  );
  if (!found)
    throw new Surprise(
      `${isThere ? `no stop stands at ${price}` : `a stop still stands at ${price}`} after ${tookOf(desk.patience.orderMs)}`,
    );
  return desk.now();
}
