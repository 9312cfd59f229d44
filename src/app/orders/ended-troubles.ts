// Since when a user's things are in order: what ended last, so far as anything tells of it. The audit log does, of what we
// resolved, compared or verified ourselves; the rest is told by who found it.

import type { Reads } from '../../data/engine/db.ts';
import { type Ending, newestEntries, type StandingAccount } from '../../data/orders/standing.ts';
import type { Timestamp, UserId } from '../../domain/ids.ts';
import type { EndedKind } from '../../domain/told/trouble.ts';

export interface Ended {
  readonly kind: EndedKind;
  readonly title: string;
  readonly ended_at: Timestamp;
  readonly order_id?: string;
  readonly trading_account_id?: string;
  readonly symbol?: string;
}

type Told = Omit<Ended, 'ended_at' | 'trading_account_id'>;

/** By the action of the entry that tells of its end. `of`: the account's name. */
const ENDINGS: Readonly<Record<string, (entry: Ending, of: string | null) => Told | null>> = {
  order_resolved: ({ resourceId, metadata: { symbol, status } }, of) =>
    of === null
      ? null
      : {
          kind: 'unknown_order',
          title: `An order in ${symbol} on ${of} was unresolved, and was found to be ${status}`,
          ...(resourceId === null ? {} : { order_id: resourceId }),
          symbol: String(symbol),
        },
  order_settled: ({ resourceId, metadata: { symbol, status } }, of) =>
    of === null
      ? null
      : {
          kind: 'unknown_order',
          title: `An order in ${symbol} on ${of} was unresolved, and you settled it as ${status}`,
          ...(resourceId === null ? {} : { order_id: resourceId }),
          symbol: String(symbol),
        },
  position_drift_ended: ({ metadata: { symbol, simulation } }, of) =>
    of === null || simulation === true
      ? null
      : { kind: 'drift', title: `${symbol} drifted on ${of}`, symbol: String(symbol) },
  position_unprotected_ended: ({ metadata: { symbol, simulation } }, of) =>
    of === null || simulation === true
      ? null
      : { kind: 'unprotected', title: `${symbol} had no stop on ${of}`, symbol: String(symbol) },
  credentials_verified: (_, of) =>
    of === null ? null : { kind: 'credentials', title: `The credentials of ${of} were not verified` },
  terms_accepted: () => ({ kind: 'terms', title: 'The terms were not accepted' }),
};

/** Of all that ended, the last; null: nothing is known of. */
export async function lastEnded(
  db: Reads,
  user: UserId,
  accounts: readonly StandingAccount[],
  others: readonly Ended[],
): Promise<Ended | null> {
  const names = new Map<unknown, string>(accounts.map(({ id, name }) => [id, name]));
  const audited = (await newestEntries(db, user, Object.keys(ENDINGS))).flatMap((entry): Ended[] => {
    const account = entry.metadata.trading_account_id;
    const told = ENDINGS[entry.action]?.(entry, names.get(account) ?? null);
    if (!told) return [];
    const of = typeof account === 'string' ? { trading_account_id: account } : {};
    return [{ ...told, ended_at: entry.at, ...of }];
  });
  const [last] = [...audited, ...others].sort((a, b) => b.ended_at.localeCompare(a.ended_at));
  return last ?? null;
}
