// Groups of a user's accounts: one signal for several of them.

import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Owner } from '../../app/accounts/accounts.ts';
import type { GroupFields, NewGroup } from '../../app/accounts/groups.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { JsonReader } from '../../app/reading.ts';
import type { Denial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer, pageOf } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import { WebhookSecret } from '../schemas/answers.ts';
import { Group, GroupBody, GroupChangeBody, GroupWithSecret } from '../schemas/groups.ts';
import { CheckBody } from '../schemas/order-requests.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { NoBody, PageQuery } from '../schemas/requests.ts';
import { CheckedMessage } from '../schemas/signal-answers.ts';
import { type Outcome, owners, session, user } from './of-account.ts';

export interface GroupRoutes {
  readonly readGroups: JsonReader<[user: UserId, page: PageRequest]>;
  readGroup(user: UserId, id: string): Outcome;
  createGroup(owner: Owner, group: NewGroup): Outcome;
  updateGroup(owner: Owner, id: string, fields: GroupFields): Outcome;
  removeGroup(owner: Owner, id: string): Promise<Denial | null>;
  revealGroupSecret(owner: Owner, id: string): Outcome;
  regenerateGroupSecret(owner: Owner, id: string): Outcome;
  regenerateGroupToken(owner: Owner, id: string): Outcome;
  checkGroupMessage(
    user: UserId,
    id: string,
    message: { readonly message: string; readonly simulation: boolean },
  ): Outcome;
  contextOf: Parameters<typeof owners>[0];
}

interface OfGroup {
  Params: { id: string };
}

const DEFAULT_MAX_REQUEST_AGE = 300;

const documented = (doc: Omit<RouteDoc, 'tag'>): RouteDoc => ({ tag: 'Groups', ...doc });
const ofOne = (doc: Omit<RouteDoc, 'tag'>): RouteDoc =>
  documented({
    ...doc,
    params: { id: 'Of the group.' },
    denials: ['group_not_found', ...(doc.denials ?? [])],
  });

export function groupRoutes(server: FastifyInstance, deps: GroupRoutes): void {
  const ownerOf = owners(deps.contextOf);

  server.get<{ Querystring: Static<typeof PageQuery> }>(
    '/trading/groups',
    {
      ...user(
        documented({
          id: 'listGroups',
          summary: 'List the groups',
          description: 'Oldest first.',
          answers: { 200: pageSchema(Group) },
        }),
      ),
      schema: { querystring: PageQuery },
    },
    (request) => deps.readGroups.asJson(request.caller.user.id, pageOf(request.query)),
  );

  server.post<{ Body: Static<typeof GroupBody> }>(
    '/trading/groups',
    {
      ...user(
        documented({
          id: 'createGroup',
          summary: 'Make a group',
          description:
            'One signal for 2 to 20 of your accounts, with a URL and a secret of its own. Each member is checked alone and gets an order of its own. A user has 50 groups at the most.',
          answers: { 201: GroupWithSecret },
          denials: ['group_conflict', 'not_found'],
        }),
      ),
      schema: { body: GroupBody },
    },
    async (request, reply) => {
      const { name, members, max_request_age, enabled = true } = request.body;
      const made = await deps.createGroup(ownerOf(request), {
        name,
        members,
        maxRequestAge: max_request_age ?? DEFAULT_MAX_REQUEST_AGE,
        enabled,
      });
      return answer(request, reply, made, 201);
    },
  );

  server.get<OfGroup>(
    '/trading/groups/:id',
    user(ofOne({ id: 'readGroup', summary: 'Read a group', answers: { 200: Group } })),
    async (request, reply) =>
      answer(request, reply, await deps.readGroup(request.caller.user.id, request.params.id)),
  );

  server.patch<OfGroup & { Body: Static<typeof GroupChangeBody> }>(
    '/trading/groups/:id',
    {
      ...user(
        ofOne({
          id: 'changeGroup',
          summary: 'Change a group',
          description:
            'What is not given stays as it is; `members` is given whole, 2 to 20 of them: who is not in it is no member any more.',
          answers: { 200: Group },
          denials: ['group_conflict', 'not_found'],
        }),
      ),
      schema: { body: GroupChangeBody },
    },
    async (request, reply) => {
      const { name, members, max_request_age: maxRequestAge, enabled } = request.body;
      const changed = await deps.updateGroup(ownerOf(request), request.params.id, {
        ...(name === undefined ? {} : { name }),
        ...(maxRequestAge === undefined ? {} : { maxRequestAge }),
        ...(enabled === undefined ? {} : { enabled }),
        ...(members === undefined ? {} : { members }),
      });
      return answer(request, reply, changed);
    },
  );

  server.delete<OfGroup>(
    '/trading/groups/:id',
    {
      ...user(
        ofOne({
          id: 'deleteGroup',
          summary: 'Delete a group',
          description:
            'Its webhook stops at once. Its accounts, and the orders that came from it, stay as they are.',
          answers: { 204: null },
        }),
      ),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.removeGroup(ownerOf(request), request.params.id)),
  );

  server.get<OfGroup>(
    '/trading/groups/:id/webhook-secret',
    session(
      ofOne({
        id: 'showGroupSecret',
        summary: 'Show a group’s webhook secret',
        description: 'Every look at it is in the audit log.',
        answers: { 200: WebhookSecret },
      }),
    ),
    async (request, reply) =>
      answer(request, reply, await deps.revealGroupSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfGroup>(
    '/trading/groups/:id/webhook-secret',
    {
      ...session(
        ofOne({
          id: 'regenerateGroupSecret',
          summary: 'Make a new webhook secret for a group',
          description: 'The old one stops at once.',
          answers: { 200: GroupWithSecret },
          denials: ['group_conflict'],
        }),
      ),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.regenerateGroupSecret(ownerOf(request), request.params.id)),
  );

  server.post<OfGroup>(
    '/trading/groups/:id/webhook-token',
    {
      ...session(
        ofOne({
          id: 'regenerateGroupToken',
          summary: 'Make a new webhook URL for a group',
          description: 'The old token, and with it the old URL, stops at once.',
          answers: { 200: Group },
          denials: ['group_conflict'],
        }),
      ),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.regenerateGroupToken(ownerOf(request), request.params.id)),
  );

  server.post<OfGroup & { Body: Static<typeof CheckBody> }>(
    '/trading/groups/:id/check',
    {
      config: {
        access: 'user',
        isNeverHeldBack: true,
        doc: ofOne({
          id: 'checkGroupMessage',
          summary: 'Check a message to a group before it is sent',
          description:
            'What the checks of the group’s webhook would say of it, and of each member what its own would, with the order that it would get. Nothing is sent, counted or remembered.',
          answers: { 200: CheckedMessage },
          denials: ['rate_limited'],
        }),
      },
      schema: { body: CheckBody },
    },
    async (request, reply) => {
      const { message, simulation = false } = request.body;
      const checked = await deps.checkGroupMessage(request.caller.user.id, request.params.id, {
        message,
        simulation,
      });
      return answer(request, reply, checked);
    },
  );
}
