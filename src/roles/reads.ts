// What is read apart from what trades: each a function of the service over the database alone, with the columns of its
// CSV where it has one. A question names one of them; the answer is made whole here, whichever thread asks.

import { readAccounts } from '../app/accounts/accounts.ts';
import { readGroups } from '../app/accounts/groups.ts';
import { readAuditLog, readSecurityAttacks } from '../app/audit/security-events.ts';
import { readDeadLetters, readUsers } from '../app/operation/admin.ts';
import type { KeptTrades } from '../app/orders/kept-trades.ts';
import { readOrders } from '../app/orders/read-orders.ts';
import { type OverviewDeps, readOverview } from '../app/orders/read-overview.ts';
import { readPerformance } from '../app/orders/read-performance.ts';
import { readSignals } from '../app/orders/read-signals.ts';
import { readTrade, readTrades, readTradesSummary } from '../app/orders/read-trades.ts';
import { readProtections } from '../app/protection/read-protections.ts';
import type { CsvPage, Reader } from '../app/reading.ts';
import { giveWay } from '../data/engine/give-way.ts';
import { type Csv, rowLine } from '../http/csv.ts';
import { ATTACKS_CSV, AUDIT_CSV, ORDERS_CSV, SIGNALS_CSV, TRADES_CSV } from '../http/csv-columns.ts';

export interface ReadDeps extends OverviewDeps {
  readonly baseUrl: string;
  readonly keptTrades: KeptTrades;
}

const READS = {
  orders: readOrders,
  signals: readSignals,
  protections: readProtections,
  performance: readPerformance,
  trades: readTrades,
  tradesSummary: readTradesSummary,
  trade: readTrade,
  overview: readOverview,
  accounts: readAccounts,
  groups: readGroups,
  attacks: readSecurityAttacks,
  auditLog: readAuditLog,
  deadLetters: readDeadLetters,
  users: readUsers,
};

type Name = keyof typeof READS;
type Rest<Args extends unknown[]> = Args extends [unknown, ...infer More] ? More : never;
export type Readers = {
  readonly [Of in Name]: Reader<
    Rest<Parameters<(typeof READS)[Of]>>,
    Awaited<ReturnType<(typeof READS)[Of]>>
  >;
};

/** Of a row that its own list made. */
const COLUMNS: Readonly<Partial<Record<Name, Csv<never>>>> = {
  orders: ORDERS_CSV,
  signals: SIGNALS_CSV,
  trades: TRADES_CSV,
  attacks: ATTACKS_CSV,
  auditLog: AUDIT_CSV,
};

export interface Question {
  readonly name: Name;
  readonly form: 'json' | 'csv' | 'value';
  readonly args: readonly unknown[];
}

export type Answer = string | CsvPage | object;

export async function answer(deps: ReadDeps, { name, form, args }: Question): Promise<Answer> {
  const read = READS[name] as (from: ReadDeps, ...args: readonly unknown[]) => Promise<object>;
  const found = await read(deps, ...args);
  if (form === 'value') return found;
  if (form === 'json') return JSON.stringify(found);
  const columns = COLUMNS[name];
  if (!columns) throw new Error(`${name} has no columns`);
  const { items, next_cursor } = found as { items: readonly never[]; next_cursor: string | null };
  let lines = '';
  for (const row of items) {
    lines += rowLine(columns, row);
    giveWay();
  }
  return { lines, next_cursor };
}

export const readNames = Object.keys(READS) as readonly Name[];
