// When each user was last alerted by mail.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { must, type Statement, sql } from '../engine/db.ts';

/** Guarded by `due`: one alert per user and interval, however many processes see attacks. */
export function claimAlert(user: UserId, now: Timestamp, lastBefore: Timestamp): Statement {
  return must(
    'due',
    sql`insert into alert_mails (user_id, last_at) values (${user}, ${now})
        on conflict (user_id) do update set last_at = excluded.last_at where alert_mails.last_at <= ${lastBefore}`,
  );
}
