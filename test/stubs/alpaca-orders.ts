// Alpaca's orders as its book has them, by its documents. A stop is an order of its own, and stays the same order when it
// triggers; a target with a stop beside it (OCO) is one with a leg, under an id that Alpaca makes up.
//
// What the documents leave open, and what is done here:
// - `legs` are told to `nested=true` alone, so not by the client's id, nor in the answer to a placing.
// - A leg that waits (“held”) is not among open orders by itself.
// - A replaced leg stays in `legs`; the one in its place does not come in.
// - A target whose stop was hit is “replaced” by it (seen by others with brackets).
// - A stop that has triggered and is not filled yet looks as it did before.

import { createHash } from 'node:crypto';
import {
  isResting,
  type Office,
  type SeenOrder,
  type SeenStop,
  UUIDS,
} from '../../chaos/exchange-dialect.ts';
import { absolute, type Decimal, subtract, ZERO } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'new',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'canceled',
  failed: 'rejected',
};

const STOP_STATES: Record<Exclude<SeenStop['status'], 'triggered' | 'standing'>, string> = {
  cancelled: 'canceled',
  expired: 'expired',
  rejected: 'rejected',
};

const ENDED = ['filled', 'canceled', 'expired', 'rejected', 'replaced'];

const iso = (ms: number) => new Date(ms).toISOString();
export const uuidOf = (text: string) =>
  UUIDS.tell(createHash('sha256').update(text).digest('hex').slice(0, 32));

/** An order at Alpaca, with what it is made of. */
export interface Entry {
  readonly id: string;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: Decimal;
  readonly status: string;
  readonly type: 'market' | 'limit' | 'stop' | 'stop_limit';
  readonly orderClass: '' | 'oco';
  readonly limit: Decimal | null;
  readonly stop: Decimal | null;
  /** It waits for its stop, or did, and could open. */
  readonly waits: boolean;
  readonly fillQuantity: Decimal;
  readonly fillPrice: Decimal | null;
  readonly acceptedAt: number;
  readonly updatedAt: number;
  readonly replaces: string | null;
  readonly replacedBy: string | null;
  /** The target beside which it stands. */
  readonly parent: string | null;
  /** By what the exchange behind knows it. */
  readonly ref: string;
}

/** One that was put in the place of another. */
export interface Version {
  readonly id: string;
  readonly clientOrderId: string;
  readonly price: Decimal;
  readonly quantity: Decimal | null;
  readonly at: number;
}

export const isOpenEntry = ({ status }: Entry): boolean => !ENDED.includes(status);
export const left = ({ quantity, fillQuantity }: Entry): Decimal => subtract(quantity, fillQuantity);

export function openBook(office: Office, isOpenAt: (account: AccountId) => boolean) {
  /** Of each stop that was moved, all that it was, by the exchange's reference: it keeps it. */
  const versions = new Map<string, Version[]>();

  /** `held`: what a stop is of that was set without a quantity. */
  function entriesOf(stop: SeenStop, parent: Entry | null, isOpen: boolean, held: Decimal): Entry[] {
    const { ref, clientOrderId, order } = stop;
    const first: Version = {
      id: ref,
      clientOrderId: parent ? uuidOf(`leg ${ref}`) : clientOrderId,
      price: stop.price,
      quantity: stop.quantity,
      at: stop.acceptedAt,
    };
    const all = versions.get(ref) ?? [first];
    const waiting = parent ? 'held' : isOpen ? 'new' : 'accepted';
    const now = stateOf(stop, waiting);
    return all.map((version, index) => {
      const next = all[index + 1];
      const became = next ? null : order;
      return {
        id: version.id,
        clientOrderId: version.clientOrderId,
        symbol: stop.symbol,
        side: stop.side,
        quantity: version.quantity ?? held,
        status: next ? 'replaced' : now,
        type: 'stop',
        orderClass: parent ? 'oco' : '',
        limit: null,
        stop: version.price,
        waits: false,
        fillQuantity: became?.fillQuantity ?? ZERO,
        fillPrice: became?.fillPrice ?? null,
        acceptedAt: version.at,
        updatedAt: next?.at ?? became?.updatedAt ?? stop.updatedAt,
        replaces: all[index - 1]?.id ?? null,
        replacedBy: next?.id ?? null,
        parent: parent?.id ?? null,
        ref,
      };
    });
  }

  function targetOf(order: SeenOrder, beside: SeenStop | undefined): Entry {
    const entry = entryOf(order);
    if (!beside) return entry;
    const wasHit = beside.status === 'triggered' && !isResting(order) && order.status !== 'filled';
    if (!wasHit) return { ...entry, orderClass: 'oco' };
    const replacedBy = versions.get(beside.ref)?.at(-1)?.id ?? beside.ref;
    return { ...entry, orderClass: 'oco', status: 'replaced', replacedBy };
  }

  return {
    /** Oldest first. */
    async entries(account: AccountId): Promise<readonly Entry[]> {
      const [orders, stops] = [await office.orders(account), await office.stops(account)];
      const positions = await office.positions(account);
      const isOpen = isOpenAt(account);
      const heldOf = (symbol: string) =>
        absolute(positions.find((position) => position.symbol === symbol)?.quantity ?? ZERO);
      // What a stop has become is the stop itself here.
      const became = new Set(stops.map(({ order }) => order?.ref));
      const targets = orders
        .filter(({ ref }) => !became.has(ref))
        .map((order) =>
          targetOf(
            order,
            order.limit === null
              ? undefined
              : stops.find(({ clientOrderId }) => clientOrderId === order.clientOrderId),
          ),
        );
      const legs = stops.flatMap((stop) =>
        entriesOf(
          stop,
          targets.find(
            ({ orderClass, clientOrderId }) => orderClass && clientOrderId === stop.clientOrderId,
          ) ?? null,
          isOpen,
          heldOf(stop.symbol),
        ),
      );
      return [...targets, ...legs].toSorted((a, b) => a.acceptedAt - b.acceptedAt);
    },

    /** The stop is so from now on: what it was is replaced. */
    move(
      before: Entry,
      to: { readonly clientOrderId: string | undefined; readonly price: Decimal; readonly quantity: Decimal },
    ): Version {
      const { ref, id, clientOrderId, stop, quantity, acceptedAt } = before;
      const known = versions.get(ref) ?? [
        { id, clientOrderId, price: stop ?? ZERO, quantity, at: acceptedAt },
      ];
      const own = uuidOf(`${ref} ${known.length}`);
      const version: Version = {
        ...to,
        id: own,
        clientOrderId: to.clientOrderId ?? uuidOf(`name of ${own}`),
        at: office.now(),
      };
      versions.set(ref, [...known, version]);
      return version;
    },
  };
}

