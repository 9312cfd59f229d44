// The user's round trips: the list, what they came to, and one of them.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { TradesFilter } from '../../app/orders/read-trades.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { JsonReader, ListReader, Reader } from '../../app/reading.ts';
import { type AccountId, isUuid, type UserId } from '../../domain/ids.ts';
import { isTimezone } from '../../domain/timezone.ts';
import { answer, pageOf } from '../answers.ts';
import { sendList, wantsCsv } from '../csv-answers.ts';
import { TRADES_CSV } from '../csv-columns.ts';
import { RequestInvalid } from '../problem.ts';
import { pageOf as pageOfSchema } from '../schemas/parts.ts';
import { TradesQuery, TradesSummaryQuery } from '../schemas/queries.ts';
import { Trade, TradeStory, TradesSummary } from '../schemas/trade-answers.ts';
import { asTimestamp } from './trading.ts';

export interface TradesRoutes {
  readonly trades: ListReader<[user: UserId, page: PageRequest & { readonly filter: TradesFilter }]>;
  readonly tradesSummary: JsonReader<[user: UserId, request: TradesFilter & { readonly zone: string }]>;
  readonly trade: Reader<[user: UserId, id: string], object>;
}

/** Each page of a CSV looks through all trades anew, so that it has many rows. */
const ROWS_AT_ONCE = 2_000;

const COUNTED =
  'A trade is a round trip: from flat to flat, or to the other side, of one account and instrument, by average cost from the fills of your orders, less the fees that the broker reports in the account’s currency.';

export function tradesRoutes(server: FastifyInstance, deps: TradesRoutes): void {
  server.get<{ Querystring: Static<typeof TradesQuery> }>(
    '/trading/trades',
    {
      config: {
        access: 'user',
        isList: 'long',
        packs: true,
        doc: {
          id: 'listTrades',
          tag: 'Orders',
          summary: 'List the trades',
          description: `Those that are closed, the one that was closed last first. ${COUNTED} A part that you close belongs to its trade, which ends when nothing is left.`,
          answers: { 200: pageOfSchema(Trade) },
          denials: ['list_too_slow'],
          csv: true,
        },
      },
      schema: { querystring: TradesQuery },
    },
    async (request, reply) => {
      const filter = filterOf(request.query);
      const user = request.caller.user.id;
      const page = pageOf(request.query, isTradeCursor);
      if (!wantsCsv(request)) return deps.trades.asJson(user, { filter, ...page });
      const read = (next: PageRequest) => deps.trades.asCsv(user, { filter, ...next });
      return sendList(request, reply, TRADES_CSV, read, ROWS_AT_ONCE);
    },
  );

  server.get<{ Querystring: Static<typeof TradesSummaryQuery> }>(
    '/trading/trades/summary',
    {
      config: {
        access: 'user',
        isList: 'long',
        packs: true,
        doc: {
          id: 'summariseTrades',
          tag: 'Orders',
          summary: 'See what the trades came to',
          description: `How many were won, how deep it went, and the same by day, symbol, strategy, hour and what closed them. ${COUNTED} Amounts of several currencies are never added: they are those of \`currency\`, which without the filter is that of most trades. Of fewer than 20 trades there are figures, and no ratios.`,
          answers: { 200: TradesSummary },
          denials: ['list_too_slow'],
        },
      },
      schema: { querystring: TradesSummaryQuery },
    },
    async (request) => {
      const { tz: zone = 'UTC' } = request.query;
      if (!isTimezone(zone))
        throw new RequestInvalid('"tz" must be the name of a time zone, such as Europe/Berlin.');
      return deps.tradesSummary.asJson(request.caller.user.id, { ...filterOf(request.query), zone });
    },
  );

  server.get<{ Params: { id: string } }>(
    '/trading/trades/:id',
    {
      config: {
        access: 'user',
        isList: 'long',
        doc: {
          id: 'readTrade',
          tag: 'Orders',
          summary: 'Read a trade',
          description: 'With each of its fills. One that is open has no `closed_at` yet.',
          params: { id: 'The `id`: the order that opened it.' },
          answers: { 200: TradeStory },
          denials: ['not_found', 'list_too_slow'],
        },
      },
    },
    async (request, reply) =>
      answer(request, reply, await deps.trade.asValue(request.caller.user.id, request.params.id)),
  );
}

/** The order that opened it, and where that is not its last, the place of the leg. */
const isTradeId = (text: string): boolean => {
  const [order = '', leg = '1', ...more] = text.split('.');
  return isUuid(order) && /^[1-9]\d{0,3}$/.test(leg) && more.length === 0;
};

/** A trade, and when it was closed. */
const isTradeCursor = (text: string): boolean => {
  const [trade = '', closedAt = '0', ...more] = text.split('~');
  return isTradeId(trade) && /^\d{1,13}$/.test(closedAt) && more.length === 0;
};

function filterOf(query: Static<typeof TradesSummaryQuery>): TradesFilter {
  const { trading_account_id, simulation = false, real_money, symbol, strategy, closed_by, currency } = query;
  const { from, to } = query;
  return {
    simulation,
    ...(trading_account_id ? { accountId: trading_account_id as AccountId } : {}),
    ...(real_money === undefined ? {} : { realMoney: real_money }),
    ...(symbol ? { symbol } : {}),
    ...(strategy ? { strategy } : {}),
    ...(closed_by ? { closedBy: closed_by } : {}),
    ...(currency ? { currency } : {}),
    ...(from ? { from: asTimestamp('from', from) } : {}),
    ...(to ? { to: asTimestamp('to', to) } : {}),
  };
}
