// What a deployment decided once, at its first start; and what else is one word for all of it.

import { type Db, must, type Statement, sql } from './db.ts';

/** The first word counts. */
export const rememberFact = (name: string, value: string): Statement =>
  sql`insert into facts (name, value) values (${name}, ${value}) on conflict (name) do nothing`;

/** The last word counts. */
export const keepFact = (name: string, value: string): Statement =>
  sql`insert into facts (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`;

export async function readFact(db: Db, name: string): Promise<string | null> {
  const row = await db.get<{ value: string }>(sql`select value from facts where name = ${name}`);
  return row?.value ?? null;
}

/** Guarded by `fact`: it is what it was thought to be. */
export const replaceFact = (name: string, before: string, value: string): Statement =>
  must('fact', sql`update facts set value = ${value} where name = ${name} and value = ${before}`);

export const setFact = (name: string, value: string): Statement =>
  sql`insert into facts (name, value) values (${name}, ${value})
      on conflict (name) do update set value = excluded.value`;

export const forgetFacts = (beginning: string): Statement =>
  sql`delete from facts where name like ${`${beginning}%`}`;
