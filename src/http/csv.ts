// Lists as CSV (RFC 4180), for `Accept: text/csv`: the whole filtered list, page by page as fast as the client takes it, and
// never more than a page of it in memory. A spreadsheet would run a text that begins as a formula: an apostrophe keeps it text.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Page } from '../app/pages.ts';
import { decimal } from '../domain/decimal.ts';

export interface Csv<Row> {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly columns: readonly (readonly [header: string, read: (row: Row) => unknown])[];
}

/** What the client likes better: JSON where it does not say, or likes both as much. */
export function wantsCsv({ headers: { accept = '' } }: FastifyRequest): boolean {
  const liked = (type: string): number => {
    for (const part of accept.toLowerCase().split(',')) {
      const [name, ...parameters] = part.split(';').map((piece) => piece.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      if (name === type) return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    }
    return 0;
  };
  return liked('text/csv') > liked('application/json');
}

const LARGEST_PAGE = 200;

/** Every page of a list, from its beginning. */
export async function* pagesOf<Row>(
  read: (page: { cursor: string | null; limit: number }) => Promise<Page<Row>>,
): AsyncGenerator<readonly Row[]> {
  let cursor: string | null = null;
  do {
    const page: Page<Row> = await read({ cursor, limit: LARGEST_PAGE });
    yield page.items;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

/** The first page is read before anything is answered: a list that cannot be read is refused as ever. */
export async function sendCsv<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  csv: Csv<Row>,
  pages: AsyncGenerator<readonly Row[]>,
): Promise<FastifyReply> {
  const first = await pages.next();
  reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="fillpath-${csv.name}.csv"`)
    .header('cache-control', 'no-store');
  if (request.method === 'HEAD') return reply.send('');
  return reply.send(Readable.from(lines(), { objectMode: false }));

  async function* lines(): AsyncGenerator<string> {
    yield headerLine(csv);
    try {
      for (let page = first; !page.done; page = await pages.next())
        yield page.value.map((row) => rowLine(csv, row)).join('');
    } finally {
      await pages.return(undefined);
    }
  }
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
