// Where users want to be told. Whoever has a stolen key could have everything told to themselves: only a session adds, changes
// and removes.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Maker, Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { NewDestination as Given, GivenChange } from '../../app/notifications/destinations.ts';
import type { PageRequest } from '../../app/pages.ts';
import type { Denial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { answer, pageOf } from '../answers.ts';
import type { RouteDoc } from '../docs/route-doc.ts';
import {
  Delivery,
  Destination,
  DestinationBody,
  DestinationChangeBody,
  NewDestination,
  Trial,
} from '../schemas/notifications.ts';
import { pageOf as pageSchema } from '../schemas/parts.ts';
import { NoBody, PageQuery } from '../schemas/requests.ts';

export interface NotificationRoutes {
  readDestinations(user: UserId): Promise<object>;
  readDestination(user: UserId, id: string): Promise<Denial | object>;
  addDestination(owner: Maker, given: Given): Promise<Denial | object>;
  changeDestination(owner: Owner, id: string, change: GivenChange): Promise<Denial | object>;
  removeDestination(owner: Owner, id: string): Promise<Denial | null>;
  tryDestination(owner: Owner, id: string): Promise<Denial | object>;
  readDeliveries(user: UserId, id: string, page: PageRequest): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

const DEFAULT_HOUR = 7;

export function notificationRoutes(server: FastifyInstance, deps: NotificationRoutes): void {
  type Doc = Omit<RouteDoc, 'tag'>;
  const documented = (doc: Doc): RouteDoc => ({ tag: 'Notifications', ...doc });
  const user = (doc: Doc) => ({ config: { access: 'user', doc: documented(doc) } }) as const;
  const session = (doc: Doc) => ({ config: { access: 'session', doc: documented(doc) } }) as const;
  const ownerOf = (request: FastifyRequest): Maker => ({
    id: request.caller.user.id,
    user: request.caller.user,
    context: deps.contextOf(request),
    ...(request.caller.via === 'session' ? { sessionId: request.caller.session.id } : {}),
  });
  const params = { id: 'Of the destination.' };

  server.get(
    '/settings/notifications',
    user({
      id: 'listNotificationDestinations',
      summary: 'List the destinations',
      description: 'Oldest first; ten at most. Mails are sent as well, to the address that you log in with.',
      answers: { 200: pageSchema(Destination) },
    }),
    (request) => deps.readDestinations(request.caller.user.id),
  );

  server.post<{ Body: Static<typeof DestinationBody> }>(
    '/settings/notifications',
    {
      ...session({
        id: 'addNotificationDestination',
        summary: 'Add a destination',
        description:
          'Telegram takes bot_token and chat_id, the others a url. A webhook is signed as Standard Webhooks says, with the secret that only this answer shows. Addresses outside the public internet are refused when something is sent there, unless the operator allows them.',
        answers: { 201: NewDestination },
        denials: ['notification_address_invalid', 'too_many', 'email_not_verified'],
      }),
      schema: { body: DestinationBody },
    },
    async (request, reply) => {
      const {
        kind,
        name,
        events,
        trading_account_ids = null,
        summary_hour,
        url,
        bot_token,
        chat_id,
      } = request.body;
      const made = await deps.addDestination(ownerOf(request), {
        ...{ kind, name, events },
        accountIds: trading_account_ids,
        summaryHour: summary_hour ?? DEFAULT_HOUR,
        ...(url === undefined ? {} : { url }),
        ...(bot_token === undefined ? {} : { botToken: bot_token }),
        ...(chat_id === undefined ? {} : { chatId: chat_id }),
      });
      return answer(request, reply, made, 201);
    },
  );

  server.get<{ Params: { id: string } }>(
    '/settings/notifications/:id',
    user({
      id: 'readNotificationDestination',
      summary: 'Read a destination',
      params,
      answers: { 200: Destination },
      denials: ['not_found'],
    }),
    async (request, reply) =>
      answer(request, reply, await deps.readDestination(request.caller.user.id, request.params.id)),
  );

  server.patch<{ Params: { id: string }; Body: Static<typeof DestinationChangeBody> }>(
    '/settings/notifications/:id',
    {
      ...session({
        id: 'changeNotificationDestination',
        summary: 'Change, pause, resume or confirm a destination',
        description:
          'Its address is not changed: remove it and add another. One that was paused because somebody else may have been in your account is confirmed by {"paused": false}.',
        params,
        answers: { 200: Destination },
        denials: ['not_found'],
      }),
      schema: { body: DestinationChangeBody },
    },
    async (request, reply) => {
      const { name, events, trading_account_ids, summary_hour, paused } = request.body;
      const change: GivenChange = {
        ...(name === undefined ? {} : { name }),
        ...(events === undefined ? {} : { events }),
        ...(trading_account_ids === undefined ? {} : { accountIds: trading_account_ids }),
        ...(summary_hour === undefined ? {} : { summaryHour: summary_hour }),
        ...(paused === undefined ? {} : { paused }),
      };
      return answer(
        request,
        reply,
        await deps.changeDestination(ownerOf(request), request.params.id, change),
      );
    },
  );

  server.delete<{ Params: { id: string } }>(
    '/settings/notifications/:id',
    {
      ...session({
        id: 'removeNotificationDestination',
        summary: 'Remove a destination',
        description: 'What still waits for it is not sent.',
        params,
        answers: { 204: null },
        denials: ['not_found'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.removeDestination(ownerOf(request), request.params.id)),
  );

  server.post<{ Params: { id: string } }>(
    '/settings/notifications/:id/test',
    {
      ...session({
        id: 'testNotificationDestination',
        summary: 'Send a test message',
        description:
          'It is sent at once, and the answer says what came of it; at most five times a minute. One that arrives revives a dead destination.',
        params,
        answers: { 200: Trial },
        denials: ['not_found', 'rate_limited', 'store_unavailable'],
      }),
      schema: { body: NoBody },
    },
    async (request, reply) =>
      answer(request, reply, await deps.tryDestination(ownerOf(request), request.params.id)),
  );

  server.get<{ Params: { id: string }; Querystring: Static<typeof PageQuery> }>(
    '/settings/notifications/:id/deliveries',
    {
      ...user({
        id: 'listNotificationDeliveries',
        summary: 'List what was sent to a destination',
        description: 'Newest first, of the last 30 days.',
        params,
        answers: { 200: pageSchema(Delivery) },
        denials: ['not_found'],
      }),
      schema: { querystring: PageQuery },
    },
    async (request, reply) =>
      answer(
        request,
        reply,
        await deps.readDeliveries(request.caller.user.id, request.params.id, pageOf(request.query)),
      ),
  );
}
