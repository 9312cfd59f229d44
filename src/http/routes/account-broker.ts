// What is asked of an account's broker: its credentials, what is held, what can be traded; and the simulated book beside it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Alignment } from '../../app/orders/align.ts';
import type { Placed } from '../../app/orders/place-order.ts';
import type { PageRequest } from '../../app/pages.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer } from '../answers.ts';
import { sendDenial } from '../problem.ts';
import { VerifiedAccount } from '../schemas/answers.ts';
import { Balance, Candles, Instrument, OpenOrders, Positions, Quote } from '../schemas/broker-answers.ts';
import { AlignBody } from '../schemas/order-requests.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { CandlesQuery, QuoteQuery, SymbolsQuery } from '../schemas/requests.ts';
import { ASKS_BROKER, action, type OfAccount, type Outcome, ofOne, owners, user } from './of-account.ts';
import { NOT_PLACED, PLACED, sendPlaced } from './webhook.ts';

export interface AccountBrokerRoutes {
  verifyAccount(owner: Owner, id: string): Outcome;
  readPositions(user: UserId, id: string, book: { readonly simulation: boolean }): Outcome;
  resetSimulation(owner: Owner, id: string): Promise<Denial | null>;
  readBalance(user: UserId, id: string): Outcome;
  readOpenOrders(user: UserId, id: string): Outcome;
  alignPosition(request: Alignment): Promise<Denial | Placed>;
  readQuote(
    user: UserId,
    id: string,
    asked: { readonly symbol: string; readonly simulation: boolean },
  ): Outcome;
  readCandles(user: UserId, id: string, asked: Static<typeof CandlesQuery>): Outcome;
  readSymbols(user: UserId, id: string, search: PageRequest & { query: string }): Outcome;
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

export function accountBrokerRoutes(server: FastifyInstance, deps: AccountBrokerRoutes): void {
  const ownerOf = owners(deps.contextOf);

  server.post<OfAccount>(
    '/trading/accounts/:id/verify',
    action(
      ofOne({
        id: 'verifyAccount',
        summary: 'Verify the broker credentials',
        description:
          'The trading worker connects to the broker with them, and checks whether the account can be traded.',
        answers: { 200: VerifiedAccount },
        denials: [
          'credentials_missing',
          'credentials_unreadable',
          'credentials_rejected',
          'account_unfit',
          'account_changed',
          ...ASKS_BROKER,
        ],
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.verifyAccount(ownerOf(request), request.params.id)),
  );

  const positions =
    (simulation: boolean) => async (request: FastifyRequest<OfAccount>, reply: FastifyReply) =>
      answer(
        request,
        reply,
        await deps.readPositions(request.caller.user.id, request.params.id, { simulation }),
      );

  server.get<OfAccount>(
    '/trading/accounts/:id/positions',
    user(
      ofOne({
        id: 'listPositions',
        summary: 'List the positions',
        description:
          'As the broker holds them now, or held them less than a second ago if no order or fill came since.',
        answers: { 200: Positions },
        denials: ASKS_BROKER,
      }),
    ),
    positions(false),
  );

  server.get<OfAccount>(
    '/trading/accounts/:id/simulation/positions',
    user(
      ofOne({
        id: 'listSimulatedPositions',
        summary: 'List the simulated positions',
        description: 'Of the account’s simulated book, which no real order touches.',
        answers: { 200: Positions },
        denials: ASKS_BROKER,
      }),
    ),
    positions(true),
  );

  server.post<OfAccount & { Body: Static<typeof AlignBody> }>(
    '/trading/accounts/:id/align',
    {
      ...user(
        ofOne({
          id: 'alignPosition',
          summary: 'Move a position to where the strategy stands',
          description: 'Where the strategy last said it stands; whatever that takes is closed and opened.',
          answers: PLACED,
          denials: ['account_changed', ...NOT_PLACED, 'broker_unavailable'],
        }),
      ),
      schema: { body: AlignBody },
    },
    async (request, reply) => {
      const { symbol, simulation = false } = request.body;
      const outcome = await deps.alignPosition({
        user: request.caller.user,
        accountId: request.params.id,
        symbol,
        simulation,
        arrivedAt: deps.clock.now(),
        context: deps.contextOf(request),
      });
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : sendPlaced(reply, outcome);
    },
  );

  server.post<OfAccount>(
    '/trading/accounts/:id/simulation/reset',
    action(
      ofOne({
        id: 'resetSimulation',
        summary: 'Reset the simulated book',
        description: 'It is flat afterwards, as at first. Real positions stay as they are.',
        answers: { 204: null },
        denials: ['orders_under_way', ...ASKS_BROKER],
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.resetSimulation(ownerOf(request), request.params.id)),
  );

  server.get<OfAccount>(
    '/trading/accounts/:id/balance',
    user(
      ofOne({
        id: 'readBalance',
        summary: 'Read the balance',
        description:
          'As the broker has it now, or had it less than a second ago if no order or fill came since.',
        answers: { 200: Balance },
        denials: ASKS_BROKER,
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.readBalance(request.caller.user.id, request.params.id)),
  );

  server.get<OfAccount & { Querystring: Static<typeof QuoteQuery> }>(
    '/trading/accounts/:id/quote',
    {
      ...user(
        ofOne({
          id: 'readQuote',
          summary: 'Read what a symbol costs',
          description:
            'As the broker quotes it now, or did less than a second ago. One read of the broker; positions have their own `last_price`.',
          answers: { 200: Quote },
          denials: ASKS_BROKER,
        }),
      ),
      schema: { querystring: QuoteQuery },
    },
    async (request, reply) => {
      const { symbol, simulation = false } = request.query;
      const asked = { symbol, simulation };
      return answer(request, reply, await deps.readQuote(request.caller.user.id, request.params.id, asked));
    },
  );

  server.get<OfAccount & { Querystring: Static<typeof CandlesQuery> }>(
    '/trading/accounts/:id/candles',
    {
      ...user(
        ofOne({
          id: 'readCandles',
          summary: 'Read what a symbol was traded at',
          description:
            'The broker’s own candles, in UTC, of its real market, or what they were less than ten seconds ago. One read of the broker, after what orders need; whoever asks for the same shares it.',
          answers: { 200: Candles },
          denials: ASKS_BROKER,
        }),
      ),
      schema: { querystring: CandlesQuery },
    },
    async (request, reply) =>
      answer(
        request,
        reply,
        await deps.readCandles(request.caller.user.id, request.params.id, request.query),
      ),
  );

  server.get<OfAccount>(
    '/trading/accounts/:id/open-orders',
    user(
      ofOne({
        id: 'readOpenOrders',
        summary: 'Read the open orders at the broker',
        description:
          'Those that have not ended there, whoever sent them; `order_id` is that of ours. Stops that a broker keeps apart from its orders are with the positions.',
        answers: { 200: OpenOrders },
        denials: ASKS_BROKER,
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.readOpenOrders(request.caller.user.id, request.params.id)),
  );

  server.get<OfAccount & { Querystring: Static<typeof SymbolsQuery> }>(
    '/trading/accounts/:id/symbols',
    {
      ...user(
        ofOne({
          id: 'listSymbols',
          summary: 'Search what can be traded',
          answers: { 200: pageSchema(Instrument) },
          denials: ASKS_BROKER,
        }),
      ),
      schema: { querystring: SymbolsQuery },
    },
    async (request, reply) => {
      const { q: query = '', cursor = null, limit = 50 } = request.query;
      const search = { query, cursor, limit };
      return answer(
        request,
        reply,
        await deps.readSymbols(request.caller.user.id, request.params.id, search),
      );
    },
  );
}
