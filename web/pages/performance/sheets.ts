// What stands behind each plot: the same rows as a table, and as a file for a spreadsheet.

import { figure, money } from '../../parts/numbers.ts';
import { longDay, type Row, statusesOf, totalsOf } from './days.ts';

type Cell = number | string | null;

export interface Sheet<Of> {
  /** Of the file too: `realised`. */
  readonly name: string;
  readonly columns: readonly Column<Of>[];
  readonly rows: readonly Of[];
}
interface Column<Of> {
  /** In the table. */
  readonly head: string;
  /** In the file: the API's word. */
  readonly field: string;
  value(row: Of): Cell;
  /** As a table says it; null: nothing is known. */
  said(row: Of): string | null;
}

const said = (value: number | null, words: (value: number) => string) =>
  value === null ? null : words(value);
export const inHead = (name: string, currency: string | null) => (currency ? `${name}, ${currency}` : name);
/** Of a number that is always known. */
export const figureColumn = <Field extends string>(
  head: string,
  field: Field,
): Column<Readonly<Record<Field, number>>> => ({
  head,
  field,
  value: (row) => row[field],
  said: (row) => figure(row[field]),
});
const moneyColumn = (
  head: string,
  field: 'realised' | 'total' | 'slippage',
  currency: string | null,
): Column<Row> => ({
  head: inHead(head, currency),
  field,
  value: (row) => row[field],
  said: (row) => said(row[field], money),
});
const DAY: Column<Row> = {
  head: 'Day',
  field: 'day',
  value: ({ day }) => day,
  said: ({ day }) => longDay(day),
};

/** Days on which something happened: the others would only be scrolled past. */
const isEventful = ({ orderCount, realised }: Row) => orderCount > 0 || Boolean(realised);

export function sheetsOf(rows: readonly Row[], currency: string | null) {
  const eventful = rows.filter(isEventful);
  const sheet = (name: string, columns: readonly Column<Row>[], of = eventful): Sheet<Row> => ({
    name,
    columns: [DAY, ...columns],
    rows: of,
  });
  return {
    realised: sheet('realised', [
      moneyColumn('Realised', 'realised', currency),
      moneyColumn('In all', 'total', currency),
    ]),
    orders: sheet('orders', [
      {
        head: 'Orders',
        field: 'orders',
        value: (row) => row.orderCount,
        said: (row) => figure(row.orderCount),
      },
      ...statusesOf(totalsOf(rows).orders).map((status) => ({
        head: status,
        field: status,
        value: (row: Row) => row.orders[status] ?? 0,
        said: (row: Row) => figure(row.orders[status] ?? 0),
      })),
    ]),
    latency: sheet(
      'latency',
      (['p50', 'p90', 'p99'] as const).map((share) => ({
        head: `${share}, ms`,
        field: `latency_ms_${share}`,
        value: (row) => row[share],
        said: (row) => said(row[share], figure),
      })),
      eventful.filter(({ p50 }) => p50 !== null),
    ),
    slippage: sheet(
      'slippage',
      [moneyColumn('Slippage', 'slippage', currency)],
      eventful.filter(({ slippage }) => slippage !== null),
    ),
  };
}

/** A spreadsheet would run a text that begins as a formula: an apostrophe keeps it text. A number is none, also below zero. */
function cell(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export function csvOf<Of>({ columns, rows }: Sheet<Of>): string {
  const lines = [
    columns.map(({ field }) => field),
    ...rows.map((row) => columns.map(({ value }) => value(row))),
  ];
  return lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}
