// The worker's view of what protects positions: each change is one unit with what is told of it, and with the order that it made.

import type { Db, Statement } from '../../data/engine/db.ts';
import { isOwner } from '../../data/orders/for-workers.ts';
import { insertOrder, ordersByIds, saveOrder, tradedLately } from '../../data/orders/orders.ts';
import {
  keptProtections,
  noteProtection,
  noteUnprotected,
  partlyStopped,
  protectiveRefs,
  putOffProtections,
  saveProtection,
  stoppedBy,
  stoppedOutBy,
} from '../../data/orders/protections.ts';
import { type Counters, venueOf } from '../../domain/counters.ts';
import { add, type Decimal, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { millis, type OrderId, timestamp } from '../../domain/ids.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import { hasTraded, type Order } from '../../domain/orders/order.ts';
import { closedFrom, closedLast, closeOrder, filledOrder } from '../../domain/protection/closing.ts';
import {
  CLOSED_ELSEWHERE,
  type ExitReason,
  type Protection,
  type ProtectiveLeg,
  wantsSomething,
} from '../../domain/protection/protection.ts';
import { changesOf, type HistoryLine, type ToldEntry } from '../../domain/protection/told.ts';
import { EXIT_WORDS, protectionText } from '../../domain/told/protection-words.ts';
import type { Saved, WorkerProtections } from '../../worker/protections.ts';
import { audit, OURSELVES } from '../audit/audit.ts';
import { newId } from '../new-id.ts';

export interface ProtectionDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly exitDeadlineMs: number;
  readonly counters?: Pick<Counters, 'positionProtected' | 'protectionRestored'>;
  /** Told of every order that protection has made at the broker. */
  onEnd?(order: Order): Promise<void>;
}

/** By so much the clocks of two hosts may differ, or one's may have been set. */
const CLOCKS_APART_MS = 3_600_000;

export function workerProtections(deps: ProtectionDeps): WorkerProtections {
  const { db, clock } = deps;

  async function commit(
    protection: Protection,
    before: Protection,
    token: string,
    besides: readonly Statement[] = [],
  ): Promise<Saved | 'fingerprint'> {
    const now = clock.now();
    const counted = withCounted(protection);
    const { history, audit: entries } = changesOf(before, protection, now);
    const isFirst = before.unprotectedMs === null && protection.unprotectedMs !== null;
    const failed = await db.commit([
      isOwner(protection.userId, token),
      saveProtection(counted, timestamp(now)),
      ...partlyStopped(protection, timestamp(now)),
      ...besides,
      ...history.map((line) => noteProtection(protection.id, timestamp(now), line)),
      ...entries.map((entry) => audited(protection, entry, now)),
      ...(isFirst ? [noteUnprotected(protection)] : []),
    ]);
    if (failed === 'owner') return 'taken';
    if (failed === 'fingerprint') return 'fingerprint';
    if (failed !== null) return 'changed';
    if (isFirst) deps.counters?.positionProtected(venueOf(protection), protection.unprotectedMs ?? 0);
    for (const { action } of entries)
      if (action === 'protection_restored') deps.counters?.protectionRestored();
    return { ...counted, version: protection.version + 1 };
  }

  /** With what is known of who closed its position, once it has ended. */
  async function ending(protection: Protection, before: Protection): Promise<[Protection, ...Statement[]]> {
    if (protection.state !== 'ended' || protection.reason !== before.reason) return [protection];
    if (!wantsSomething(protection)) return [protection];
    const [closing = null] = before.closing ? await ordersByIds(db, [before.closing.order]) : [];
    const traded = await tradedLately(db, protection);
    const by = closedLast(protection, { closing, traded });
    if (by === 'somebody else') return [{ ...protection, reason: CLOSED_ELSEWHERE }];
    // Whoever recorded its close may not have known yet that nothing was left.
    return by === 'an order' ? [protection] : [protection, stoppedOutBy(protection, by.submittedAt)];
  }

  return {
    kept: (user, account) => keptProtections(db, user, account ?? null),
    recorded: ({ userId, accountId }, since) =>
      protectiveRefs(db, userId, accountId, timestamp(millis(since) - CLOCKS_APART_MS)),
    orders: (ids) => ordersByIds(db, ids),
    async save(protection, before, token) {
      const [ended, ...besides] = await ending(protection, before);
      const saved = await commit(ended, before, token, besides);
      return saved === 'fingerprint' ? 'changed' : saved;
    },
    async record(protection, before, token, { leg, fills, left, counted, unitValue }) {
      const now = clock.now();
      const { side } = protection;
      const last = (await tradedLately(db, protection)).find(hasTraded) ?? null;
      const heldAt = closedFrom(last, { leg, left, side, now });
      const leftAfter = (nth: number) =>
        fills.slice(nth).reduce((sum, { order }) => add(sum, order.fillQuantity), left);
      const made = fills.map(({ reason, order: fill }, index) => ({
        order: filledOrder(protection, {
          ...{ id: newId() as OrderId, reason, now, leg, fill, nth: index + 1, counted, unitValue },
          left: leftAfter(index + 1),
        }),
        print: printOf(leg, reason, fill),
      }));
      const saved = await commit(protection, before, token, [
        ...made.flatMap(({ order, print }) => [
          insertOrder(order, print),
          ...saveOrder(order),
          ...stoppedBy(order, order.exitReason === 'take_profit' ? countedOf(before, leg) : ZERO, heldAt),
        ]),
        ...made.flatMap(({ order }) => told(protection, order, now)),
      ]);
      // It stands there already: somebody saved it, and nobody heard of it.
      if (saved === 'fingerprint') {
        const after = await commit(protection, before, token);
        return after === 'fingerprint' ? 'changed' : after;
      }
      if (saved !== 'taken' && saved !== 'changed')
        for (const { order } of made) await deps.onEnd?.({ ...order, version: order.version + 1 });
      return saved;
    },
    async close(protection, before, token, { reason, held }) {
      const now = clock.now();
      const order = closeOrder(protection, {
        ...{ id: newId() as OrderId, reason, now, held, lifeMs: deps.exitDeadlineMs },
      });
      const closing = { ...protection, closing: { order: order.id, at: timestamp(now) } };
      const saved = await commit(closing, before, token, [
        insertOrder(order, null),
        noteProtection(protection.id, timestamp(now), closed(reason, order)),
        audited(protection, closedBecause(protection, reason, { order_id: order.id }), now),
      ]);
      return saved === 'fingerprint' ? 'changed' : saved;
    },
    async putOff(user, account, until) {
      await db.commit([putOffProtections(user, account, until)]);
    },
  };
}

