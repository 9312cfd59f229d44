// Where users want to be told: their destinations, of which nobody sees the addresses once they are given.

import { randomBytes } from 'node:crypto';
import type { Db, Reads, Statement } from '../../data/engine/db.ts';
import { sessionHolds } from '../../data/identity/sessions.ts';
import { endOfDelivery, insertDelivery, listDeliveries } from '../../data/notifications/deliveries.ts';
import {
  changeDestination,
  type Destination,
  type DestinationChange,
  deleteDestination,
  findDestination,
  insertDestination,
  listDestinations,
} from '../../data/notifications/destinations.ts';
import { type OwnAccount, ownAccounts } from '../../data/notifications/sources.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { type AccountId, isUuid, timestamp, type UserId } from '../../domain/ids.ts';
import { type GivenAddress, readAddress } from '../../domain/told/destination-address.ts';
import { type EventKind, nextSummary, stateOf } from '../../domain/told/notification.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import type { Maker, Owner } from '../accounts/accounts.ts';
import { audit } from '../audit/audit.ts';
import { checkAddress, type Verifying } from '../identity/addresses.ts';
import { newId } from '../new-id.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';
import type { SecretBox } from '../secret-box.ts';

export interface DestinationDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly secrets: SecretBox;
  /** Of the operator's own network, to which notifications may go. */
  readonly privateNetworks: readonly unknown[];
}

export interface NewDestination extends GivenAddress {
  readonly name: string;
  readonly events: readonly EventKind[];
  readonly accountIds: readonly string[] | null;
  readonly summaryHour: number;
}

const DEEDS = {
  added: 'notification_destination_added',
  changed: 'notification_destination_changed',
  removed: 'notification_destination_removed',
  tested: 'notification_destination_tested',
} as const;

const entry = (
  owner: Owner,
  action: keyof typeof DEEDS,
  id: string,
  now: number,
  metadata: Readonly<Record<string, unknown>> = {},
): Statement =>
  audit(
    owner.context,
    {
      userId: owner.id,
      action: DEEDS[action],
      failure: null,
      resource: { type: 'notification_destination', id },
      metadata,
    },
    now,
  );

const noSuch = (): Denial => deny('not_found', { detail: 'You have no such destination.' });

/** `own`: the accounts that are still there. One that is of removed accounts only is of none, and never of all. */
const show = (destination: Destination, own: ReadonlySet<AccountId>) => ({
  id: destination.id,
  kind: destination.kind,
  name: destination.name,
  address: destination.shownAs,
  events: destination.events,
  trading_account_ids: destination.accountIds?.filter((id) => own.has(id)) ?? null,
  summary_hour: destination.summaryHour,
  ...stateOf(destination),
  paused_because: destination.pausedBecause,
  last_success_at: destination.lastSuccessAt,
  last_error: destination.failingSince || destination.deadSince ? destination.lastError : null,
  dropped: destination.dropped,
  created_at: destination.createdAt,
});

async function shown(db: Reads, user: UserId, destinations: readonly Destination[]) {
  const named = new Set(destinations.flatMap(({ accountIds }) => accountIds ?? []));
  const own = new Set(present(await ownAccounts(db, user, [...named])));
  return destinations.map((destination) => show(destination, own));
}

export async function readDestinations({ db }: Pick<DestinationDeps, 'db'>, user: UserId) {
  const destinations = await listDestinations(db.lists, user);
  return { items: await shown(db.lists, user, destinations), next_cursor: null };
}

export async function readDestination({ db }: Pick<DestinationDeps, 'db'>, user: UserId, id: string) {
  const found = isUuid(id) ? await findDestination(db, user, id) : null;
  if (!found) return noSuch();
  const [destination] = await shown(db, user, [found]);
  return destination ?? noSuch();
}