export type Book = ReturnType<typeof openBook>;

/** What waits stays the same order when the price is there. */
const typeOf = ({ limit, waitedFor }: SeenOrder): Entry['type'] => {
  if (waitedFor !== null) return limit === null ? 'stop' : 'stop_limit';
  return limit === null ? 'market' : 'limit';
};

export const entryOf = (order: SeenOrder): Entry => ({
  id: order.ref,
  clientOrderId: order.clientOrderId,
  symbol: order.symbol,
  side: order.side,
  quantity: order.quantity,
  status: STATES[order.status],
  type: typeOf(order),
  orderClass: '',
  limit: order.limit,
  stop: order.waitedFor,
  waits: order.waitedFor !== null,
  fillQuantity: order.fillQuantity,
  fillPrice: order.fillPrice,
  acceptedAt: order.acceptedAt,
  updatedAt: order.updatedAt,
  replaces: null,
  replacedBy: null,
  parent: null,
  ref: order.ref,
});

/** Of one that is new, as its placing is answered: what comes of it is for later. */
export const pending = (entry: Entry): Entry => ({
  ...entry,
  status: 'pending_new',
  fillQuantity: ZERO,
  fillPrice: null,
});

/** A stop by itself, as it was asked for. */
export const newStop = ({
  ref,
  clientOrderId,
  symbol,
  side,
  quantity,
  price,
  acceptedAt,
}: SeenStop): Entry => ({
  id: ref,
  clientOrderId,
  symbol,
  side,
  quantity: quantity ?? ZERO,
  status: 'new',
  type: 'stop',
  orderClass: '',
  limit: null,
  stop: price,
  waits: false,
  fillQuantity: ZERO,
  fillPrice: null,
  acceptedAt,
  updatedAt: acceptedAt,
  replaces: null,
  replacedBy: null,
  parent: null,
  ref,
});

function stateOf({ status, order }: SeenStop, waiting: string): string {
  if (status === 'standing') return waiting;
  if (status !== 'triggered') return STOP_STATES[status];
  return order && order.status !== 'placed' ? STATES[order.status] : waiting;
}

/** `legs`: rolled up under it. */
export const tellEntry = (entry: Entry, legs: readonly Entry[] | null = null): object => ({
  id: entry.id,
  client_order_id: entry.clientOrderId,
  created_at: iso(entry.acceptedAt),
  updated_at: iso(entry.updatedAt),
  submitted_at: iso(entry.acceptedAt),
  filled_at: entry.status === 'filled' ? iso(entry.updatedAt) : null,
  expired_at: entry.status === 'expired' ? iso(entry.updatedAt) : null,
  canceled_at: entry.status === 'canceled' ? iso(entry.updatedAt) : null,
  failed_at: entry.status === 'rejected' ? iso(entry.updatedAt) : null,
  replaced_at: entry.replacedBy === null ? null : iso(entry.updatedAt),
  replaced_by: entry.replacedBy,
  replaces: entry.replaces,
  asset_id: uuidOf(entry.symbol),
  symbol: entry.symbol,
  asset_class: 'us_equity',
  notional: null,
  qty: entry.quantity,
  filled_qty: entry.fillQuantity,
  filled_avg_price: entry.fillPrice,
  order_class: entry.orderClass,
  order_type: entry.type,
  type: entry.type,
  side: entry.side,
  position_intent: intentOf(entry),
  time_in_force: entry.type === 'market' ? 'day' : 'gtc',
  limit_price: entry.limit,
  stop_price: entry.stop,
  status: entry.status,
  extended_hours: false,
  legs: legs && legs.length > 0 ? legs.map((leg) => tellEntry(leg)) : null,
  trail_percent: null,
  trail_price: null,
  hwm: null,
});

const intentOf = ({ type, side, waits }: Entry): string =>
  `${side}_to_${type === 'market' || waits ? 'open' : 'close'}`;
