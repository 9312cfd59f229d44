// What became of an order, said by its owner.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Owner } from '../../app/accounts/accounts.ts';
import type { RequestContext } from '../../app/audit/audit.ts';
import { decimal } from '../../domain/decimal.ts';
import type { Denial } from '../../domain/denial.ts';
import type { Settlement } from '../../domain/orders/settle.ts';
import { answer } from '../answers.ts';
import { RequestInvalid } from '../problem.ts';
import { OrderRecord } from '../schemas/order-answers.ts';
import { SettleBody } from '../schemas/order-requests.ts';

export interface SettleRoutes {
  settleOrder(owner: Owner, id: string, settlement: Settlement): Promise<Denial | object>;
  contextOf(request: FastifyRequest): RequestContext;
}

export function settleRoutes(server: FastifyInstance, { settleOrder, contextOf }: SettleRoutes): void {
  server.post<{ Params: { id: string }; Body: Static<typeof SettleBody> }>(
    '/trading/orders/:id/settle',
    {
      config: {
        access: 'session',
        attempt: 'order_settled',
        doc: {
          id: 'settleOrder',
          tag: 'Orders',
          summary: 'Say what became of an order',
          description:
            'Of an order that is a dead letter, or has been `unknown` for 10 minutes: you have looked at the broker, and say what became of its open leg. `filled` takes the price and the quantity, which may be less than was sent. The order is `filled` or `cancelled` from then on, with `settled_by`, and is looked for no longer; a reversal that failed stays `failed`, and its close is what you said. Nothing is sent, and nothing is changed at the broker.',
          params: { id: 'The `order_id`.' },
          answers: { 200: OrderRecord },
          denials: ['not_found', 'not_settleable'],
        },
      },
      schema: { body: SettleBody },
    },
    async (request, reply) => {
      const owner = { id: request.caller.user.id, context: contextOf(request) };
      return answer(request, reply, await settleOrder(owner, request.params.id, settlementOf(request.body)));
    },
  );
}

function settlementOf({ outcome, price, quantity }: Static<typeof SettleBody>): Settlement {
  if (outcome === 'filled') {
    if (price === undefined || quantity === undefined)
      throw new RequestInvalid('"price" and "quantity" are needed with filled: numbers above zero.');
    return { outcome, price: decimal(price), quantity: decimal(quantity) };
  }
  if (price !== undefined || quantity !== undefined)
    throw new RequestInvalid('"price" and "quantity" do not go with not_filled: leave them out.');
  return { outcome };
}
