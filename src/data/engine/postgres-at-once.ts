// Statements that PostgreSQL works off one after the other and answers for at once: how many of them it has done, and what was wrong with
// the next one. The driver would have it answer for each, which costs both of them nearly as much as a statement does. What
// follows a failure is not done; nothing is guessed of a connection that is lost meanwhile.

import { DatabaseError, Query as DriverQuery, type PoolClient } from 'pg';
import type { Query } from './postgres-statements.ts';

export interface Done {
  /** So many of the statements. */
  readonly completed: number;
  /** Of the one behind them, as the server said; or of the connection, and then nobody knows what became of the rest. */
  readonly error: Error | null;
  /** Nobody knows whether the server has prepared these. */
  readonly inDoubt: readonly string[];
}

/** What the driver's connection can do, and its types do not say so. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string>;
  parse(query: { readonly text: string; readonly name: string }): void;
  bind(query: { readonly statement: string; readonly values: readonly (string | null)[] }): void;
  execute(): void;
  close(what: { readonly type: 'S'; readonly name: string }): void;
  sync(): void;
}

class AtOnce extends DriverQuery {
  completed = 0;

  constructor(write: (wire: Wire) => void, answerMs: number, answered: (error: Error | null) => void) {
    super({ text: '' }, (error: Error | null) => answered(error));
    this.submit = (connection) => {
      const wire = connection as unknown as Wire;
      wire.stream.cork();
      write(wire);
      wire.sync();
      wire.stream.uncork();
    };
    Object.assign(this, { query_timeout: answerMs });
  }

  /** The driver tells of each statement by these. */
  handleCommandComplete(): void {
    this.completed++;
  }
  handleRowDescription(): void {}
  handleDataRow(): void {}
}

export function sendAtOnce(
  client: PoolClient,
  queries: readonly Query[],
  answerMs: number,
  leaving: readonly string[] = [],
): Promise<Done> {
  const { parsedStatements: known } = client.connection as unknown as Wire;
  const prepared = new Map<string, string>();

  function write(wire: Wire): void {
    for (const { text = '', name = '', values = [] } of queries) {
      if (name === '' || (known[name] === undefined && !prepared.has(name))) wire.parse({ text, name });
      if (name !== '' && known[name] === undefined) prepared.set(name, text);
      wire.bind({ statement: name, values: values.map(textOf) });
      wire.execute();
    }
    for (const name of leaving) wire.close({ type: 'S', name });
  }

  return new Promise((resolve) => {
    const query = new AtOnce(write, answerMs, (error) => {
      if (!error) Object.assign(known, Object.fromEntries(prepared));
      const inDoubt = error ? [...prepared.keys()] : [];
      resolve({ completed: query.completed, error, inDoubt });
    });
    client.query(query);
  });
}

/** Ends the transaction that a failure has left open. What may be prepared is not any more: the driver prepares it anew. */
export async function rollBack(client: PoolClient, { inDoubt }: Done, answerMs: number): Promise<boolean> {
  return (await sendAtOnce(client, [{ text: 'rollback' }], answerMs, inDoubt)).error === null;
}

/** The server has said what is wrong: it did not do the statement. */
export const isSaid = (error: Error | null): error is DatabaseError => error instanceof DatabaseError;

const textOf = (value: unknown): string | null => (value === null ? null : String(value));
