// Before the kill switch closes what is held, what could still be filled is taken back: an entry of ours that rests at the
// broker would open a position on the halted account. On the account's own lane, so that no order is between its steps.

import { BrokerBusy, BrokerUnavailable, type OpenOrder, type Position } from '../../broker/broker.ts';
import { compare, ZERO } from '../../domain/decimal.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { isOpenLeg, isOurEntry, type Leg, type Order } from '../../domain/orders/order.ts';
import type { Connections } from '../line/connections.ts';
import { queryOf } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import type { WorkerOrders } from '../orders.ts';
import type { Unavailable } from './enquiries.ts';
import type { Trades } from './trades.ts';

export interface Cleared {
  readonly positions: readonly Position[];
  /** Entries that were sent and have not ended as far as the broker says, or that it does not know. */
  readonly open: readonly { readonly orderId: string; readonly symbol: string }[];
}

export interface ClearDeps {
  readonly connections: Connections;
  readonly orders: Pick<WorkerOrders, 'unsettled' | 'findAccount'>;
  /** Of the account. */
  readonly trades: Pick<Trades, 'seen' | 'recent'>;
  wait(ms: number): Promise<void>;
}

const LOOK_AGAIN_MS = [0, 50, 100, 200, 400, 800];
/** So long a busy broker is waited for, all in all; who pressed the switch waits for the answer. */
const PATIENCE_MS = 10_000;
const SHORTEST_WAIT_MS = 50;

export async function clearEntries(
  { connections, orders, trades, wait }: ClearDeps,
  user: UserId,
  accountId: AccountId,
): Promise<Cleared | Unavailable> {
  const account = await orders.findAccount(accountId);
  // Whoever asked for it may have waited for long, and have trusted the account again since.
  if (!account?.halted) return { unavailable: 'the account is not halted any more' };
  const { orders: unsettled } = await orders.unsettled(user, accountId);
  const entries = unsettled.filter((order) => !order.simulation).flatMap(openEntries);
  const patiently = patience(wait);
  const clear = () =>
    connections.use({ accountId, simulation: false }, async (busy) => {
      const line = withPatience(busy, patiently);
      const left = await cancelEntries(line, entries);
      let open = entries;
      for (const ms of LOOK_AGAIN_MS) {
        if (open.length === 0) break;
        await wait(ms);
        open = await stillOpen(line, open, trades);
      }
      const known = new Set(entries.map(({ leg }) => leg.clientOrderId));
      return {
        positions: await heldBy(line, trades, wait),
        open: [
          ...open.map(({ order }) => ({ orderId: order.id, symbol: order.symbol })),
          ...left
            .filter(({ clientOrderId }) => clientOrderId !== null && !known.has(clientOrderId))
            .map(({ brokerRef, symbol }) => ({ orderId: brokerRef, symbol })),
        ],
      };
    });
  try {
    return await patiently(clear);
  } catch (fault) {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    return { unavailable: fault.message };
  }
}

type Asks = Pick<Line, 'openOrders' | 'cancel' | 'find' | 'positions'>;
type Patiently = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

/** The switch is pressed when much is going on: a broker that is busy for a moment is waited for, as an order waits for it. */
function patience(wait: ClearDeps['wait']): Patiently {
  let leftMs = PATIENCE_MS;
  /** Those that are turned away at once wait together. */
  let waiting: Promise<void> | null = null;
  return async (ask) => {
    for (;;)
      try {
        return await ask();
      } catch (fault) {
        if (!(fault instanceof BrokerBusy)) throw fault;
        if (waiting === null) {
          const ms = Math.max(fault.retryAfterMs, SHORTEST_WAIT_MS);
          if (ms > leftMs) throw fault;
          leftMs -= ms;
          waiting = wait(ms).finally(() => {
            waiting = null;
          });
        }
        await waiting;
      }
  };
}

const withPatience = (line: Line, patiently: Patiently): Asks => ({
  openOrders: () => patiently(() => line.openOrders()),
  cancel: (order) => patiently(() => line.cancel(order)),
  find: (query) => patiently(() => line.find(query)),
  positions: () => patiently(() => line.positions()),
});

/**
 * Positions may lag behind a fill of a moment ago, and what it has opened would be left open. After a while the broker is
 * believed.
 */
async function heldBy(
  line: Asks,
  trades: Pick<Trades, 'recent'>,
  wait: ClearDeps['wait'],
): Promise<readonly Position[]> {
  let positions: readonly Position[] = [];
  for (const ms of LOOK_AGAIN_MS) {
    await wait(ms);
    positions = await line.positions();
    const held = new Map(positions.map(({ symbol, quantity }) => [symbol, quantity]));
    if (trades.recent().every(([symbol, quantity]) => compare(held.get(symbol) ?? ZERO, quantity) === 0))
      break;
  }
  return positions;
}

/** Returns those that could not be taken back: one of them must not keep the rest, nor the positions, open. */
async function cancelEntries(line: Asks, entries: readonly OpenEntry[]): Promise<OpenOrder[]> {
  // Where the broker does not repeat our id, ours are known by its own.
  const isOurs = ({ clientOrderId, brokerRef, side }: OpenOrder) =>
    clientOrderId === null
      ? entries.some(({ leg }) => leg.brokerRef === brokerRef && leg.side === side)
      : isOurEntry(clientOrderId);
  const left: OpenOrder[] = [];
  for (const order of await line.openOrders())
    if (isOurs(order))
      await line.cancel(order).catch((fault: unknown) => {
        if (!(fault instanceof BrokerUnavailable)) throw fault;
        left.push(order);
      });
  return left;
}

interface OpenEntry {
  readonly order: Order;
  readonly leg: Leg;
}

const openEntries = (order: Order): OpenEntry[] =>
  order.legs.filter((leg) => leg.leg === 'entry' && isOpenLeg(leg)).map((leg) => ({ order, leg }));

/** One that the broker does not know may still be on its way. */
async function stillOpen(
  line: Asks,
  entries: readonly OpenEntry[],
  trades: Pick<Trades, 'seen'>,
): Promise<OpenEntry[]> {
  const looked = await Promise.all(
    entries.map(async (entry) => {
      const state = await line.find(queryOf(entry.leg, entry.order.symbol)).catch((fault: unknown) => {
        if (fault instanceof BrokerUnavailable) return null;
        throw fault;
      });
      if (state) trades.seen({ ...entry.leg, fillQuantity: state.fillQuantity });
      return { entry, isOpen: !state || state.status === 'placed' || state.status === 'partially_filled' };
    }),
  );
  return looked.filter(({ isOpen }) => isOpen).map(({ entry }) => entry);
}
