// The trading accounts of a user.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { AccountFields, NewAccount, Owner } from '../app/accounts.ts';
import type { RequestContext } from '../app/audit.ts';
import type { HaltRequest } from '../app/halt.ts';
import type { PageRequest } from '../app/pages.ts';
import type { Denial } from '../domain/denial.ts';
import type { UserId } from '../domain/ids.ts';
import { answer, pageOf, secretAnswer } from './answers.ts';
import {
  AccountBody,
  AccountChangeBody,
  CredentialsBody,
  HaltBody,
  NoBody,
  PageQuery,
  SymbolsQuery,
} from './schemas.ts';

type Outcome = Promise<Denial | object>;

export interface AccountRoutes {
  readAccounts(user: UserId, page: PageRequest): Promise<object>;
  readAccount(user: UserId, id: string): Outcome;
  createAccount(owner: Owner, account: NewAccount): Outcome;
  updateAccount(owner: Owner, id: string, fields: AccountFields): Outcome;
  removeAccount(owner: Owner, id: string): Promise<Denial | null>;
  revealSecret(owner: Owner, id: string): Outcome;
  regenerateSecret(owner: Owner, id: string): Outcome;
  regenerateToken(owner: Owner, id: string): Outcome;
  replaceCredentials(owner: Owner, id: string, sealed: string): Outcome;
  verifyAccount(owner: Owner, id: string): Outcome;
  readPositions(user: UserId, id: string): Outcome;
  readSymbols(user: UserId, id: string, search: PageRequest & { query: string }): Outcome;
  haltAccount(request: HaltRequest): Outcome;
  resumeAccount(owner: Owner, id: string): Outcome;
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

const DEFAULT_MAX_REQUEST_AGE = 300;

export function accountRoutes(server: FastifyInstance, deps: AccountRoutes): void {
  const { contextOf, clock } = deps;
  const user = { config: { access: 'user' } } as const;
  const action = { ...user, schema: { body: NoBody } };
  const ownerOf = (request: FastifyRequest): Owner => ({
    id: request.caller.user.id,
    context: contextOf(request),
  });
  interface OfAccount {
    Params: { id: string };
  }

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/trading/accounts',
    { ...user, schema: { querystring: PageQuery } },
    (request) => deps.readAccounts(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof AccountBody> }>(
    '/trading/accounts',
    { ...user, schema: { body: AccountBody } },
    async (request, reply) => {
      const { name, broker, max_request_age, allowed_symbols, paper } = request.body;
      const made = await deps.createAccount(ownerOf(request), {
        name,
        broker,
        maxRequestAge: max_request_age ?? DEFAULT_MAX_REQUEST_AGE,
        allowedSymbols: allowed_symbols ?? [],
        paper,
      });
      return secretAnswer(request, reply, made, 201);
    },
  );

  server.get<OfAccount>('/trading/accounts/:id', user, async (request, reply) =>
    answer(request, reply, await deps.readAccount(request.caller.user.id, request.params.id)),
  );

  server.patch<OfAccount & { Body: Static<typeof AccountChangeBody> }>(
    '/trading/accounts/:id',
    { ...user, schema: { body: AccountChangeBody } },
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

  server.delete<OfAccount>('/trading/accounts/:id', action, async (request, reply) =>
    answer(request, reply, await deps.removeAccount(ownerOf(request), request.params.id)),
  );

  server.get<OfAccount>(
    '/trading/accounts/:id/webhook-secret',
    { config: { access: 'session' } },
    async (request, reply) =>
      secretAnswer(request, reply, await deps.revealSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfAccount>('/trading/accounts/:id/webhook-secret', action, async (request, reply) =>
    secretAnswer(request, reply, await deps.regenerateSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfAccount>('/trading/accounts/:id/webhook-token', action, async (request, reply) =>
    answer(request, reply, await deps.regenerateToken(ownerOf(request), request.params.id)),
  );

  server.put<OfAccount & { Body: Static<typeof CredentialsBody> }>(
    '/trading/accounts/:id/credentials',
    { ...user, schema: { body: CredentialsBody } },
    async (request, reply) => {
      const { sealed } = request.body;
      const changed = await deps.replaceCredentials(ownerOf(request), request.params.id, sealed);
      return answer(request, reply, changed);
    },
  );

  server.post<OfAccount>('/trading/accounts/:id/verify', action, async (request, reply) =>
    answer(request, reply, await deps.verifyAccount(ownerOf(request), request.params.id)),
  );

  server.get<OfAccount>('/trading/accounts/:id/positions', user, async (request, reply) =>
    answer(request, reply, await deps.readPositions(request.caller.user.id, request.params.id)),
  );

  server.get<OfAccount & { Querystring: Static<typeof SymbolsQuery> }>(
    '/trading/accounts/:id/symbols',
    { ...user, schema: { querystring: SymbolsQuery } },
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

  const wantsFlatten = ({ body }: FastifyRequest) => (body as Static<typeof HaltBody>).flatten === true;

  server.post<OfAccount & { Body: Static<typeof HaltBody> }>(
    '/trading/accounts/:id/halt',
    {
      // Nothing may stand between a user and the kill switch; the orders that close positions are requests as any.
      config: { access: 'user', isNeverHeldBack: (request) => !wantsFlatten(request) },
      schema: { body: HaltBody },
    },
    async (request, reply) => {
      const halted = await deps.haltAccount({
        user: request.caller.user,
        accountId: request.params.id,
        flatten: wantsFlatten(request),
        arrivedAt: clock.now(),
        context: contextOf(request),
      });
      return answer(request, reply, halted);
    },
  );

  server.post<OfAccount>('/trading/accounts/:id/resume', action, async (request, reply) =>
    answer(request, reply, await deps.resumeAccount(ownerOf(request), request.params.id)),
  );
}
