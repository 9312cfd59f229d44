// Lists as CSV, for `Accept: text/csv`: the whole filtered list, page by page as fast as the client takes it, and never more
// than a page of it in memory.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type PageRequest, pagesOf } from '../app/pages.ts';
import type { CsvPage } from '../app/reading.ts';
import { type Csv, headerLine, rowLine } from './csv.ts';

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

/** Page by page, each in a turn. The first is read before anything is answered: a list that cannot be read is refused as ever. */
export async function sendList<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  csv: Csv<Row>,
  read: (page: PageRequest) => Promise<CsvPage>,
  rowsAtOnce?: number,
): Promise<FastifyReply> {
  const pages = pagesOf(read, request.inTurn, rowsAtOnce);
  const first = await pages.next();
  return sendCsv(request, reply, csv, lines());

  async function* lines(): AsyncGenerator<string> {
    if (!first.done) yield first.value.lines;
    for await (const page of pages) yield page.lines;
  }
}

/** What is all there. */
export const sendRows = <Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  csv: Csv<Row>,
  rows: readonly Row[],
): FastifyReply => sendCsv(request, reply, csv, [rows.map((row) => rowLine(csv, row)).join('')]);

function sendCsv<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  csv: Csv<Row>,
  lines: Iterable<string> | AsyncIterable<string>,
): FastifyReply {
  reply
    .type('text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="fillpath-${csv.name}.csv"`);
  if (request.method === 'HEAD') return reply.send('');
  return reply.send(Readable.from(withHeader(), { objectMode: false }));

  async function* withHeader(): AsyncGenerator<string> {
    yield headerLine(csv);
    yield* lines;
  }
}
