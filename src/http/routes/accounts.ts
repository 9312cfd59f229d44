// The trading accounts of a user.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { AccountFields, Maker, NewAccount, Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { HaltRequest } from '../../app/orders/halt.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { Denial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer, pageOf, secretAnswer } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import {
  Account,
  AccountWithSecret,
  Balance,
  Halted,
  Instrument,
  Positions,
  Resumed,
  VerifiedAccount,
  WebhookSecret,
} from '../schemas/answers.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import {
  AccountBody,
  AccountChangeBody,
  CredentialsBody,
  DeleteAccountQuery,
  HaltBody,
  NoBody,
  PageQuery,
  SymbolsQuery,
} from '../schemas/requests.ts';

type Outcome = Promise<Denial | object>;

export interface AccountRoutes {
  readAccounts(user: UserId, page: PageRequest): Promise<object>;
  readAccount(user: UserId, id: string): Outcome;
  createAccount(owner: Maker, account: NewAccount): Outcome;
  updateAccount(owner: Owner, id: string, fields: AccountFields): Outcome;
  removeAccount(owner: Owner, id: string, what: { readonly keepPositions: boolean }): Promise<Denial | null>;
  revealSecret(owner: Owner, id: string): Outcome;
  regenerateSecret(owner: Owner, id: string): Outcome;
  regenerateToken(owner: Owner, id: string): Outcome;
  replaceCredentials(owner: Owner, id: string, sealed: string): Outcome;
  verifyAccount(owner: Owner, id: string): Outcome;
  readPositions(user: UserId, id: string, book: { readonly simulation: boolean }): Outcome;
  resetSimulation(owner: Owner, id: string): Promise<Denial | null>;
  readBalance(user: UserId, id: string): Outcome;
  readSymbols(user: UserId, id: string, search: PageRequest & { query: string }): Outcome;
  haltAccount(request: HaltRequest): Outcome;
  resumeAccount(owner: Owner, id: string): Outcome;
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

const DEFAULT_MAX_REQUEST_AGE = 300;

type Doc = Omit<RouteDoc, 'tag'>;
const documented = (doc: Doc): RouteDoc => ({ tag: 'Trading accounts', ...doc });
/** Of a route for one account. */
const ofOne = (doc: Doc): RouteDoc =>
  documented({
    ...doc,
    params: { id: 'Of the trading account.' },
    denials: ['not_found', ...(doc.denials ?? [])],
  });
/** Of a route that asks the broker, through the worker. */
const ASKS_BROKER = ['worker_unavailable', 'broker_unavailable', 'store_unavailable'] as const;

export function accountRoutes(server: FastifyInstance, deps: AccountRoutes): void {
  const { contextOf, clock } = deps;
  const user = (doc: RouteDoc) => ({ config: { access: 'user', doc } }) as const;
  const session = (doc: RouteDoc) => ({ config: { access: 'session', doc } }) as const;
  const action = (doc: RouteDoc) => ({ ...user(doc), schema: { body: NoBody } });
  const ownerOf = (request: FastifyRequest): Maker => ({
    id: request.caller.user.id,
    user: request.caller.user,
    context: contextOf(request),
  });
  interface OfAccount {
    Params: { id: string };
  }

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/trading/accounts',
    {
      ...user(
        documented({
          id: 'listAccounts',
          summary: 'List the accounts',
          description: 'Oldest first.',
          answers: { 200: pageSchema(Account) },
        }),
      ),
      schema: { querystring: PageQuery },
    },
    (request) => deps.readAccounts(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof AccountBody> }>(
    '/trading/accounts',
    {
      ...user(
        documented({
          id: 'createAccount',
          summary: 'Make an account',
          description: 'A paper account is verified from its creation; others need credentials first.',
          answers: { 201: AccountWithSecret },
          denials: ['too_many'],
        }),
      ),
      schema: { body: AccountBody },
    },
    async (request, reply) => {
      const { name, broker, environment, max_request_age, allowed_symbols, paper } = request.body;
      const made = await deps.createAccount(ownerOf(request), {
        name,
        broker,
        environment,
        maxRequestAge: max_request_age ?? DEFAULT_MAX_REQUEST_AGE,
        allowedSymbols: allowed_symbols ?? [],
        paper,
      });
      return secretAnswer(request, reply, made, 201);
    },
  );

  server.get<OfAccount>(
    '/trading/accounts/:id',
    user(ofOne({ id: 'readAccount', summary: 'Read an account', answers: { 200: Account } })),
    async (request, reply) =>
      answer(request, reply, await deps.readAccount(request.caller.user.id, request.params.id)),
  );

  server.patch<OfAccount & { Body: Static<typeof AccountChangeBody> }>(
    '/trading/accounts/:id',
    {
      ...user(
        ofOne({
          id: 'changeAccount',
          summary: 'Change an account',
          description: 'What is not given stays as it is; `paper` is merged into what is there.',
          answers: { 200: Account },
          denials: ['account_changed', 'too_many'],
        }),
      ),
      schema: { body: AccountChangeBody },
    },
    async (request, reply) => {
      const { name, max_request_age: maxRequestAge, allowed_symbols: allowedSymbols, paper } = request.body;
      const changed = await deps.updateAccount(ownerOf(request), request.params.id, {
        ...(name === undefined ? {} : { name }),
        ...(maxRequestAge === undefined ? {} : { maxRequestAge }),
        ...(allowedSymbols === undefined ? {} : { allowedSymbols }),
        ...(paper === undefined ? {} : { paper }),
      });
      return answer(request, reply, changed);
    },
  );

  server.delete<OfAccount & { Querystring: Static<typeof DeleteAccountQuery> }>(
    '/trading/accounts/:id',
    {
      ...user(
        ofOne({
          id: 'deleteAccount',
          summary: 'Delete an account',
          description:
            'Its webhook stops at once; its orders stay readable. Refused while the broker shows a position, or cannot be asked, unless `keep_positions` is true.',
          answers: { 204: null },
          denials: ['orders_under_way', 'positions_open', ...ASKS_BROKER],
        }),
      ),
      schema: { body: NoBody, querystring: DeleteAccountQuery },
    },
    async (request, reply) => {
      const { keep_positions: keepPositions = false } = request.query;
      const removed = await deps.removeAccount(ownerOf(request), request.params.id, { keepPositions });
      return answer(request, reply, removed);
    },
  );

  server.get<OfAccount>(
    '/trading/accounts/:id/webhook-secret',
    session(
      ofOne({
        id: 'showWebhookSecret',
        summary: 'Show the webhook secret',
        description: 'Every look at it is in the audit log.',
        answers: { 200: WebhookSecret },
      }),
    ),
    async (request, reply) =>
      secretAnswer(request, reply, await deps.revealSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfAccount>(
    '/trading/accounts/:id/webhook-secret',
    {
      ...session(
        ofOne({
          id: 'regenerateWebhookSecret',
          summary: 'Make a new webhook secret',
          description: 'The old one stops at once.',
          answers: { 200: AccountWithSecret },
        }),
      ),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      secretAnswer(request, reply, await deps.regenerateSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfAccount>(
    '/trading/accounts/:id/webhook-token',
    {
      ...session(
        ofOne({
          id: 'regenerateWebhookToken',
          summary: 'Make a new webhook URL',
          description: 'The old token, and with it the old URL, stops at once.',
          answers: { 200: Account },
        }),
      ),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.regenerateToken(ownerOf(request), request.params.id)),
  );

  server.put<OfAccount & { Body: Static<typeof CredentialsBody> }>(
    '/trading/accounts/:id/credentials',
    {
      ...user(
        ofOne({
          id: 'replaceCredentials',
          summary: 'Store broker credentials',
          description:
            'Sealed by the client to the key of GET /auth/public-key: the service stores them unread, and only a trading worker can open them. They count as not verified until POST …/verify.',
          answers: { 200: Account },
          denials: ['credentials_invalid'],
        }),
      ),
      schema: { body: CredentialsBody },
    },
    async (request, reply) => {
      const { sealed } = request.body;
      const changed = await deps.replaceCredentials(ownerOf(request), request.params.id, sealed);
      return answer(request, reply, changed);
    },
  );

  server.post<OfAccount>(
    '/trading/accounts/:id/verify',
    action(
      ofOne({
        id: 'verifyAccount',
        summary: 'Verify the broker credentials',
        description:
          'The trading worker connects to the broker with them, and looks whether the account can be traded.',
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
        description: 'As the broker holds them now.',
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
        description: 'As the broker has it now.',
        answers: { 200: Balance },
        denials: ASKS_BROKER,
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.readBalance(request.caller.user.id, request.params.id)),
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

  server.post<OfAccount & { Body: Static<typeof HaltBody> }>(
    '/trading/accounts/:id/halt',
    {
      config: {
        access: 'user',
        isNeverHeldBack: true,
        doc: ofOne({
          id: 'haltAccount',
          summary: 'Halt an account: the kill switch',
          description:
            'From now on every new entry is refused, simulated ones too; exits still pass. No rate limit and no list of addresses holds it back. `flatten` closes all positions besides, unless it is asked from an address that is not on the list: `flatten_error` says so.',
          answers: { 200: Halted },
        }),
      },
      schema: { body: HaltBody },
    },
    async (request, reply) => {
      const halted = await deps.haltAccount({
        user: request.caller.user,
        accountId: request.params.id,
        flatten: request.body.flatten ?? false,
        arrivedAt: clock.now(),
        context: contextOf(request),
      });
      return answer(request, reply, halted);
    },
  );

  server.post<OfAccount>(
    '/trading/accounts/:id/resume',
    action(
      ofOne({
        id: 'resumeAccount',
        summary: 'Resume a halted account',
        answers: { 200: Resumed },
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.resumeAccount(ownerOf(request), request.params.id)),
  );
}
