// What a user sees first.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { User } from '../../app/identity/access.ts';
import type { JsonReader } from '../../app/reading.ts';
import { millis, type Timestamp } from '../../domain/ids.ts';
import { RequestInvalid } from '../problem.ts';
import { Overview } from '../schemas/overview-answers.ts';
import { OverviewQuery } from '../schemas/queries.ts';
import { asTimestamp } from './trading.ts';

export interface OverviewRoutes {
  readonly readOverview: JsonReader<[user: User, dayStart: Timestamp | null]>;
  readonly clock: { now(): number };
}

/** A day with the hour that daylight saving gives back, and clocks that differ. */
const LONGEST_DAY_MS = 26 * 3_600_000;
const CLOCKS_APART_MS = 60_000;

export function overviewRoutes(server: FastifyInstance, { readOverview, clock }: OverviewRoutes): void {
  server.get<{ Querystring: Static<typeof OverviewQuery> }>(
    '/trading/overview',
    {
      config: {
        access: 'user',
        isList: true,
        packs: true,
        doc: {
          id: 'readOverview',
          tag: 'Orders',
          summary: 'See whether everything is in order',
          description:
            'What is to be done, the worst first, and how each account stands today. Read from what is saved: no broker is asked, so one that is down delays nothing. Real orders and positions only, unless stated otherwise: a rehearsal is no trouble.',
          answers: { 200: Overview },
          denials: ['list_too_slow'],
        },
      },
      schema: { querystring: OverviewQuery },
    },
    (request) => {
      const { day_start } = request.query;
      return readOverview.asJson(
        request.caller.user,
        day_start === undefined ? null : dayStartOf(day_start, clock.now()),
      );
    },
  );
}

function dayStartOf(text: string, now: number): Timestamp {
  const start = asTimestamp('day_start', text);
  const agoMs = now - millis(start);
  if (agoMs > LONGEST_DAY_MS || agoMs < -CLOCKS_APART_MS)
    throw new RequestInvalid('"day_start" must be within the last 26 hours.');
  return start;
}
