// What the user's orders came to, by day and by symbol.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { PerformanceRequest, ShownPerformance } from '../../app/orders/read-performance.ts';
import type { Reader } from '../../app/reading.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { sendRows, wantsCsv } from '../csv-answers.ts';
import { performanceCsv } from '../csv-columns.ts';
import { Performance as PerformanceSchema } from '../schemas/performance-answers.ts';
import { PerformanceQuery } from '../schemas/queries.ts';
import { asTimestamp } from './trading.ts';

export interface PerformanceRoutes {
  readonly readPerformance: Reader<[user: UserId, request: PerformanceRequest], ShownPerformance>;
}

export function performanceRoutes(server: FastifyInstance, { readPerformance }: PerformanceRoutes): void {
  server.get<{ Querystring: Static<typeof PerformanceQuery> }>(
    '/trading/performance',
    {
      config: {
        access: 'user',
        isList: 'long',
        doc: {
          id: 'readPerformance',
          tag: 'Orders',
          summary: 'See what the orders came to',
          description:
            'Profit by average cost from the fills of your orders, less the fees that the broker reports: what was traded elsewhere is not in it, and a position that was opened before `from` keeps its cost. Days are UTC days, and only those on which something happened. As CSV: the days.',
          answers: { 200: PerformanceSchema },
          denials: ['list_too_slow'],
          csv: true,
        },
      },
      schema: { querystring: PerformanceQuery },
    },
    async (request, reply) => {
      const { trading_account_id, simulation = false, real_money, from, to } = request.query;
      const asked: PerformanceRequest = {
        ...(trading_account_id ? { accountId: trading_account_id as AccountId } : {}),
        simulation,
        ...(real_money === undefined ? {} : { realMoney: real_money }),
        ...(from ? { from: asTimestamp('from', from) } : {}),
        ...(to ? { to: asTimestamp('to', to) } : {}),
      };
      const user = request.caller.user.id;
      if (!wantsCsv(request)) return readPerformance.asJson(user, asked);
      const { currency, days } = await readPerformance.asValue(user, asked);
      return sendRows(request, reply, performanceCsv(currency), days);
    },
  );
}
