// What somebody merely looks at is read, shown and written apart from what trades (roles/reading.ts): an answer comes as
// the text that is sent, so that the thread that trades does nothing for it but pass it on.

import { orderComes } from '../data/engine/give-way.ts';

/** Until what is returned is called, whoever reads leaves the processor to who trades. */
export const tradingBegins = orderComes;

/** JSON that was written where it was read. */
export class Written {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/** Of a list: the lines of its CSV, without the first. */
export interface CsvPage {
  readonly lines: string;
  readonly next_cursor: string | null;
}

export interface Reader<Args extends unknown[], Result> {
  asJson(...args: Args): Promise<Written>;
  asCsv(...args: Args): Promise<CsvPage>;
  /** For who has to look into it. */
  asValue(...args: Args): Promise<Result>;
}

export type ListReader<Args extends unknown[]> = Pick<Reader<Args, unknown>, 'asJson' | 'asCsv'>;
export type JsonReader<Args extends unknown[]> = Pick<Reader<Args, unknown>, 'asJson'>;
