// Sends what is waiting: to each destination one after the other and in order, to many at a time. One that fails is left alone
// for a while, each time longer; one that says that it is gone, or took nothing for a day, is dead until its owner revives it.
// A message that it goes on to refuse is given up earlier, for the sake of those behind it.
// A message keeps its id over all attempts: whoever gets it twice, after a crash that followed the sending, can tell.

import type { Db, Statement } from '../../data/engine/db.ts';
import {
  claimTrial,
  type Delivery,
  endDelivery,
  giveUpOld,
  nextDelivery,
  noteAttempt,
  noteDeliveryError,
  type Trial,
  waitingTrials,
} from '../../data/notifications/deliveries.ts';
import {
  claimDestination,
  type Destination,
  destinationById,
  dueDestinations,
  noteFailure,
  noteRefusal,
  noteSuccess,
  releaseDestination,
  reviveDestination,
} from '../../data/notifications/destinations.ts';
import type { Counters } from '../../domain/counters.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import {
  type Attempt,
  DELIVERY_LIFE_MS,
  foldedText,
  isHopeless,
  type Message,
  outcomeOf,
  pauseMs,
} from '../../domain/told/notification.ts';
import type { Address, Channels } from '../../notify/channel.ts';
import type { SecretBox } from '../secret-box.ts';

export interface DeliverDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly channels: Channels;
  readonly counters: Pick<Counters, 'notified'>;
  readonly log: { warn(context: object, text: string): void };
}

/** Destinations that are sent to at the same time. */
const AT_ONCE = 20;
/** Longer than what is sent with one claim can take. */
const CLAIM_MS = 60_000;
/** With one claim: chats take about one in a second. */
const MOST_IN_A_ROW = 3;

/** Messages that somebody waits for: to those that their owners paused and to the dead too, and behind no other. One that arrives revives. */
export async function deliverTrials(deps: DeliverDeps): Promise<void> {
  await Promise.all((await waitingTrials(deps.db, AT_ONCE)).map((trial) => deliverTrial(deps, trial)));
}

async function deliverTrial(deps: DeliverDeps, trial: Trial): Promise<void> {
  const { db, clock } = deps;
  if ((await db.commit([claimTrial(trial)])) !== null) return;
  const destination = await destinationById(db, trial.destinationId);
  if (!destination) return;
  const now = timestamp(clock.now());
  if (destination.pausedBecause) {
    await db.commit([endDelivery(trial.id, 'given_up', 'It is paused until you confirm it.', now)]);
    return;
  }
  const attempt = await send(deps, destination, messageOf(trial));
  await db.commit(
    attempt.outcome === 'delivered'
      ? [endDelivery(trial.id, 'delivered', null, now), ...reviveDestination(destination, now)]
      : [
          endDelivery(trial.id, 'given_up', attempt.error, now),
          noteRefusal(destination.id, attempt.error, now),
        ],
  );
}

/** Returns to how many it was sent. */
export async function deliver(deps: DeliverDeps): Promise<number> {
  const due = await dueDestinations(deps.db, timestamp(deps.clock.now()), AT_ONCE);
  await Promise.all(
    due.map((destination) =>
      deliverTo(deps, destination).catch((fault: unknown) =>
        deps.log.warn(
          { fault, destination: destination.id },
          'a destination could not be told; it will be again',
        ),
      ),
    ),
  );
  return due.length;
}

async function deliverTo(deps: DeliverDeps, destination: Destination): Promise<void> {
  const { db, clock } = deps;
  const { id, version } = destination;
  if ((await db.commit([claimDestination(destination, timestamp(clock.now() + CLAIM_MS))])) !== null) return;
  const tooOld = timestamp(clock.now() - DELIVERY_LIFE_MS);
  await db.commit([giveUpOld(id, tooOld, timestamp(clock.now()))]);
  let health: Pick<Destination, 'id' | 'failures' | 'failingSince'> = destination;
  for (let sent = 0; sent < MOST_IN_A_ROW; sent++) {
    const delivery = await nextDelivery(db, id, timestamp(clock.now()));
    if (!delivery || (await db.commit([noteAttempt(delivery.id)])) !== null) break;
    const attempt = outcomeOf(await send(deps, destination, messageOf(delivery)), delivery, clock.now());
    await db.commit(after(health, delivery, attempt, clock.now()));
    if (attempt.outcome === 'delivered') health = { id, failures: 0, failingSince: null };
    // It has its pause now; and who is dead needs none.
    if (attempt.outcome === 'again' || attempt.outcome === 'gone') return;
  }
  await db.commit([releaseDestination(id, version + 1)]);
}

const messageOf = ({ id, message, folded }: Delivery): Message => ({
  ...message,
  id,
  text: foldedText(message.text, folded),
});

async function send(
  { secrets, channels, counters }: Pick<DeliverDeps, 'secrets' | 'channels' | 'counters'>,
  { id, kind, sealedAddress }: Pick<Destination, 'id' | 'kind' | 'sealedAddress'>,
  message: Message,
): Promise<Attempt> {
  const address = JSON.parse(secrets.open(sealedAddress, id)) as object;
  const attempt = await channels.send({ ...address, kind } as Address, message);
  counters.notified(kind, attempt.outcome === 'delivered' ? 'sent' : 'failed');
  return attempt;
}

function after(
  { id, failures, failingSince }: Pick<Destination, 'id' | 'failures' | 'failingSince'>,
  delivery: Delivery,
  attempt: Attempt,
  now: number,
): Statement[] {
  const at = timestamp(now);
  switch (attempt.outcome) {
    case 'delivered':
      return [endDelivery(delivery.id, 'delivered', null, at), noteSuccess(id, at)];
    case 'unfit':
      // It was there, and did not like this one.
      return [endDelivery(delivery.id, 'given_up', attempt.error, at), noteRefusal(id, attempt.error, at)];
    case 'again': {
      const failed = failures + 1;
      const waitUntil = timestamp(now + pauseMs(failed, Math.random(), attempt.retryAfterMs));
      const failingMs = failures === 0 || failingSince === null ? 0 : now - millis(failingSince);
      const isDead = isHopeless({ failures: failed, failingMs });
      return [
        noteDeliveryError(delivery.id, attempt.error),
        ...noteFailure(id, { error: attempt.error, now: at, waitUntil, isDead }),
      ];
    }
    case 'gone':
      return [
        noteDeliveryError(delivery.id, attempt.error),
        ...noteFailure(id, { error: attempt.error, now: at, waitUntil: at, isDead: true }),
      ];
  }
}
