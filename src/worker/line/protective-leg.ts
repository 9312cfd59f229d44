// A leg that protects, in the words of the port: what is sent, what is asked for, and what the answer means.

import type {
  BrokerOrder,
  Instrument,
  SentStop,
  StopOrder,
  StopState,
  TriggerBy,
} from '../../broker/broker.ts';
import { ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import { hasEnded, type Side } from '../../domain/orders/order.ts';
import {
  closingSide,
  isLegOf,
  type Protection,
  type ProtectiveLeg,
} from '../../domain/protection/protection.ts';
import type { FoundThere } from '../../domain/protection/resume.ts';
import type { Fate, LegFill, ShownStop } from '../../domain/protection/step.ts';
import type { Line } from './line.ts';

/** Where a leg stands. */
export interface Place {
  readonly instrument: Instrument;
  /** Of what closes. */
  readonly side: Side;
  readonly triggerBy: TriggerBy;
  /** Orders that legs of the account became and that were written down since, by the broker's names. */
  recorded(since: Timestamp): Promise<readonly string[]>;
}

export const stopOrder = (
  { clientOrderId, quantity, stop }: ProtectiveLeg,
  { instrument, side, triggerBy }: Place,
): StopOrder => ({ clientOrderId, instrument, side, quantity, price: stop ?? ZERO, triggerBy });

export const targetOrder = (
  { clientOrderId, quantity, limit, stop }: ProtectiveLeg,
  { instrument, side }: Place,
): Omit<BrokerOrder, 'reduceOnly' | 'sendBefore'> => ({
  ...{ clientOrderId, instrument, side, quantity },
  ...(limit !== null && { limit }),
  ...(stop !== null && { stop }),
});

export const sentStop = (
  { clientOrderId, brokerRef, quantity, stop, limit, sentAt, replacedAt }: ProtectiveLeg,
  { instrument, side }: Place,
): SentStop => ({
  ...{ clientOrderId, brokerRef, symbol: instrument.symbol, side, quantity, sentAt, replacedAt },
  price: stop ?? limit ?? ZERO,
});

/** One of ours of which no record tells when it was sent. */
export const strayedStop = (
  { clientOrderId, brokerRef, price, quantity }: ShownStop,
  { instrument, side }: Place,
): SentStop => ({
  ...{ clientOrderId: clientOrderId as ClientOrderId, brokerRef, symbol: instrument.symbol, side, price },
  quantity: quantity ?? ZERO,
  sentAt: timestamp(0),
  replacedAt: null,
});

/**
 * As it counts for what is held. A target and the stop beside it have one id, and are two fills; a stop and the one that was set in its
 * place may be said to have become the same order, which is one.
 */
export const tradedBy = (
  { clientOrderId }: ProtectiveLeg,
  by: LegFill['by'],
  { brokerRef, fillQuantity }: BrokerOrderState,
  { instrument, side }: Place,
) => ({
  clientOrderId: (by === 'stop' ? `${brokerRef ?? clientOrderId} stop` : clientOrderId) as ClientOrderId,
  instrument: instrument.symbol,
  ...{ side, fillQuantity },
});

const filled = (by: LegFill['by'], order: BrokerOrderState | null): LegFill[] =>
  order === null || order.fillQuantity === ZERO ? [] : [{ by, order }];

function stopFate(state: StopState | null): Fate | null {
  if (state === null) return null;
  const { brokerRef, status, order } = state;
  const isUnderWay = status === 'triggered' && (order === null || !hasEnded(order.status));
  return {
    brokerRef,
    isOrdered: order !== null,
    fills: (state.orders ?? [order]).flatMap((each) => filled('stop', each)),
    status: status === 'standing' ? status : isUnderWay ? 'triggered' : 'ended',
    hasDied: status === 'triggered' && !isUnderWay && order?.status !== 'filled',
    hasExpired: state.hasExpired ?? false,
  };
}

/** `beside`: the stop that was placed with it. What has ended beside one that nobody shows may have ended by that. */
function targetFate(
  order: BrokerOrderState | null,
  beside: StopState | null,
  { hasStop }: { readonly hasStop: boolean },
): Fate | null {
  const stop = stopFate(beside);
  const isOver = order !== null && hasEnded(order.status) && order.status !== 'filled';
  if (hasStop && stop === null && isOver) return null;
  // It gave way to its stop, which was hit and looks as before until it is filled.
  if (isOver && stop?.status === 'standing') return { ...stop, status: 'triggered', isOrdered: true };
  const hasTriggered =
    stop !== null && (stop.status === 'triggered' || stop.fills.length > 0 || stop.hasDied);
  if (order === null) return hasTriggered ? stop : null;
  return {
    brokerRef: order.brokerRef,
    isOrdered: true,
    fills: [...filled('target', order), ...(hasTriggered ? stop.fills : [])],
    status: hasTriggered ? stop.status : hasEnded(order.status) ? 'ended' : 'standing',
    hasDied: stop?.hasDied ?? false,
    hasExpired: stop?.hasExpired ?? false,
  };
}

/** What became of it, as the broker says. */
export async function fateOf(line: Line, leg: ProtectiveLeg, at: Place): Promise<Fate | null> {
  const sent = await toFind(line, leg, at);
  if (leg.limit === null) {
    // Where it was overwritten, the broker may know it by its former name.
    for (const clientOrderId of [leg.clientOrderId, ...leg.formerIds]) {
      const state = await line.stops?.find({ ...sent, clientOrderId });
      if (state) return stopFate(await unlessRecorded(line, state, leg, at));
    }
    return null;
  }
  const order = await line.find(sent);
  // Where a stop stands beside it, either may have come first.
  const beside = leg.stop === null ? null : ((await line.stops?.find(sent)) ?? null);
  return targetFate(order, beside, { hasStop: leg.stop !== null });
}

/** What filled the stop in whose place this one was to stand may be told of both: it is written down once. */
async function unlessRecorded(
  { stops }: Line,
  state: StopState,
  { sentAt }: ProtectiveLeg,
  at: Place,
): Promise<StopState> {
  const ref = state.order?.brokerRef ?? null;
  if (stops?.names || ref === null || ref === state.brokerRef) return state;
  const isRecorded = (await at.recorded(sentAt)).includes(ref);
  return isRecorded ? { ...state, status: 'ended', order: null } : state;
}

/** A broker without our ids may tell of one order for a stop and for the one that was set in its place: it is told once. */
async function toFind(line: Line, leg: ProtectiveLeg, at: Place): Promise<SentStop> {
  const sent = sentStop(leg, at);
  return line.stops?.names ? { ...sent, recorded: await at.recorded(leg.sentAt) } : sent;
}

/** One that was never seen has no name there yet: it is looked for again. */
export async function removeLeg(line: Line, leg: ProtectiveLeg, at: Place): Promise<void> {
  const { clientOrderId, brokerRef, limit } = leg;
  if (limit === null) await line.stops?.remove(sentStop(leg, at));
  else if (brokerRef !== null) await line.cancel({ clientOrderId, brokerRef, symbol: at.instrument.symbol });
}

/** Targets of a protection that rest at the broker, by their ids. */
export async function targetsAt(
  line: Line,
  protection: Protection,
  instrument: Instrument,
): Promise<FoundThere['targets']> {
  const side = closingSide(protection);
  return (await line.openOrders()).flatMap((order) => {
    const { symbol, clientOrderId, brokerRef, quantity } = order;
    const isIts = clientOrderId !== null && isLegOf(protection, clientOrderId);
    return isIts && symbol === instrument.symbol && order.side === side
      ? [{ clientOrderId, brokerRef, quantity }]
      : [];
  });
}

/** All that stands there for it, whoever remembers it. */
export async function foundThere(
  line: Line,
  protection: Protection,
  instrument: Instrument,
  now: number,
): Promise<FoundThere> {
  const side = closingSide(protection);
  const stops = (await line.stops?.standing(instrument)) ?? [];
  return {
    stops: stops.filter((stop) => stop.side === side),
    targets: await targetsAt(line, protection, instrument),
    names: line.stops?.names ?? 'ours',
    at: timestamp(now),
  };
}
