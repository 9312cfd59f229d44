// CSV as RFC 4180 has it. A spreadsheet would run a text that begins as a formula: an apostrophe keeps it text.

import { decimal } from '../domain/decimal.ts';

export interface Csv<Row> {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly columns: readonly (readonly [header: string, read: (row: Row) => unknown])[];
}

/** Its end is a line break. */
export const headerLine = <Row>({ columns }: Csv<Row>): string => line(columns.map(([header]) => header));
export const rowLine = <Row>({ columns }: Csv<Row>, row: Row): string =>
  line(columns.map(([, read]) => read(row)));

const line = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  // A number is no formula, also below zero.
  if (typeof value === 'number') return decimal(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
