// Tries that are counted: an exact sliding window, as the times of the last ten. In one statement, so that of any number
// at one moment no more than the limit are taken, whichever processes they are at.

import type { Timestamp } from '../../domain/ids.ts';
import { type Db, join, must, type Statement, sql } from '../engine/db.ts';

/** So many are remembered, and no higher limit can be kept. */
type Most = 3 | 10;

export interface Tried {
  readonly subject: string;
  readonly most: Most;
}

const nth = (most: Most): string => `try_${most}`;

/** When the one was made that has to be long ago before the next is free; null: none that counts. */
export async function decidingTry(db: Db, { subject, most }: Tried): Promise<Timestamp | null> {
  const row = await db.get<{ at: Timestamp | null }>(
    join(
      [{ parts: [`select ${nth(most)} as at from tries where subject = `], values: [] }, sql`${subject}`],
      '',
    ),
  );
  return row?.at ?? null;
}

/** Guarded by `free`: that one was made at `since` or before. */
export const takeTry = ({ subject, most }: Tried, now: Timestamp, since: Timestamp): Statement =>
  must(
    'free',
    join(
      [
        sql`insert into tries (subject, try_1) values (${subject}, ${now})
            on conflict (subject) do update set try_10 = tries.try_9, try_9 = tries.try_8, try_8 = tries.try_7,
              try_7 = tries.try_6, try_6 = tries.try_5, try_5 = tries.try_4, try_4 = tries.try_3,
              try_3 = tries.try_2, try_2 = tries.try_1, try_1 = excluded.try_1
            where `,
        { parts: [`tries.${nth(most)} is null or tries.${nth(most)} <= `], values: [] },
        sql`${since}`,
      ],
      '',
    ),
  );

export const forgetTries = (subject: string): Statement => sql`delete from tries where subject = ${subject}`;

/** As if the newest had not been made; the others go on counting. */
export const giveBackTry = (subject: string): Statement[] => [
  sql`delete from tries where subject = ${subject} and try_2 is null`,
  sql`update tries set try_1 = try_2, try_2 = try_3, try_3 = try_4, try_4 = try_5, try_5 = try_6, try_6 = try_7,
        try_7 = try_8, try_8 = try_9, try_9 = try_10, try_10 = null
      where subject = ${subject} and try_2 is not null`,
];
