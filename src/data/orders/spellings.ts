// An instrument has several spellings (BINANCE:BTCUSDT.P, BTCUSDT.P, btcusdt.p), and rows keep the one that was sent. Who asks for one
// of them is given all: each by its index.

import type { BrokerName } from '../../domain/brokers.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { canonicalSymbol, readSymbol } from '../../domain/signals/symbol.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';

const MOST_SYMBOLS = 2_000;
/** Of one instrument. Nobody has as many who did not mean to. */
const MOST_SPELLINGS = 50;

/** From each symbol to the next by the index, past however many orders there are of it. */
export async function symbolsOf(
  db: Reads,
  user: UserId,
  of: 'orders' | 'signals' = 'orders',
): Promise<string[]> {
  const table = of === 'orders' ? sql`order_history` : sql`signals`;
  const rows = await db.all<{ symbol: string }>(
    join(
      [
        sql`with recursive seen (symbol) as (
              select min(symbol) from`,
        table,
        sql`where user_id = ${user}
            union all
            select (select min(o.symbol) from`,
        table,
        sql`o where o.user_id = ${user} and o.symbol > seen.symbol) from seen where seen.symbol is not null)
            select symbol from seen where symbol is not null limit ${MOST_SYMBOLS}`,
      ],
      ' ',
    ),
  );
  return rows.map(({ symbol }) => symbol);
}

/** Of an order's instrument, as its broker takes them for the same; its own first. */
export async function spellingsAt(
  db: Reads,
  { userId, brokerName, symbol }: Pick<Order, 'userId' | 'brokerName' | 'symbol'>,
): Promise<string[]> {
  const canonical = canonicalSymbol(brokerName, symbol);
  const isOther = (each: string) => each !== symbol && canonicalSymbol(brokerName, each) === canonical;
  return [symbol, ...(await symbolsOf(db, userId)).filter(isOther)].slice(0, MOST_SPELLINGS);
}

/** Conditions that no row fits two of. What is asked for is among them, whether anybody has seen it or not. */
export async function spelledLike(
  db: Reads,
  user: UserId,
  symbol: string,
  of: 'orders' | 'signals',
): Promise<Statement[]> {
  const accounts = await db.all<{ id: AccountId; broker_name: BrokerName }>(
    sql`select id, broker_name from trading_accounts where user_id = ${user}`,
  );
  const others = (await symbolsOf(db, user, of)).filter((each) => each !== symbol);
  const alike = others.flatMap((each) => {
    if (isSame(each, symbol)) return [sql`symbol = ${each}`];
    // What only some brokers take for the same is so on their accounts.
    const there = accounts.filter(
      ({ broker_name }) => canonicalSymbol(broker_name, each) === canonicalSymbol(broker_name, symbol),
    );
    if (there.length === 0) return [];
    const ids = there.map(({ id }) => sql`${id}`);
    return [join([sql`symbol = ${each} and trading_account_id in (`, join(ids, ', '), sql`)`], '')];
  });
  return [sql`symbol = ${symbol}`, ...alike.slice(0, MOST_SPELLINGS)];
}

/** At every broker: only the exchange in front differs, or the case. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [readSymbol(a), readSymbol(b)];
  const month = ({ market }: typeof one) => (market.kind === 'continuous' ? market.month : market.kind);
  return one.ticker === other.ticker && month(one) === month(other);
}

export const anyOf = (either: readonly Statement[]): Statement =>
  join([sql`(`, join(either, ' or '), sql`)`], '');
