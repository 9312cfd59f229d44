// What protects the user's positions: the list, one with everything that was done about it, a look at it now, and its owner's word
// that it is to be looked after again.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { ProtectionFilter } from '../../app/protection/read-protections.ts';
import type { JsonReader } from '../../app/reading.ts';
import type { Denial } from '../../domain/denial.ts';
import { type AccountId, isUuid, type UserId } from '../../domain/ids.ts';
import { answer } from '../answers.ts';
import { RequestInvalid } from '../problem.ts';
import { pageOf } from '../schemas/parts.ts';
import { ProtectionRecord, ProtectionSummary } from '../schemas/protection-answers.ts';
import { ProtectionsQuery } from '../schemas/queries.ts';
import { NoBody } from '../schemas/requests.ts';

export interface ProtectionRoutes {
  readonly readProtections: JsonReader<[user: UserId, page: PageRequest & { filter: ProtectionFilter }]>;
  readProtection(user: UserId, id: string): Promise<Denial | object>;
  lookAtProtection(owner: Owner, id: string): Promise<Denial | object>;
  resumeProtection(owner: Owner, id: string): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

const params = { id: 'Of the protection.' };

export function protectionRoutes(server: FastifyInstance, deps: ProtectionRoutes): void {
  server.get<{ Querystring: Static<typeof ProtectionsQuery> }>(
    '/trading/protections',
    {
      config: {
        access: 'user',
        packs: true,
        doc: {
          id: 'listProtections',
          tag: 'Orders',
          summary: 'List what protects positions',
          description: 'Newest first, also those that are over; `state` leaves out the others.',
          answers: { 200: pageOf(ProtectionSummary) },
        },
      },
      schema: { querystring: ProtectionsQuery },
    },
    (request) => {
      const { limit = 50, cursor, trading_account_id, symbol, simulation, side, state } = request.query;
      if (cursor !== undefined && !isUuid(cursor))
        throw new RequestInvalid('"cursor" must be the next_cursor of the page before.');
      const filter: ProtectionFilter = {
        ...(trading_account_id ? { accountId: trading_account_id as AccountId } : {}),
        ...(symbol ? { symbol } : {}),
        ...(simulation === undefined ? {} : { simulation }),
        ...(side ? { side } : {}),
        ...(state ? { state } : {}),
      };
      const page = { filter, limit, cursor: cursor ?? null };
      return deps.readProtections.asJson(request.caller.user.id, page);
    },
  );

  server.get<{ Params: { id: string } }>(
    '/trading/protections/:id',
    {
      config: {
        access: 'user',
        doc: {
          id: 'readProtection',
          tag: 'Orders',
          summary: 'Read what protects a position',
          description: 'With its history: every move, who asked for it, and what it closed.',
          params,
          answers: { 200: ProtectionRecord },
          denials: ['not_found', 'list_too_slow'],
        },
      },
    },
    async (request, reply) =>
      answer(request, reply, await deps.readProtection(request.caller.user.id, request.params.id)),
  );

  server.post<{ Params: { id: string } }>(
    '/trading/protections/:id/look',
    {
      config: {
        access: 'user',
        attempt: 'protection_look',
        doc: {
          id: 'lookAtProtection',
          tag: 'Orders',
          summary: 'Look now whether it stands at the broker',
          description:
            'The position and its stops are read and compared with what is wanted, as is done every 30 s by itself; what is missing is put back. The answer does not wait for it, and shows what was known before.',
          params,
          answers: { 202: ProtectionSummary },
          denials: ['not_found', 'nothing_to_look_for', 'rate_limited', 'store_unavailable'],
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const owner = { id: request.caller.user.id, context: deps.contextOf(request) };
      return answer(request, reply, await deps.lookAtProtection(owner, request.params.id), 202);
    },
  );

  server.post<{ Params: { id: string } }>(
    '/trading/protections/:id/resume',
    {
      config: {
        access: 'user',
        attempt: 'protection_resumed',
        doc: {
          id: 'resumeProtection',
          tag: 'Orders',
          summary: 'Look after a protection again that was left',
          description:
            'Of one in state `left`: after a restore, or since the account has other credentials, nobody looks after it. From now on it is kept again. What stands at the broker is looked at first, and counts: the stop stays where it stands, and nothing is doubled; what is missing is placed, and where nothing is held all that is left of it is taken away. The answer does not wait for that.',
          params,
          answers: { 202: ProtectionSummary },
          denials: ['not_found', 'not_resumable'],
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const owner = { id: request.caller.user.id, context: deps.contextOf(request) };
      return answer(request, reply, await deps.resumeProtection(owner, request.params.id), 202);
    },
  );
}
