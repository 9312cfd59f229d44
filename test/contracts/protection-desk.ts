// What the cases of stops and limits work with: an account with its prices, and what a worker would know of a stop.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import Big from 'big.js';
import type {
  BrokerOrder,
  StandingStop,
  StopOrder,
  StopOutcome,
  StopState,
  Stops,
} from '../../src/broker/broker.ts';
import { type Decimal, decimal, ZERO } from '../../src/domain/decimal.ts';
import type { Side } from '../../src/domain/orders/order.ts';
import { sentOf } from '../broker/patient.ts';
import { acceptedState, type BrokerHarness, type Desk, newId } from './broker.ts';
import type { ProtectionHooks } from './protection-hooks.ts';

/** A case's account, and its stops. */
export interface Trading extends Desk {
  /** A price that far away, in percent, from the one at the beginning. */
  at(percent: number): Decimal;
  setPrice(percent: number): Promise<void>;
  stop(side: Side, percent: number, more?: Partial<StopOrder>): StopOrder;
  /** Takes it, and sees it standing. */
  protect(stop: StopOrder): Promise<StopOrder>;
  standing(): Promise<readonly StandingStop[]>;
}

export interface Needs {
  /** Hooks without which the case says nothing. */
  readonly hooks?: readonly Exclude<keyof ProtectionHooks, 'takesIdleStops' | 'watchesOnePrice'>[];
  readonly faults?: readonly (keyof BrokerHarness['faults'])[];
  /** false: it is about orders alone. */
  readonly stops?: boolean;
  /** It is one for a broker that lets no order rest, too. */
  readonly evenAtMarketOnly?: boolean;
  /** Why it is no case for that broker; undefined: it is one. */
  unless?(desk: Desk): string | undefined;
}

export type Rule = (
  sentence: string,
  needs: Needs,
  body: (trading: Trading, t: TestContext) => Promise<void>,
) => void;

export const reserving = ({ broker }: Desk): string | undefined =>
  broker.capabilities.reserves
    ? 'what is protected is kept for its stop, and cannot be closed beside it'
    : undefined;
export const notMoving = ({ broker }: Desk): string | undefined =>
  broker.capabilities.moves === 'amend' ? undefined : `a stop there moves by "${broker.capabilities.moves}"`;
export const notReserving = ({ broker }: Desk): string | undefined =>
  broker.capabilities.reserves ? undefined : 'the broker keeps nothing for what rests';

export function reasonToSkip(
  desk: Desk,
  { hooks = [], faults = [], stops = true, evenAtMarketOnly = false, unless }: Needs,
): string | undefined {
  const { harness, broker, connection } = desk;
  if (!harness.protection) return 'the harness knows nothing of stops';
  if (stops && !connection.stops)
    return `the broker keeps no stops: its capabilities say "${broker.capabilities.stop}"`;
  if (!stops && !evenAtMarketOnly && broker.capabilities.timeInForce.length === 0)
    return 'the broker lets no order rest';
  const missing = hooks.find((hook) => harness.protection?.[hook] === undefined);
  if (missing) return `the harness has no ${missing}`;
  const unable = faults.find((fault) => harness.faults[fault] === undefined);
  if (unable) return `the harness has no ${unable}`;
  return unless?.(desk);
}

export async function trading(desk: Desk): Promise<Trading> {
  const { broker, harness, instrument } = desk;
  const { bid } = await broker.quote(instrument);
  const at = (percent: number): Decimal => {
    const ticks = new Big(bid).times(1 + percent / 100).div(instrument.tickSize);
    return decimal(new Big(ticks.toFixed(0)).times(instrument.tickSize));
  };
  const setPrice = async (percent: number) => harness.protection?.setPrice?.(at(percent));
  await setPrice(0);
  const standing = () => broker.stops.standing(instrument);
  return {
    ...desk,
    at,
    setPrice,
    standing,
    stop: (side, percent, more = {}) => ({
      clientOrderId: newId(),
      instrument,
      side,
      quantity: harness.quantity,
      price: at(percent),
      triggerBy: 'last',
      ...more,
    }),
    async protect(stop) {
      taken(await broker.stops.place(stop));
      await until(standing, (shown) => shown.some(({ price }) => price === stop.price));
      return stop;
    },
  };
}

