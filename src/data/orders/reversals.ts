// Reversals that did not come to their end, for the overview: those that failed, and those that closed and did not open. A few
// statements, each by an index, however long the history is.

import type { BrokerName } from '../../domain/brokers.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { OrderStatus } from '../../domain/orders/order.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { join, type Reads, sql } from '../engine/db.ts';
import { afterOthers } from '../engine/steps.ts';
import { symbolsOf } from './spellings.ts';

export interface Reversal {
  readonly orderId: OrderId;
  /**
   * When the order was submitted that ended it, of those that are looked through; null: none has. One that got half way holds
   * nothing and has nothing open: whatever the account orders next in the symbol is a new beginning. Of another one nobody knows
   * what is held: only an order that came to a good end is.
   */
  readonly followedAt: Timestamp | null;
}

/** Orders of a user that failed for whatever reason, of which reversals are some. */
const FAILED_LOOKED_THROUGH = 2_000;
/** The newest orders in a symbol, of all accounts and modes, among which the one that ended it is looked for. */
const LOOKED_THROUGH = 500;
/** Of one symbol. */
const MOST_SPELLINGS = 20;

interface InSymbol {
  readonly order_id: OrderId;
  readonly trading_account_id: AccountId;
  readonly submitted_at: Timestamp;
}

interface ReversalRow extends InSymbol {
  readonly symbol: string;
  readonly broker_name: BrokerName;
  readonly half_done: number | boolean;
}

interface Follower extends InSymbol {
  readonly status: OrderStatus;
}

/** Real ones since then, the newest first. */
export async function failedReversals(
  db: Reads,
  user: UserId,
  { since, limit }: { readonly since: Timestamp; readonly limit: number },
): Promise<Reversal[]> {
  // `true` stands in the text: with a value SQLite does not take the index of what is half done.
  const halfDone = await db.all<ReversalRow>(
    sql`select order_id, trading_account_id, symbol, broker_name, submitted_at, half_done from order_history
        where user_id = ${user} and half_done = true and submitted_at >= ${since} and simulation = ${false}
        order by submitted_at desc, order_id desc limit ${limit}`,
  );
  const failed = await db.all<ReversalRow>(
    sql`select order_id, trading_account_id, symbol, broker_name, submitted_at, half_done from (select * from order_history
          where user_id = ${user} and status = 'failed' and submitted_at >= ${since}
          order by submitted_at desc, order_id desc limit ${FAILED_LOOKED_THROUGH}) as failed
        where auto_exit = ${true} and simulation = ${false} and half_done = ${false}
        order by submitted_at desc, order_id desc limit ${limit}`,
  );
  const found = [...halfDone, ...failed].sort(newestFirst).slice(0, limit);
  if (found.length === 0) return [];
  const spelled = await symbolsOf(db, user);
  const followers = new Map<string, readonly Follower[]>();
  // Once for each symbol, and others have their turn in between.
  for (const [key, reversals] of Map.groupBy(found, inOneBook)) {
    const [{ broker_name: broker, symbol }] = reversals as [ReversalRow];
    const canonical = canonicalSymbol(broker, symbol);
    const spellings = spelled.filter((each) => canonicalSymbol(broker, each) === canonical);
    const after = reversals.at(-1)?.submitted_at ?? since;
    const asked = spellings.slice(0, MOST_SPELLINGS);
    followers.set(key, await afterOthers(() => ordersAfter(db, user, asked, after)));
  }
  return found.map((row) => ({
    orderId: row.order_id,
    followedAt: followers.get(inOneBook(row))?.find((each) => endsIt(each, row))?.submitted_at ?? null,
  }));
}

const newestFirst = (a: InSymbol, b: InSymbol): number =>
  b.submitted_at.localeCompare(a.submitted_at) || b.order_id.localeCompare(a.order_id);

/** What a spelling means, the broker decides. */
const inOneBook = ({ broker_name, symbol }: ReversalRow): string =>
  `${broker_name} ${canonicalSymbol(broker_name, symbol)}`;

const endsIt = (later: Follower, reversal: ReversalRow): boolean =>
  later.trading_account_id === reversal.trading_account_id &&
  newestFirst(later, reversal) < 0 &&
  (Boolean(reversal.half_done) || later.status === 'filled' || later.status === 'done');

/** Real ones, the oldest first. */
async function ordersAfter(
  db: Reads,
  user: UserId,
  spellings: readonly string[],
  after: Timestamp,
): Promise<Follower[]> {
  if (spellings.length === 0) return [];
  const each = spellings.map(
    (symbol) =>
      sql`select order_id, trading_account_id, submitted_at, status from (select * from order_history
            where user_id = ${user} and symbol = ${symbol} and submitted_at >= ${after}
            order by submitted_at desc, order_id desc limit ${LOOKED_THROUGH}) as newest
          where simulation = ${false}`,
  );
  return (await db.all<Follower>(join(each, ' union all '))).sort((a, b) => newestFirst(b, a));
}
