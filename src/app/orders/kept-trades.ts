// Round trips, counted once. They can only be counted from the first order on; what was counted is kept in memory, and who asks
// next has only what came since read and counted. Every change of an order sets its next version: what is kept holds for as long
// as each of its orders still stands there with the version that it was counted with, and all of them are compared each
// time. Nearly all that changes is among the last orders: those are counted anew each time, and not kept. Where counting takes too
// long, the next who asks goes on from where it stood.

import type { Reads } from '../../data/engine/db.ts';
import { giveWay } from '../../data/engine/give-way.ts';
import { alertIdsOf } from '../../data/orders/alert-ids.ts';
import {
  type Allowance,
  type HistoryOrder,
  newAllowance,
  ordersFromTheFirst,
  type Place,
  versionsUpTo,
} from '../../data/orders/history.ts';
import type { AccountId, OrderId, UserId } from '../../domain/ids.ts';
import type { ClosedTrade } from '../../domain/money/trade-figures.ts';
import { type ForeignFee, openTrades, type RoundTrip, type TradesSoFar } from '../../domain/money/trades.ts';

/** Of one account in one mode: each has books of its own. */
export interface Whose {
  readonly user: UserId;
  readonly accountId: AccountId;
  readonly simulation: boolean;
}

interface CountedTrades {
  /** As they were closed. */
  readonly closed: readonly ClosedTrade[];
  readonly open: readonly RoundTrip[];
  readonly foreign: readonly ForeignFee[];
}

export interface KeptTrades {
  read(lists: Reads, whose: Whose, allowance?: Allowance): Promise<CountedTrades>;
}

interface Kept extends Omit<CountedTrades, 'open'> {
  /** In the order of submission, each with its version. */
  readonly orders: readonly string[];
  /** Of the last of them. */
  readonly place: Place | null;
  readonly soFar: TradesSoFar | undefined;
}

const NOTHING: Kept = { orders: [], place: null, soFar: undefined, closed: [], foreign: [] };

/** Orders that are counted anew each time. */
const LAST = 200;
/** Of all accounts together: 100 MB at the most. Beyond it go those that nobody has asked for the longest. */
const MOST_ORDERS = 100_000;

export function keepTrades({ last = LAST, most = MOST_ORDERS } = {}): KeptTrades {
  /** The one that was asked for last comes last. */
  const kept = new Map<string, Kept>();

  function keep(key: string, counted: Kept): void {
    kept.delete(key);
    // What alone is more than all may be would only take the others' place.
    if (counted.orders.length === 0 || counted.orders.length > most) return;
    kept.set(key, counted);
    let orders = 0;
    for (const each of kept.values()) orders += each.orders.length;
    for (const [oldest, each] of kept) {
      if (orders <= most) return;
      kept.delete(oldest);
      orders -= each.orders.length;
    }
  }

  return {
    async read(lists, whose, allowance = newAllowance()) {
      const key = `${whose.user} ${whose.accountId} ${whose.simulation}`;
      const known = kept.get(key);
      const begun = known && (await stillHolds(lists, whose, known, allowance)) ? known : NOTHING;
      const older = openCount(lists, begun);
      const newest: HistoryOrder[] = [];
      try {
        const wanted = { ...whose, after: begun.place, allowance };
        for await (const orders of ordersFromTheFirst(lists, whose.user, wanted)) {
          newest.push(...orders);
          await older.take(newest.splice(0, Math.max(0, newest.length - last)));
        }
      } finally {
        if (older.isWhole()) keep(key, older.read());
      }
      const all = openCount(lists, older.read());
      await all.take(newest);
      return all.close();
    },
  };
}

async function stillHolds(
  lists: Reads,
  whose: Whose,
  { orders, place }: Kept,
  allowance: Allowance,
): Promise<boolean> {
  let compared = 0;
  for await (const versions of versionsUpTo(lists, whose, place, allowance))
    for (const version of versions) if (version !== orders[compared++]) return false;
  return compared === orders.length;
}

/** Goes on from there, and leaves it as it is. */
function openCount(lists: Reads, begun: Kept) {
  const orders = [...begun.orders];
  const closed = [...begun.closed];
  const foreign = [...begun.foreign];
  let { place } = begun;
  const ended: (RoundTrip & Pick<ClosedTrade, 'closedAt'>)[] = [];
  const trades = openTrades(
    {
      onClosed: (trade) => ended.push(trade),
      onReopened(id) {
        for (const told of [ended, closed]) {
          const at = told.findLastIndex((trade) => trade.id === id);
          if (at >= 0) told.splice(at, 1);
        }
      },
      onForeign: (fee) => foreign.push(fee),
    },
    begun.soFar,
  );
  async function learnStrategies(): Promise<void> {
    closed.push(...(await withStrategies(lists, ended)));
    ended.length = 0;
  }
  return {
    async take(some: readonly HistoryOrder[]): Promise<void> {
      for (const order of some) {
        trades.take(order);
        orders.push(order.stands);
        place = order;
        giveWay();
      }
      await learnStrategies();
    },
    /** Else it was broken off, and not all that was taken is in it. */
    isWhole: (): boolean => ended.length === 0,
    read: (): Kept => ({ orders, place, soFar: trades.soFar(), closed, foreign }),
    async close(): Promise<CountedTrades> {
      const open = trades.close();
      await learnStrategies();
      return { closed, open, foreign };
    },
  };
}

export async function withStrategies<Trade extends RoundTrip>(
  lists: Reads,
  trades: readonly Trade[],
): Promise<(Trade & Pick<ClosedTrade, 'strategy'>)[]> {
  const ids = await alertIdsOf(lists, trades.map(openerOf));
  return trades.map((trade) => ({ ...trade, strategy: ids.get(openerOf(trade)) ?? null }));
}

const openerOf = ({ openedBy: [first] }: RoundTrip): OrderId => first as OrderId;
