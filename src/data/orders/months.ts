// opened_months: under a symbol that rolls, in which months something was opened. An exit of that symbol is of all of them.

import type { AccountId, Timestamp } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { canonicalSymbol, rolls } from '../../domain/signals/symbol.ts';
import { type Db, type Statement, sql } from '../engine/db.ts';

type Under = Pick<Order, 'accountId' | 'simulation' | 'brokerName' | 'symbol'>;

/** The broker's names of the months, the oldest first. Of a symbol that does not roll there are none, and nobody is asked. */
export async function monthsUnder(
  db: Db,
  { accountId, simulation, brokerName, symbol }: Under,
): Promise<string[]> {
  if (!rolls(symbol)) return [];
  const rows = await db.all<{ symbol: string; instrument: string }>(
    sql`select symbol, instrument from opened_months
        where trading_account_id = ${accountId} and simulation = ${simulation} order by opened_at, instrument`,
  );
  const meant = canonicalSymbol(brokerName, symbol);
  const months = rows.filter((row) => canonicalSymbol(brokerName, row.symbol) === meant);
  return [...new Set(months.map(({ instrument }) => instrument))];
}

/** With the entry that is about to be sent. */
export const noteMonth = (
  { accountId, simulation, symbol }: Under,
  instrument: string,
  at: Timestamp,
): Statement =>
  sql`insert into opened_months (trading_account_id, simulation, symbol, instrument, opened_at)
      values (${accountId}, ${simulation}, ${symbol}, ${instrument}, ${at})
      on conflict (trading_account_id, simulation, symbol, instrument) do nothing`;

/** Nothing is held there any more: what is opened in it from now on, by its own name, is another's. */
export const forgetMonth = (account: AccountId, simulation: boolean, instrument: string): Statement =>
  sql`delete from opened_months where trading_account_id = ${account} and simulation = ${simulation}
        and instrument = ${instrument}`;