/** A webhook's signing secret is in this answer and nowhere else. */
export async function addDestination(deps: DestinationDeps & Verifying, owner: Maker, given: NewDestination) {
  const { db, clock, secrets } = deps;
  const unshown = checkAddress(deps, owner.user);
  if (unshown) return unshown;
  const read = readAddress(given, { mayBePlain: deps.privateNetworks.length > 0 });
  if ('problem' in read) return deny('notification_address_invalid', { detail: read.problem });
  const accountIds = await meant(db, owner.id, given.accountIds);
  if (accountIds === 'unknown') return unknownAccount();
  const now = clock.now();
  const id = newId();
  // The shortest that the specification suggests, and enough.
  const secret = given.kind === 'webhook' ? `whsec_${randomBytes(32).toString('base64')}` : null;
  const address = secret === null ? read.address : { ...read.address, secret };
  const { kind, name, events, summaryHour } = given;
  const lost = await db.commit([
    ...insertDestination({
      ...{ id, kind, name, events, accountIds, summaryHour },
      userId: owner.id,
      shownAs: read.shownAs,
      sealedAddress: secrets.seal(JSON.stringify(address), id),
      nextSummaryAt: events.includes('daily_summary') ? timestamp(nextSummary(summaryHour, now)) : null,
      createdAt: timestamp(now),
    }),
    ...(owner.sessionId ? [sessionHolds(owner.sessionId)] : []),
    entry(owner, 'added', id, now, { kind, address: read.shownAs, events }),
  ]);
  if (lost === 'session') return deny('unauthenticated');
  if (lost !== null) return deny('too_many');
  const made = await readDestination(deps, owner.id, id);
  return secret === null ? made : { ...made, secret };
}

async function meant(
  db: Db,
  user: UserId,
  ids: readonly string[] | null,
): Promise<readonly AccountId[] | null | 'unknown'> {
  if (ids === null) return null;
  const wanted = [...new Set(ids)];
  if (!wanted.every(isUuid)) return 'unknown';
  const own = await ownAccounts(db, user, wanted as AccountId[]);
  // One that was removed since the user read it is left out, and no mistake of theirs.
  return own.length === wanted.length ? present(own) : 'unknown';
}

const present = (own: readonly OwnAccount[]): AccountId[] =>
  own.flatMap(({ id, isRemoved }) => (isRemoved ? [] : [id]));

const unknownAccount = (): Denial =>
  deny('request_invalid', {
    detail: 'trading_account_ids must be ids of your own accounts, or null for all.',
  });

export interface GivenChange {
  readonly name?: string;
  readonly events?: readonly EventKind[];
  readonly accountIds?: readonly string[] | null;
  readonly summaryHour?: number;
  readonly paused?: boolean;
}

export async function changeUserDestination(
  deps: DestinationDeps,
  owner: Owner,
  id: string,
  given: GivenChange,
) {
  const { db, clock } = deps;
  const before = isUuid(id) ? await findDestination(db, owner.id, id) : null;
  if (!before) return noSuch();
  const accountIds = given.accountIds === undefined ? undefined : await meant(db, owner.id, given.accountIds);
  if (accountIds === 'unknown') return unknownAccount();
  const now = clock.now();
  const { name, events, summaryHour, paused } = given;
  const wantsSummary = (events ?? before.events).includes('daily_summary');
  const change: DestinationChange = {
    ...(name === undefined ? {} : { name }),
    ...(events === undefined ? {} : { events }),
    ...(accountIds === undefined ? {} : { accountIds }),
    ...(summaryHour === undefined ? {} : { summaryHour }),
    ...(events === undefined && summaryHour === undefined
      ? {}
      : {
          nextSummaryAt: wantsSummary ? timestamp(nextSummary(summaryHour ?? before.summaryHour, now)) : null,
        }),
    ...(paused === true ? { pausedAt: timestamp(now) } : {}),
    ...(paused === false ? { resumedAt: timestamp(now) } : {}),
  };
  const { name: _name, ...told } = given;
  const lost = await db.commit([
    ...(owner.sessionId ? [sessionHolds(owner.sessionId)] : []),
    ...changeDestination(owner.id, id, change),
    entry(owner, 'changed', id, now, told),
  ]);
  if (lost === 'session') return deny('unauthenticated');
  return lost === null ? readDestination(deps, owner.id, id) : noSuch();
}

