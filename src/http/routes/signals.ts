// What arrived at the user's webhooks, and what would become of a message or an order: nothing is sent here.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { PlanRequest } from '../../app/orders/plan-order.ts';
import type { SignalFilter } from '../../app/orders/read-signals.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { ListReader } from '../../app/reading.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import { type AccountId, type GroupId, isUuid, type UserId } from '../../domain/ids.ts';
import { answer } from '../answers.ts';
import { sendList, wantsCsv } from '../csv-answers.ts';
import { SIGNALS_CSV } from '../csv-columns.ts';
import { RequestInvalid, sendDenial } from '../problem.ts';
import { CheckBody, PlanBody } from '../schemas/order-requests.ts';
import { pageOf } from '../schemas/parts.ts';
import { SignalsQuery } from '../schemas/queries.ts';
import { CheckedMessage, PlannedOrder, SignalRecord, SignalSummary } from '../schemas/signal-answers.ts';
import { ASKS_BROKER, type OfAccount, ofOne } from './of-account.ts';
import { asTimestamp, quantityOf } from './trading.ts';

export interface SignalRoutes {
  readonly readSignals: ListReader<[user: UserId, page: PageRequest & { filter: SignalFilter }]>;
  readSignal(user: UserId, id: string): Promise<Denial | { readonly signal: object }>;
  checkMessage(
    user: UserId,
    account: string,
    message: { message: string; simulation: boolean },
  ): Promise<Denial | object>;
  planOrder(request: PlanRequest): Promise<Denial | object>;
}

export function signalRoutes(server: FastifyInstance, deps: SignalRoutes): void {
  server.get<{ Querystring: Static<typeof SignalsQuery> }>(
    '/trading/signals',
    {
      config: {
        access: 'user',
        packs: true,
        doc: {
          id: 'listSignals',
          tag: 'Signals',
          summary: 'List what arrived at the webhooks',
          description: 'Newest first: what became an order, what was refused and why, and what reported.',
          answers: { 200: pageOf(SignalSummary) },
          csv: true,
        },
      },
      schema: { querystring: SignalsQuery },
    },
    async (request, reply) => {
      const { limit = 50, cursor, trading_account_id, outcome, code, symbol, from, to } = request.query;
      const { order_status, real_money, group_id, instrument } = request.query;
      if (cursor !== undefined && !isUuid(cursor))
        throw new RequestInvalid('"cursor" must be the next_cursor of the page before.');
      const filter: SignalFilter = {
        ...(trading_account_id ? { accountId: trading_account_id as AccountId } : {}),
        ...(group_id ? { groupId: group_id as GroupId } : {}),
        ...(outcome ? { outcome } : {}),
        ...(order_status ? { orderStatus: order_status } : {}),
        ...(real_money === undefined ? {} : { realMoney: real_money }),
        ...(code ? { code } : {}),
        ...(symbol ? { symbol } : {}),
        ...(instrument ? { instrument } : {}),
        ...(from ? { from: asTimestamp('from', from) } : {}),
        ...(to ? { to: asTimestamp('to', to) } : {}),
      };
      const user = request.caller.user.id;
      if (wantsCsv(request))
        return sendList(request, reply, SIGNALS_CSV, (page) =>
          deps.readSignals.asCsv(user, { filter, ...page }),
        );
      return deps.readSignals.asJson(user, { filter, limit, cursor: cursor ?? null });
    },
  );

  server.get<{ Params: { id: string } }>(
    '/trading/signals/:id',
    {
      config: {
        access: 'user',
        doc: {
          id: 'readSignal',
          tag: 'Signals',
          summary: 'Read a signal',
          description:
            'With the message as it was received, the secret masked, and what every check said of it.',
          params: { id: 'Of the signal.' },
          answers: { 200: SignalRecord },
          denials: ['not_found'],
        },
      },
    },
    async (request, reply) => {
      const found = await deps.readSignal(request.caller.user.id, request.params.id);
      return isDenial(found) ? sendDenial(request, reply, found) : found.signal;
    },
  );

  server.post<OfAccount & { Body: Static<typeof CheckBody> }>(
    '/trading/accounts/:id/check',
    {
      config: {
        access: 'user',
        isNeverHeldBack: true,
        doc: {
          ...ofOne({
            id: 'checkMessage',
            summary: 'Check a message before it is sent',
            description:
              'What every check of the webhook would say of it, the order that it would give, and a message that works, also from those that were written for TradersPost, 3Commas, CrossTrade, PineConnector and OpenAlgo, from an order as Alpaca takes it, and from a script’s own exits: their stops and targets are turned into ours, and what is lost is named. Placeholders are filled in as by a strategy that buys 1 from flat. Nothing is sent, counted or remembered.',
            answers: { 200: CheckedMessage },
            denials: ['rate_limited'],
          }),
          tag: 'Signals',
        },
      },
      schema: { body: CheckBody },
    },
    async (request, reply) => {
      const { message, simulation = false } = request.body;
      const checked = await deps.checkMessage(request.caller.user.id, request.params.id, {
        message,
        simulation,
      });
      return answer(request, reply, checked);
    },
  );

  server.post<{ Body: Static<typeof PlanBody> }>(
    '/trading/order/plan',
    {
      config: {
        access: 'user',
        isNeverHeldBack: true,
        doc: {
          id: 'planOrder',
          tag: 'Orders',
          summary: 'See what an order would do',
          description:
            'On the position as it is now: of an account, or of each member of a group, with its factor and its own symbol. Nothing is sent.',
          answers: { 200: PlannedOrder },
          denials: [
            'not_found',
            'group_not_found',
            'protection_unsupported',
            'order_kind_unsupported',
            ...ASKS_BROKER,
          ],
        },
      },
      schema: { body: PlanBody },
    },
    async (request, reply) => {
      const { body } = request;
      const plan = await deps.planOrder({
        userId: request.caller.user.id,
        accountId: body.trading_account_id,
        groupId: body.group_id,
        action: body.action,
        orderType: body.order_type ?? null,
        symbol: body.symbol,
        quantity: quantityOf(body),
        simulation: body.simulation ?? false,
        fields: body,
      });
      return answer(request, reply, plan);
    },
  );
}
