// What a deployment decided once, at its first start.

import { type Db, type Statement, sql } from './db.ts';

/** The first word counts. */
export const rememberFact = (name: string, value: string): Statement =>
  sql`insert into facts (name, value) values (${name}, ${value}) on conflict (name) do nothing`;

export async function readFact(db: Db, name: string): Promise<string | null> {
  const row = await db.get<{ value: string }>(sql`select value from facts where name = ${name}`);
  return row?.value ?? null;
}
