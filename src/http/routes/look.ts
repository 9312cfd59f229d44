// What became of an order, asked for by its user; and an entry that rests, taken back.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { Denial } from '../../domain/denial.ts';
import { answer } from '../answers.ts';
import { OrderLook, OrderResult } from '../schemas/order-answers.ts';
import { NoBody } from '../schemas/requests.ts';

export interface LookRoutes {
  lookNow(owner: Owner, id: string): Promise<Denial | object>;
  cancelOrder(owner: Owner, id: string): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

export function lookRoutes(server: FastifyInstance, { lookNow, cancelOrder, contextOf }: LookRoutes): void {
  server.post<{ Params: { id: string } }>(
    '/trading/orders/:id/look',
    {
      config: {
        access: 'user',
        attempt: 'order_look',
        doc: {
          id: 'lookAtOrder',
          tag: 'Orders',
          summary: 'Find out now what became of an order',
          description:
            'Of an order that is `unknown`, `placed` or a dead letter, or whose fill is followed up for another reason: the broker is asked now, and no try is used up. Nothing is sent. The answer does not wait for the broker; the order shows what was found. An account has one such look at a time: while one is under way, another does not begin.',
          params: { id: 'The `order_id`.' },
          answers: { 202: OrderLook },
          denials: ['not_found', 'nothing_to_look_for'],
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const owner = { id: request.caller.user.id, context: contextOf(request) };
      return answer(request, reply, await lookNow(owner, request.params.id), 202);
    },
  );

  server.post<{ Params: { id: string } }>(
    '/trading/orders/:id/cancel',
    {
      config: {
        access: 'user',
        attempt: 'order_cancel',
        doc: {
          id: 'cancelOrder',
          tag: 'Orders',
          summary: 'Take an entry back that rests',
          description:
            'The broker is asked to end it, and its end is waited for, 5 s at the most: it is `cancelled`, with what was filled before and the error `cancelled_on_request`, or `filled`, where the fill came first. One that the broker has not confirmed by then is asked to end again until it is. What was filled stays, and stays protected.',
          params: { id: 'The `order_id`.' },
          answers: { 200: OrderResult },
          denials: ['not_found', 'not_resting'],
        },
      },
      schema: { body: NoBody },
    },
    async (request, reply) => {
      const owner = { id: request.caller.user.id, context: contextOf(request) };
      return answer(request, reply, await cancelOrder(owner, request.params.id));
    },
  );
}
