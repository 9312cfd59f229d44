// The trading accounts of a user.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { AccountFields, Maker, NewAccount, Owner } from '../../app/accounts/accounts.ts';
import type { Left } from '../../app/accounts/remove-account.ts';
import type { HaltRequest } from '../../app/orders/halt.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { JsonReader } from '../../app/reading.ts';
import { decimal } from '../../domain/decimal.ts';
import type { Denial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer, pageOf } from '../answers.ts';
import {
  AccountBody,
  AccountChangeBody,
  CredentialsBody,
  DeleteAccountQuery,
  HaltBody,
} from '../schemas/account-requests.ts';
import { Account, AccountWithSecret, Resumed, WebhookSecret } from '../schemas/answers.ts';
import { Halted, LeftAtBroker } from '../schemas/halt-answers.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { NoBody, PageQuery } from '../schemas/requests.ts';
import { type AccountBrokerRoutes, accountBrokerRoutes } from './account-broker.ts';
import {
  ASKS_BROKER,
  action,
  documented,
  type OfAccount,
  type Outcome,
  ofOne,
  owners,
  session,
  user,
} from './of-account.ts';

export interface AccountRoutes extends AccountBrokerRoutes {
  readonly readAccounts: JsonReader<[user: UserId, page: PageRequest]>;
  readAccount(user: UserId, id: string): Outcome;
  createAccount(owner: Maker, account: NewAccount): Outcome;
  updateAccount(owner: Owner, id: string, fields: AccountFields): Outcome;
  removeAccount(
    owner: Owner,
    id: string,
    what: { readonly keepPositions: boolean },
  ): Promise<Denial | Left | null>;
  revealSecret(owner: Owner, id: string): Outcome;
  regenerateSecret(owner: Owner, id: string): Outcome;
  regenerateToken(owner: Owner, id: string): Outcome;
  replaceCredentials(owner: Owner, id: string, sealed: string): Outcome;
  haltAccount(request: HaltRequest): Outcome;
  resumeAccount(owner: Owner, id: string): Outcome;
  readonly clock: { now(): number };
}

const DEFAULT_MAX_REQUEST_AGE = 300;

export function accountRoutes(server: FastifyInstance, deps: AccountRoutes): void {
  const { contextOf, clock } = deps;
  const ownerOf = owners(contextOf);

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
    (request) => deps.readAccounts.asJson(request.caller.user.id, pageOf(request.query)),
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
      const { name, broker, environment, paper, guards } = request.body;
      const { max_request_age, allowed_symbols, out_of_sync, margin_mode, silence_after } = request.body;
      const { protection_defaults, unprotected, trigger_by } = request.body;
      const { quantity_multiplier: multiplier } = request.body;
      const made = await deps.createAccount(ownerOf(request), {
        name,
        broker,
        environment,
        maxRequestAge: max_request_age ?? DEFAULT_MAX_REQUEST_AGE,
        allowedSymbols: allowed_symbols ?? [],
        outOfSync: out_of_sync ?? 'hold',
        marginMode: margin_mode,
        guards,
        silenceAfter: silence_after ?? null,
        protectionDefaults: protection_defaults ?? null,
        unprotected: unprotected ?? 'close',
        triggerBy: trigger_by ?? 'last',
        quantityMultiplier: decimal(multiplier ?? 1),
        paper,
      });
      return answer(request, reply, made, 201);
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
          description:
            'What is not given stays as it is; `paper` is merged into what is there. `max_daily_loss` counts from the equity of now on the day on which it is set: 503 where that cannot be read.',
          answers: { 200: Account },
          denials: ['account_changed', 'too_many', ...ASKS_BROKER],
        }),
      ),
      schema: { body: AccountChangeBody },
    },
    async (request, reply) => {
      const { name, max_request_age: maxRequestAge, allowed_symbols: allowedSymbols, paper } = request.body;
      const { out_of_sync: outOfSync, guards, silence_after: silenceAfter } = request.body;
      const { require_platform_certificate: requirePlatformCertificate, margin_mode: marginMode } =
        request.body;
      const { protection_defaults: protectionDefaults, unprotected, trigger_by: triggerBy } = request.body;
      const { quantity_multiplier: multiplier } = request.body;
      const changed = await deps.updateAccount(ownerOf(request), request.params.id, {
        ...(name === undefined ? {} : { name }),
        ...(maxRequestAge === undefined ? {} : { maxRequestAge }),
        ...(allowedSymbols === undefined ? {} : { allowedSymbols }),
        ...(outOfSync === undefined ? {} : { outOfSync }),
        ...(marginMode === undefined ? {} : { marginMode }),
        ...(guards === undefined ? {} : { guards }),
        ...(silenceAfter === undefined ? {} : { silenceAfter }),
        ...(requirePlatformCertificate === undefined ? {} : { requirePlatformCertificate }),
        ...(protectionDefaults === undefined ? {} : { protectionDefaults }),
        ...(unprotected === undefined ? {} : { unprotected }),
        ...(triggerBy === undefined ? {} : { triggerBy }),
        ...(multiplier === undefined ? {} : { quantityMultiplier: decimal(multiplier) }),
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
          answers: { 200: LeftAtBroker, 204: null },
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
      answer(request, reply, await deps.revealSecret(ownerOf(request), request.params.id)),
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
      answer(request, reply, await deps.regenerateSecret(ownerOf(request), request.params.id)),
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

  accountBrokerRoutes(server, deps);

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
            'From now on every new entry is refused, simulated ones too; exits still pass. No rate limit and no list of addresses holds it back. `flatten` also closes all positions, unless the request comes from an address that is not on the list: then `flatten_error` says so.',
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