/** Null: done. */
export async function removeDestination(
  { db, clock }: Pick<DestinationDeps, 'db' | 'clock'>,
  owner: Owner,
  id: string,
): Promise<Denial | null> {
  if (!isUuid(id)) return noSuch();
  const unit = [...deleteDestination(owner.id, id), entry(owner, 'removed', id, clock.now())];
  return (await db.commit(unit)) === null ? null : noSuch();
}

export interface TrialDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly store: Pick<Store, 'countInWindow'>;
  readonly baseUrl: string;
}

const UNCONFIRMED =
  'It is paused until you confirm it, because somebody else may have been in your account: nothing was sent.';

/** Of one user: a trial is a request to a stranger, at once. */
const MOST_TRIALS = 5;
const TRIALS_MS = 60_000;
/** Somewhat longer than a destination may take. */
const MOST_LOOKS = 60;
const BETWEEN_LOOKS_MS = 250;

/**
 * Has a message sent now, and says what came of it. Sent is it by the verifier, as all others: an API process needs no way
 * out, and a user's address is connected to from one place only.
 */
export async function tryDestination(deps: TrialDeps, owner: Owner, id: string) {
  const { db, clock, store, baseUrl, wait } = deps;
  const destination = isUuid(id) ? await findDestination(db, owner.id, id) : null;
  if (!destination) return noSuch();
  if (destination.pausedBecause) return { delivered: false, error: UNCONFIRMED };
  const refusal = await countTrial(store, owner.id);
  if (refusal) return refusal;
  const now = clock.now();
  const at = timestamp(now);
  const trial = newId();
  await db.commit([
    insertDelivery({
      id: trial,
      destinationId: id,
      event: 'test',
      message: {
        event: 'test',
        at,
        title: 'A test from Fillpath',
        text: 'If you can read this, notifications arrive here.',
        link: `${baseUrl}/notifications`,
        data: { destination_id: id },
      },
      createdAt: at,
      dueAt: at,
    }),
    entry(owner, 'tested', id, now),
  ]);
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    await wait(BETWEEN_LOOKS_MS);
    const end = await endOfDelivery(db, trial);
    if (end) return { delivered: end.outcome === 'delivered', error: end.error };
  }
  return { delivered: false, error: 'It is still on its way: no verifier has sent it yet.' };
}

/** Without the store nobody tries: it can wait. */
async function countTrial(store: Pick<Store, 'countInWindow'>, user: UserId): Promise<Denial | null> {
  try {
    const counted = await store.countInWindow(`notify:{${user}}`, MOST_TRIALS, TRIALS_MS);
    if (counted.allowed) return null;
    return deny('rate_limited', { retryAfter: Math.max(1, Math.ceil(counted.retryAfterMs / 1000)) });
  } catch (fault) {
    if (fault instanceof StoreUnavailable)
      return deny('store_unavailable', { detail: 'Try again in a moment.' });
    throw fault;
  }
}

export async function readDeliveries(
  { db }: Pick<DestinationDeps, 'db'>,
  user: UserId,
  id: string,
  page: PageRequest,
) {
  const destination = isUuid(id) ? await findDestination(db.lists, user, id) : null;
  if (!destination) return noSuch();
  return pageOf(await listDeliveries(db.lists, id, onePage(page)), page, (delivery) => ({
    id: delivery.id,
    event: delivery.event,
    title: delivery.message.title,
    text: delivery.message.text,
    folded: delivery.folded,
    outcome: delivery.outcome,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    created_at: delivery.createdAt,
    ended_at: delivery.endedAt,
  }));
}
