// What an order would do, were it sent now: the worker's own driver on the broker's own answers, with the account's other orders, up
// to the moment in which something would be sent. Nothing is sent, saved or remembered.

import { UNCOUNTED } from '../../domain/counters.ts';
import { sign } from '../../domain/decimal.ts';
import type { Guards } from '../../domain/guards/guards.ts';
import { mainLeg, type Order } from '../../domain/orders/order.ts';
import { wouldWait } from '../../domain/orders/outcome.ts';
import { plannedPosition } from '../../domain/orders/position.ts';
import { openEntry } from '../../domain/orders/resting.ts';
import { keptQuantities } from '../../domain/protection/ability.ts';
import type { PlannedIn } from '../../domain/protection/foreseen.ts';
import type { Line } from '../line/line.ts';
import type { Unsettled } from '../orders.ts';
import { type Unavailable, unavailable } from './enquiries.ts';
import type { Execution } from './execution.ts';
import { onlyLooking, type Trades } from './trades.ts';
import { executionFor } from './work-off.ts';

export interface Draft {
  readonly draft: Order;
  readonly guards: Guards | null;
  /** What is held is asked for, rather than what would be sent: the answer waits until it is proven. */
  readonly isProof: boolean;
}

export interface Besides {
  readonly trades: Trades;
  unsettled(): Promise<Unsettled>;
  readonly signal: AbortSignal;
}

class WouldSend extends Error {
  readonly order: Order;
  constructor(order: Order) {
    super('it would be sent');
    this.order = order;
  }
}

/** For longer than who asks does; `fault`: for a broker that is away, or busy. */
class WouldWait extends Error {
  readonly fault: unknown;
  constructor(fault: unknown) {
    super('it would wait');
    this.fault = fault;
  }
}

const PLAN_PATIENCE_MS = 3_000;
const PROOF_PATIENCE_MS = 20_000;

/** Where the broker cannot be asked, that is the answer. */
export async function answerPlan(
  execution: Execution,
  draft: Draft,
  besides: () => Promise<Besides>,
): Promise<{ readonly planned: Order; readonly market?: PlannedIn | null } | Unavailable> {
  try {
    const planned = await planAhead(execution, draft, await besides());
    return planned.wish && !draft.isProof
      ? { planned, market: await marketOf(execution, planned) }
      : { planned };
  } catch (fault) {
    return unavailable(fault);
  }
}

/** By what its protection would be placed; null: the broker has no such symbol. */
function marketOf({ connections, wanted }: Execution, planned: Order): Promise<PlannedIn | null> {
  const { accountId, simulation, symbol, intent, priced } = planned;
  const price = priced && (priced.limit ?? priced.stop);
  return connections.use({ accountId, simulation }, async (line) => {
    const instrument = await line.resolve(symbol);
    if ('rejection' in instrument) return null;
    const isHeld = intent.operation === 'PROTECT_POSITION';
    const held = isHeld ? await line.positions() : [];
    const { bid, ask } = price ? { bid: price, ask: price } : await line.quote(instrument);
    const { tickSize: tick } = instrument;
    const { quantityStep: step, minQuantity: least } = keptQuantities(instrument, line.capabilities);
    const position = held.find((each) => each.symbol === instrument.symbol);
    const side = position && sign(position.quantity) < 0 ? 'short' : 'long';
    const all = position ? await wanted(planned, { instrument: instrument.symbol, side }) : null;
    const kept = all && { stop: all.stop, trail: all.trail };
    return { bid, ask, tick, step, least, averagePrice: position?.averagePrice ?? null, kept };
  });
}

/** The order as it would be sent, or as it would end. */
async function planAhead(
  execution: Execution,
  { draft, guards, isProof }: Draft,
  { trades, unsettled, signal }: Besides,
): Promise<Order> {
  let leftMs = isProof ? PROOF_PATIENCE_MS : PLAN_PATIENCE_MS;
  // What else is open decides what would be sent, and not what is held.
  const others = async () =>
    isProof ? [] : (await unsettled()).orders.filter(({ simulation }) => simulation === draft.simulation);
  const looking: Execution = {
    ...execution,
    counters: UNCOUNTED,
    connections: isProof ? withoutClamping(execution.connections) : execution.connections,
    save: async (order) => order,
    saveSeen: async (order) => order,
    record: null,
    endEntry: async (order) => withoutEntry(order),
    saveSending: (order) => Promise.reject(new WouldSend(order)),
    want: (order) => Promise.reject(new WouldSend(order)),
    // What protects the position stays where it is.
    protecting: { ...execution.protecting, free: async () => false },
    noteEquity() {},
    forgetMonth() {},
  };
  try {
    return await executionFor(draft)(looking, {
      ...{ order: draft, guards: null, revision: null, version: null },
      others: await others(),
      now: async () => ({ others: await others(), version: null }),
      trades: onlyLooking(trades),
      async rest(ms, fault) {
        leftMs -= ms;
        if (fault || leftMs < 0) throw new WouldWait(fault);
        await execution.rest(ms, signal);
      },
    });
  } catch (fault) {
    if (fault instanceof WouldSend) return judged(execution, fault.order, guards);
    if (!(fault instanceof WouldWait)) throw fault;
    if (fault.fault) throw fault.fault;
    return { ...draft, error: wouldWait(draft) };
  }
}

/** As if it had been taken back. */
const withoutEntry = (order: Order): Order => ({
  ...order,
  legs: order.legs.map((leg) => (leg === openEntry(order) ? { ...leg, status: 'cancelled' } : leg)),
});

/** Where a close is clamped to what is held it may be sent on a doubt; that is no proof of what is held. */
const withoutClamping = (connections: Execution['connections']): Execution['connections'] => ({
  ...connections,
  use: (target, task, options) =>
    connections.use(
      target,
      (line) => task({ ...line, capabilities: { ...line.capabilities, reduceOnly: false } }),
      options,
    ),
});

/** They are asked for in any case, also where a close comes first. */
async function judged(
  { connections, judge }: Execution,
  order: Order,
  guards: Guards | null,
): Promise<Order> {
  const entry = mainLeg(order);
  if (!guards || entry?.leg !== 'entry') return order;
  const { accountId, simulation, symbol } = order;
  const ask = async (line: Line) => {
    const instrument = await line.resolve(symbol);
    if ('rejection' in instrument) return [];
    return judge({ order, positionAfter: plannedPosition(order), guards, line, instrument });
  };
  return { ...order, guards: await connections.use({ accountId, simulation }, ask) };
}
