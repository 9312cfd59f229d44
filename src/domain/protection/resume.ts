// A protection that was left, after a restore or at another account, and is kept again because its owner says so. What is saved of it may
// be older than what stands at the broker: what stands there counts, and nothing is doubled.

import { type Decimal, ZERO } from '../decimal.ts';
import { type ClientOrderId, type Timestamp, timestamp } from '../ids.ts';
import { anew, stopAlone } from './adopt.ts';
import {
  FORMER_TARGET,
  isBetter,
  legNamed,
  type Protection,
  type ProtectiveLeg,
  protectiveId,
  type StopKind,
} from './protection.ts';
import type { ShownOrder, ShownStop } from './step.ts';

/** So many legs may have been sent since by who forgot them: their ids are never used again, and are known as ours. */
const FORGOTTEN_LEGS = 100;

/** From now on it is looked at again. Of its legs only the broker knows whether they are there, and which price was passed is long ago. */
export const resumed = (protection: Protection, now: number): Protection => ({
  ...protection,
  state: 'armed',
  reason: null,
  isResumed: true,
  credentialsVersion: null,
  revision: protection.revision + FORGOTTEN_LEGS,
  legs: protection.legs.map((leg) => ({ ...leg, status: 'sending' })),
  refused: null,
  restoredAt: [],
  targetsRestoredAt: [],
  expiredAt: [],
  suspendedAt: null,
  closesFor: null,
  unprotectedSince: null,
  dueAt: timestamp(now),
});

export interface FoundThere {
  /** On the closing side, whoever set them. */
  readonly stops: readonly ShownStop[];
  /** Targets of this protection that rest there. */
  readonly targets: readonly (ShownOrder & { readonly quantity: Decimal })[];
  readonly names: 'ours' | 'theirs' | 'none';
  readonly at: Timestamp;
}

/** As it is wanted now that it is known what stands there: the newest stop of ours tells where it is to stand. */
export function withFound(protection: Protection, found: FoundThere): Protection {
  const stops = found.stops.flatMap((stop) => ownStop(protection, stop, found) ?? []);
  const [newest] = stops.toSorted((a, b) => b.leg.revision - a.leg.revision);
  const isKnown = ({ clientOrderId }: Pick<ProtectiveLeg, 'clientOrderId'>) =>
    protection.legs.some((leg) => namesOf(leg).includes(clientOrderId));
  const forgotten = stops.flatMap(({ leg }) => (isKnown(leg) ? [] : [leg]));
  const targets = found.targets.filter(
    (order) =>
      !isKnown(order) && !forgotten.some(({ clientOrderId }) => clientOrderId === order.clientOrderId),
  );
  const kind: StopKind = protection.stop?.kind ?? 'stop_loss';
  // A `protect` speaks of it, and nothing of it stands: it may be of a position that was closed since. What is asked for now counts alone.
  const isAsked = protection.isResumed === 'asked';
  if (isAsked && stops.length + found.targets.length === 0) return { ...anew(protection), isResumed: false };
  // By its shape alone it may be its owner's own, of another position: it stays where it stands, and all else is of before.
  const isDoubtful = isAsked && found.targets.length === 0 && stops.every(({ isGuessed }) => isGuessed);
  const price = isDoubtful ? newest?.shown : newest?.price;
  const kept = isDoubtful ? stopAlone(protection) : protection;
  return {
    ...kept,
    isResumed: false,
    stop: price ? { price, kind } : protection.stop,
    legs: [
      ...kept.legs,
      ...forgotten,
      ...targets.map(({ clientOrderId, brokerRef, quantity }) => ({
        ...forgottenLeg(protection, found, { clientOrderId, brokerRef, level: FORMER_TARGET, stop: null }),
        quantity,
      })),
    ],
  };
}

const namesOf = ({ clientOrderId, formerIds }: ProtectiveLeg): readonly ClientOrderId[] => [
  clientOrderId,
  ...formerIds,
];

/** By our id; where the broker shows none, by its own, or by the shape that we set. null: somebody else's. */
function ownStop(protection: Protection, stop: ShownStop, found: FoundThere) {
  const { clientOrderId, brokerRef, price } = stop;
  const known = protection.legs.find((leg) =>
    clientOrderId === null
      ? leg.stop !== null && brokerRef !== null && leg.brokerRef === brokerRef
      : namesOf(leg).includes(clientOrderId),
  );
  if (known) return { leg: known, price, shown: price, isGuessed: false };
  const named = clientOrderId === null ? null : legNamed(protection, clientOrderId);
  if (named === null && !isShaped(protection, stop, found)) return null;
  // Where the broker has one stop of the position, the leg that is known is that one.
  const only = found.names === 'none' ? protection.legs.find(({ level }) => level === 0) : undefined;
  if (only) return { leg: only, price: nearest(protection, price), shown: price, isGuessed: named === null };
  const revision = named?.revision ?? protection.revision - 1;
  const leg = forgottenLeg(protection, found, {
    clientOrderId: clientOrderId ?? protectiveId(protection.id, 0, revision),
    brokerRef,
    level: named === null || named.level === 0 ? 0 : FORMER_TARGET,
    stop,
  });
  const isGuessed = named === null;
  return {
    leg: { ...leg, revision },
    price: isGuessed ? nearest(protection, price) : price,
    shown: price,
    isGuessed,
  };
}

/** The only one there, without an id of ours: at a price that is saved it is ours. One without any id is, wherever it stands: ours overwrites it. */
function isShaped(
  { stop: wanted, legs }: Protection,
  { clientOrderId, price }: ShownStop,
  { names, stops }: FoundThere,
): boolean {
  const saved = [wanted?.price, ...legs.map(({ stop }) => stop)].filter((each) => each != null);
  if (clientOrderId !== null || names === 'ours' || stops.length !== 1) return false;
  return names === 'none' ? saved.length > 0 : saved.includes(price);
}

/** It may have followed the price since it was saved; further away nobody of us has set it. */
const nearest = ({ stop, side }: Protection, price: Decimal): Decimal =>
  stop !== null && isBetter(side, stop.price, price) ? stop.price : price;

/** One that was sent after what is saved. A target of another time leaves, and what it has filled is written down. */
const forgottenLeg = (
  { stop: wanted, targets, revision }: Protection,
  { at }: FoundThere,
  {
    clientOrderId,
    brokerRef,
    level,
    stop,
  }: Pick<ProtectiveLeg, 'clientOrderId' | 'brokerRef' | 'level'> & { readonly stop: ShownStop | null },
): ProtectiveLeg => ({
  ...{ level, revision, clientOrderId, brokerRef },
  formerIds: [],
  status: 'sending',
  kind: stop === null ? null : (wanted?.kind ?? 'stop_loss'),
  quantity: stop?.quantity ?? ZERO,
  limit: level === 0 ? null : (targets[0]?.price ?? ZERO),
  stop: stop?.price ?? null,
  triggerBy: null,
  filled: ZERO,
  sentAt: at,
  isLeaving: level !== 0,
  isStuck: false,
  missingSince: null,
  triggeredAt: null,
  replacedAt: null,
});
