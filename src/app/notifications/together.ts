// Which of what is told now belongs to one signal to a group, and is told together.

import type { ToldMember, ToldSignal } from '../../data/notifications/group-signals.ts';
import { millis, type OrderId, type Timestamp } from '../../domain/ids.ts';
import { isUnderWay, type Order } from '../../domain/orders/order.ts';
import type { Entry } from '../../domain/told/events.ts';
import { entryEvent, GAP } from '../../domain/told/events.ts';
import { gapEvent, groupEvent, isToldTogether, type MemberTold } from '../../domain/told/group-events.ts';
import type { Event } from '../../domain/told/notification.ts';
import type { Occurrence } from './tell.ts';

/** An order of which something is to be told. */
export interface Telling {
  readonly order: Order;
  readonly events: readonly Event[];
  /** Nothing was told of it so far. */
  readonly isFirst: boolean;
  readonly begunAt: Timestamp;
}

/** So long the members of a group are waited for, by who is told of them and by nobody else. */
const PATIENCE_MS = 5_000;

/** What is told of these orders by now; `waiting` are those that are told later, with the others of their signal. */
export function toldOf(
  tellings: readonly Telling[],
  signals: readonly ToldSignal[],
  now: Timestamp,
): { readonly told: readonly Occurrence[]; readonly waiting: ReadonlySet<OrderId> } {
  const byOrder = new Map(tellings.map((telling) => [telling.order.id, telling]));
  const waiting = new Set<OrderId>();
  const together = new Set<OrderId>();
  const told: Occurrence[] = [];
  for (const signal of signals) {
    const mine = signal.members.flatMap(({ orderId }) => (orderId && byOrder.get(orderId)) || []);
    const first = mine.filter(({ isFirst }) => isFirst);
    if (first.length > 0 && !isComplete(signal, first, now)) {
      for (const { order } of first) waiting.add(order.id);
      continue;
    }
    const [any] = first.length > 0 ? first : mine;
    const members = signal.members.flatMap((member) => memberTold(member, byOrder, first.length > 0));
    if (!any || members.length < 2) continue;
    for (const { order } of members) if (order) together.add(order.id);
    const { id: signalId, groupId, name } = signal;
    const { userId } = any.order;
    told.push({
      event: groupEvent({ userId, at: now, signalId, groupId, name, members }),
      begunAt: any.begunAt,
    });
  }
  for (const { order, events, begunAt } of tellings)
    if (!waiting.has(order.id))
      told.push(
        ...events
          .filter((event) => !together.has(order.id) || !isToldTogether(event))
          .map((event) => ({ event, begunAt })),
      );
  return { told, waiting };
}

/** All of its orders are there and have come to something; or it was waited for long enough. */
const isComplete = ({ members }: ToldSignal, first: readonly Telling[], now: Timestamp): boolean =>
  (first.length === members.filter(({ orderId }) => orderId !== null).length &&
    first.every(({ order }) => !isUnderWay(order.status))) ||
  first.some(({ order }) => millis(now) - millis(order.submittedAt) > PATIENCE_MS);

/** The first time all members, whatever became of them; later those of whom there is something new. */
function memberTold(
  { accountId, account, orderId, code, detail }: ToldMember,
  byOrder: ReadonlyMap<OrderId, Telling>,
  isFirst: boolean,
): MemberTold[] {
  const who = { accountId, account };
  if (code !== null)
    return isFirst ? [{ ...who, order: null, events: [], refusal: { code, detail: detail ?? code } }] : [];
  const telling = orderId && byOrder.get(orderId);
  if (!telling || telling.isFirst !== isFirst) return [];
  const events = telling.events.filter(isToldTogether);
  return isFirst || events.length > 0 ? [{ ...who, order: telling.order, events, refusal: null }] : [];
}

/** Of the audit log: an alert that a group never got is one, however many members miss it. */
export function toldOfEntries(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string | null,
): readonly Occurrence[] {
  const byMoment = Map.groupBy(entries, (entry) =>
    entry.action === GAP && entry.metadata.simulation !== true ? `${entry.userId} ${entry.at}` : entry,
  );
  return [...byMoment.values()].flatMap((each): Occurrence[] => {
    const [first, ...others] = each.map((entry) => ({ entry, account: nameOf(entry) }));
    if (!first) return [];
    const begunAt = first.entry.at;
    if (others.length > 0) return [{ event: gapEvent([first, ...others]), begunAt }];
    const event = entryEvent(first.entry, first.account);
    return event ? [{ event, begunAt }] : [];
  });
}
