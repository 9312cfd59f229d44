// CSV as RFC 4180 has it. A spreadsheet would run a text that begins as a formula: an apostrophe keeps it text. Where semicolons
// or tabs divide, as many countries' spreadsheets have it, our quotes are letters, and a cell begins after each of those too.

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
  const begun = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  const harmless = begun.replace(/[;\t\r\n]["\s]*(?=[=+\-@])/g, "$&'");
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
