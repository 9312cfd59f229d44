// A sign of life once a day, at the hour that the user has chosen: whoever does not get it knows that something is wrong.

import { type Destination, dueSummaries, nextSummaryOf } from '../../data/notifications/destinations.ts';
import { countSignals, standingAccounts } from '../../data/orders/standing.ts';
import { BROKERS } from '../../domain/brokers.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import { nextSummary } from '../../domain/told/notification.ts';
import { type Summary, summaryEvent } from '../../domain/told/summary-event.ts';
import { readDay } from '../orders/read-day.ts';
import { type TellDeps, tell } from './tell.ts';

const DAY_MS = 86_400_000;
const AT_ONCE = 10;
/** Of those that earned something; nobody reads more of them in a message. */
const MOST_ACCOUNTS = 10;

/** One that cannot be made is tried again after this; until then it is in nobody's way. */
const AGAIN_MS = 600_000;

export interface SummaryDeps extends TellDeps {
  readonly log: { warn(context: object, text: string): void };
}

export async function summarise(deps: SummaryDeps): Promise<void> {
  const { db, clock, log } = deps;
  const now = clock.now();
  for (const destination of await dueSummaries(db, timestamp(now), AT_ONCE))
    await summariseTo(deps, destination, now).catch(async (fault: unknown) => {
      // Whoever comes first says it.
      if ((await db.commit([nextSummaryOf(destination, timestamp(now + AGAIN_MS))])) === null)
        log.warn({ fault, destination: destination.id }, 'a summary could not be made; it will be later');
    });
}

async function summariseTo(deps: TellDeps, destination: Destination, now: number): Promise<void> {
  const event = summaryEvent(destination.userId, timestamp(now), await summaryOf(deps, destination, now));
  const next = timestamp(nextSummary(destination.summaryHour, now));
  // After a day without a process nobody wants to hear of the day before.
  const isLate = destination.nextSummaryAt !== null && now - millis(destination.nextSummaryAt) > DAY_MS / 2;
  const messages = isLate ? [] : await tell(deps, [{ event, begunAt: event.at }], destination.id);
  await deps.db.commit([nextSummaryOf(destination, next), ...messages]);
}

async function summaryOf({ db }: TellDeps, destination: Destination, now: number): Promise<Summary> {
  const { userId, accountIds } = destination;
  const from = timestamp(now - DAY_MS);
  const isMeant = (id: string) => accountIds === null || accountIds.some((each) => each === id);
  const accounts = (await standingAccounts(db.lists, userId)).filter(({ id }) => isMeant(id));
  const day = await readDay(db, userId, from);
  const signals = await countSignals(db.lists, userId, from);
  const { executed, rejected, under_way } = day.signals;
  const counted = accounts.map(({ id }) => day.accounts.get(id));
  return {
    signals: executed + rejected + under_way + signals.refused + signals.reported,
    refused: signals.refused,
    orders: counted.reduce((sum, each) => sum + (each?.real ?? 0), 0),
    simulated: counted.reduce((sum, each) => sum + (each?.simulated ?? 0), 0),
    executed,
    rejected,
    profits: accounts
      .filter(({ id }) => (day.accounts.get(id)?.real ?? 0) > 0)
      .slice(0, MOST_ACCOUNTS)
      .map(({ id, name, brokerName }) => ({
        account: name,
        currency: BROKERS[brokerName].currency,
        realised: day.profits.get(id)?.realised ?? null,
      })),
  };
}
