// Which messages come of events: for each destination that wants it one, and of a burst one for all that are too
// many and say the same. The statements belong into the unit that marks the events as told.

import type { Db, Statement } from '../../data/engine/db.ts';
import { foldDelivery, insertDelivery, noteDropped, waitingAt } from '../../data/notifications/deliveries.ts';
import { liveDestinationsOf } from '../../data/notifications/destinations.ts';
import { type Timestamp, timestamp } from '../../domain/ids.ts';
import {
  type Event,
  endOfMinute,
  foldOf,
  isFolded,
  isNeverFolded,
  type Several,
  toldAt,
} from '../../domain/told/notification.ts';
import { newId } from '../new-id.ts';

export interface TellDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly baseUrl: string;
}

export interface Occurrence {
  readonly event: Event | Several;
  /** A destination that listens since later is not told. */
  readonly begunAt: Timestamp;
}

/** Messages that wait at one destination. More are counted, and not kept. */
const MOST_WAITING = 200;
/** Of these places the last are for what is never folded: a flood of anything else leaves them free. */
const KEPT_FREE = 50;
const MINUTE_MS = 60_000;

/** `to`: only this one of the user's destinations. */
export async function tell(
  { db, clock, baseUrl }: TellDeps,
  occurrences: readonly Occurrence[],
  to: string | null = null,
): Promise<Statement[]> {
  if (occurrences.length === 0) return [];
  const users = [...new Set(occurrences.map(({ event }) => event.userId))];
  const destinations = (await liveDestinationsOf(db, users)).filter(({ id }) => to === null || id === to);
  const now = clock.now();
  const minuteBegan = timestamp(endOfMinute(now) - MINUTE_MS);
  const waiting = await waitingAt(
    db,
    destinations.map(({ id }) => id),
    minuteBegan,
  );
  return destinations.flatMap((destination) => {
    const before = waiting.get(destination.id);
    let pending = before?.pending ?? 0;
    const alone = new Map(before?.byKind);
    const folds = new Map<string, { last: Event; count: number }>();
    const unit: Statement[] = [];
    let dropped = 0;
    for (const { event: told, begunAt } of occurrences) {
      const event = told.userId === destination.userId ? toldAt(destination, told, begunAt) : null;
      if (!event) continue;
      const soFar = alone.get(event.kind) ?? 0;
      if (isFolded(event, soFar)) {
        const fold = foldOf(event, now);
        folds.set(fold, { last: event, count: (folds.get(fold)?.count ?? 0) + 1 });
        continue;
      }
      alone.set(event.kind, soFar + 1);
      if (takesPlace(event)) unit.push(insertDelivery(delivery(event, now)));
      else dropped++;
    }
    for (const [fold, { last, count }] of folds)
      if (takesPlace(last)) unit.push(...foldDelivery(delivery(last, endOfMinute(now)), fold, count));
      else dropped += count;
    if (dropped > 0) unit.push(noteDropped(destination.id, dropped));
    return unit;

    /** Where there is one for it. */
    function takesPlace(event: Event): boolean {
      if (pending >= MOST_WAITING - (isNeverFolded(event) ? 0 : KEPT_FREE)) return false;
      pending++;
      return true;
    }

    function delivery({ kind, at, title, text, path, data }: Event, dueAt: number) {
      return {
        id: newId(),
        destinationId: destination.id,
        event: kind,
        message: { event: kind, at, title, text, link: `${baseUrl}${path}`, data },
        createdAt: timestamp(now),
        dueAt: timestamp(dueAt),
      };
    }
  });
}