/** By every way that the broker has for it: the stop at its first price is gone then, and the other one stands. */
export async function moved({ broker, standing }: Trading, first: StopOrder, next: StopOrder): Promise<void> {
  const { moves } = broker.capabilities;
  if (moves === 'amend') {
    const { clientOrderId } = taken(await broker.stops.move(first, next));
    assert.ok([first.clientOrderId, next.clientOrderId].includes(clientOrderId));
    return;
  }
  const [before] = await standing();
  taken(await broker.stops.place(next));
  if (moves === 'set') return;
  // New before old: for a moment both stand.
  const both = (await standing()).map(({ price }) => price).toSorted();
  assert.deepEqual(both, [first.price, next.price].toSorted());
  await broker.stops.remove(first, { brokerRef: before?.brokerRef ?? null });
}

/** What the worker would know of it. */
export async function refOf(
  { standing }: Trading,
  { price }: StopOrder,
): Promise<{ readonly brokerRef: string | null }> {
  const shown = (await standing()).find((stop) => stop.price === price);
  return { brokerRef: shown?.brokerRef ?? null };
}

export async function removeAll(
  { broker }: Trading,
  shown: readonly StandingStop[],
  like: StopOrder,
): Promise<void> {
  for (const { clientOrderId, brokerRef, price } of shown)
    await broker.stops.remove(
      { ...like, clientOrderId: clientOrderId ?? like.clientOrderId, price },
      { brokerRef },
    );
}

/** Neither standing nor triggered, if the broker knows it at all. */
export async function isOver(
  { broker }: Trading,
  stop: StopOrder,
  ref: { readonly brokerRef: string | null },
): Promise<void> {
  const found = await broker.stops.find(stop, ref);
  if (found) assert.deepEqual([found.status, found.order], ['ended', null]);
}

/** Some brokers fill what a stop became a moment later. */
export const ends = async (
  { broker }: Trading,
  stop: StopOrder,
  ref: { readonly brokerRef: string | null },
): Promise<StopState> => {
  const isEnded = ({ order }: StopState) =>
    order !== null && order.status !== 'placed' && order.status !== 'partially_filled';
  const state = await until(
    () => broker.stops.find(stop, ref),
    (found) => found !== null && isEnded(found),
  );
  return state ?? assert.fail();
};

/** A sell that only reduces, above the price, and rests. */
export async function restingTarget(
  desk: Trading,
  percent: number,
  times = 1,
  more: Partial<BrokerOrder> = {},
) {
  const { reduceOnly } = desk.broker.capabilities;
  const order = desk.order('sell', times, { limit: desk.at(percent), reduceOnly, ...more });
  const placed = acceptedState(await desk.broker.place(order));
  assert.deepEqual([placed.status, placed.fillQuantity], ['placed', ZERO]);
  const open = await desk.broker.openOrders();
  assert.deepEqual(
    open.map(({ brokerRef, side, quantity }) => [
      placed.brokerRef === null || brokerRef === placed.brokerRef,
      side,
      quantity,
    ]),
    [[true, 'sell', order.quantity]],
  );
  return { order, brokerRef: placed.brokerRef ?? open[0]?.brokerRef ?? null };
}

export function everyCall({ connection, instrument, stop }: Trading, placed: StopOrder) {
  const { stops } = connection;
  assert.ok(stops);
  const sent = sentOf(placed);
  const calls: ((stops: Stops, signal: AbortSignal) => Promise<unknown>)[] = [
    (on, signal) => on.place(stop('sell', -4), signal),
    ...(stops.move
      ? [(on: Stops, signal: AbortSignal) => on.move?.(sent, stop('sell', -4), signal) ?? assert.fail()]
      : []),
    (on, signal) => on.standing(instrument, signal),
    (on, signal) => on.find(sent, signal),
    // Last: it may get through.
    (on, signal) => on.remove(sent, signal),
  ];
  return calls.map((call) => (signal: AbortSignal) => call(stops, signal));
}

export const isOutcome = (answer: unknown): answer is StopOutcome =>
  typeof answer === 'object' && answer !== null && 'outcome' in answer;

export function taken(outcome: StopOutcome) {
  assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
  return outcome;
}

export function refused(outcome: StopOutcome) {
  assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
  return outcome;
}

export async function until<Value>(
  ask: () => Promise<Value>,
  isSo: (value: Value) => boolean,
): Promise<Value> {
  for (const begun = Date.now(); ; ) {
    const value = await ask();
    if (isSo(value)) return value;
    assert.ok(Date.now() - begun < 60_000, `it does not happen: ${JSON.stringify(value)}`);
  }
}
