// POST /webhook/{token}/order: the request as plain values, and the outcome as an answer.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../app/audit.ts';
import type { Placed } from '../app/place-order.ts';
import type { WebhookRequest } from '../app/receive-webhook.ts';
import { type Denial, isDenial } from '../domain/denial.ts';
import { orderResult } from '../domain/order-result.ts';
import { sendDenial, sendFault } from './problem.ts';

export interface WebhookRoutes {
  receive(request: WebhookRequest): Promise<Denial | Placed>;
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

const BODY_LIMIT = 16 * 1024;

export function webhookRoutes(server: FastifyInstance, { receive, contextOf, clock }: WebhookRoutes): void {
  // The charting platform sends text/plain when it cannot tell: the bytes are read under any content type.
  // Without the header, because Fastify refuses one that is no content type at all.
  server.addHook('onRequest', async (request) => {
    delete request.headers['content-type'];
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  );

  server.post<{ Params: { token: string }; Querystring: { simulation?: unknown } }>(
    '/webhook/:token/order',
    {
      config: { access: 'open' },
      bodyLimit: BODY_LIMIT,
      async errorHandler(fault, request, reply) {
        if (fault.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return sendFault(fault, request, reply);
        return answer(request as typeof request & WebhookCall, reply, null);
      },
    },
    (request, reply) => answer(request, reply, bytesOf(request.body)),
  );

  type WebhookCall = FastifyRequest<{ Params: { token: string }; Querystring: { simulation?: unknown } }>;

  async function answer(
    request: WebhookCall,
    reply: FastifyReply,
    body: Uint8Array | null,
  ): Promise<FastifyReply> {
    const outcome = await receive({
      token: request.params.token,
      body,
      simulation: request.query.simulation,
      arrivedAt: clock.now(),
      context: contextOf(request),
    });
    return isDenial(outcome) ? sendDenial(request, reply, outcome) : sendPlaced(reply, outcome);
  }
}

const bytesOf = (body: unknown): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());

/** 202: the worker has not answered in time; the order's result can be asked for at its Location. */
export function sendPlaced(reply: FastifyReply, { order, answered }: Placed): FastifyReply {
  if (!answered) reply.code(202).header('location', `/trading/orders/${order.id}`);
  return reply.send(orderResult(order));
}