/** A stop is known by the order that it became: a broker may tell of the same one for the stop that was set in its place. */
const printOf = ({ clientOrderId }: ProtectiveLeg, reason: ExitReason, { brokerRef }: BrokerOrderState) =>
  reason === 'take_profit'
    ? `protection:${clientOrderId}:target`
    : `protection:${brokerRef ?? clientOrderId}:stop`;

/** What rests and is filled in part counts as closed from now on. */
const withCounted = (protection: Protection): Protection => {
  const isCounted = protection.legs.every(({ filled, counted = ZERO }) => filled === counted);
  const legs = protection.legs.map((leg) => ({ ...leg, counted: leg.filled }));
  return isCounted ? protection : { ...protection, legs };
};

const countedOf = ({ legs }: Protection, { clientOrderId }: ProtectiveLeg): Decimal =>
  legs.find((leg) => leg.clientOrderId === clientOrderId)?.counted ?? ZERO;

const closed = (reason: ExitReason, { id }: Order): HistoryLine => ({
  what: reason,
  from: null,
  to: null,
  by: id,
});

/** What the broker has closed by itself. */
function told(protection: Protection, order: Order, now: number): Statement[] {
  const [leg] = order.legs;
  const reason = order.exitReason ?? 'stop_loss';
  return [
    noteProtection(protection.id, timestamp(now), {
      ...{ what: reason, from: null, to: leg?.fillPrice ?? null, by: order.id },
    }),
    audited(
      protection,
      closedBecause(protection, reason, {
        order_id: order.id,
        fill_price: toNumberOrNull(leg?.fillPrice ?? null),
        fill_quantity: toNumberOrNull(leg?.fillQuantity ?? null),
      }),
      now,
    ),
  ];
}

const closedBecause = (
  { refused, reason: words }: Protection,
  reason: ExitReason,
  metadata: ToldEntry['metadata'],
): ToldEntry => ({
  action: reason === 'unprotected' ? 'protection_failed' : 'protection_triggered',
  failure: reason === 'unprotected' ? (refused?.words ?? words ?? EXIT_WORDS.unprotected) : null,
  metadata: { ...metadata, exit_reason: reason },
});

/** `caused_by`: the order that set it. */
const audited = (protection: Protection, entry: ToldEntry, now: number): Statement =>
  audit(
    OURSELVES,
    {
      userId: protection.userId,
      action: entry.action,
      failure: entry.failure,
      resource: { type: 'protection', id: protection.id },
      metadata: {
        trading_account_id: protection.accountId,
        symbol: protection.symbol,
        simulation: protection.simulation,
        side: protection.side,
        stop_loss: toNumberOrNull(protection.stop?.price ?? null),
        caused_by: protection.setBy,
        ...entry.metadata,
        text: protectionText(protection, entry, now),
      },
    },
    now,
  );
