// POST /webhook/{token}/order: the request as plain values, and the outcome as an answer.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { GroupOutcome, MemberOutcome } from '../../app/orders/group-signal.ts';
import type { Placed } from '../../app/orders/place-order.ts';
import type { WebhookOutcome, WebhookRequest } from '../../app/orders/receive-webhook.ts';
import type { Synced } from '../../app/orders/sync.ts';
import { toNumber, toNumberOrNull } from '../../domain/decimal.ts';
import { type DenialCode, isDenial } from '../../domain/denial.ts';
import { orderResult } from '../../domain/orders/result.ts';
import type { Answer } from '../docs/route-doc.ts';
import { problemOf, sendDenial, sendFault } from '../problem.ts';
import { queryProblem } from '../query.ts';
import type { Concern } from '../request-log.ts';
import { GroupResult } from '../schemas/groups.ts';
import { OrderResult, SyncResult } from '../schemas/order-answers.ts';
import { WebhookBody, WebhookQuery } from '../schemas/order-requests.ts';

export interface WebhookRoutes {
  receive(request: WebhookRequest): Promise<WebhookOutcome>;
  contextOf(request: FastifyRequest): RequestContext;
  hasPlatformCertificate(request: FastifyRequest): boolean;
  readonly clock: { now(): number };
}

const BODY_LIMIT = 16 * 1024;
export const WEBHOOK_PATH = '/webhook/:token/order';

/** How every order is answered, and what may be said against it, whichever way it came. */
export const PLACED: Readonly<Record<number, Answer>> = {
  200: { text: 'The order was executed or rejected: what became of it.', schema: OrderResult },
  202: {
    text: 'The order is accepted, and its worker has not answered in time: ask at Location.',
    schema: OrderResult,
    headers: { Location: 'Where the order can be asked for.' },
    example: {
      status: 'queued',
      broker_refs: [],
      fill_price: null,
      fill_quantity: null,
      position_before: null,
      filled_at: null,
      trace: { validated: 1, queued: 1 },
    },
  },
};
const PLACED_OR_SYNCED: Answer = {
  text: 'What became of the order; of a `sync`, whether the position is where the strategy stands; of a group’s signal, that of each member.',
  schema: Type.Union([OrderResult, SyncResult, GroupResult]),
};
const ACCEPTED: Answer = {
  text: 'The order is accepted, and its worker has not answered in time: ask at Location. Of a group’s signal: one of them.',
  schema: Type.Union([OrderResult, GroupResult]),
  headers: { Location: 'Where the order can be asked for.' },
};
export const NOT_PLACED: readonly DenialCode[] = [
  'account_halted',
  'plan_simulation_only',
  'terms_not_accepted',
  'credentials_not_verified',
  'daily_limit_reached',
  'worker_unavailable',
  'store_unavailable',
  'database_unavailable',
  'outcome_unknown',
];

export function webhookRoutes(
  server: FastifyInstance,
  { receive, contextOf, hasPlatformCertificate, clock }: WebhookRoutes,
): void {
  // The charting platform sends text/plain when it cannot tell: the bytes are read under any content type.
  // Without the header, because Fastify refuses one that is no content type at all.
  server.addHook('onRequest', (request, _reply, done) => {
    delete request.headers['content-type'];
    done();
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer, done: (fault: null, body: Buffer) => void) => done(null, body),
  );

  server.post<{ Params: { token: string }; Querystring: { simulation?: unknown } }>(
    WEBHOOK_PATH,
    {
      config: {
        access: 'open',
        doc: {
          id: 'sendSignal',
          tag: 'Webhook',
          summary: 'Send a signal',
          description:
            'Reads JSON under any content type, and ignores fields that it does not know; a query parameter that it does not know is refused. A signal is executed once: the same one again is a replay. With `?simulation=true` it trades on the simulated book of the account, and needs neither `timestamp` nor `secret`.',
          params: { token: "The account's webhook token, or a group's." },
          reads: { body: WebhookBody, query: WebhookQuery },
          bodyTypes: ['application/json', 'text/plain'],
          answers: { 200: PLACED_OR_SYNCED, 202: ACCEPTED },
          denials: [
            'payload_too_large',
            'webhook_not_found',
            'user_deactivated',
            'rate_limited',
            'webhook_ip_blocked',
            'platform_certificate_missing',
            'webhook_payload_invalid',
            'protection_unsupported',
            'order_kind_unsupported',
            'webhook_timestamp_expired',
            'webhook_credential_attack',
            'webhook_replay_attack',
            'group_disabled',
            ...NOT_PLACED,
            'broker_unavailable',
          ],
        },
      },
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
      queryProblem: queryProblem(request.query, PARAMETERS),
      arrivedAt: clock.now(),
      hasPlatformCertificate: hasPlatformCertificate(request),
      context: contextOf(request),
      traceparent: headerOf(request.headers['traceparent']),
      onFound(userId, { lock, groupId }) {
        reply.concerns = {
          user_id: userId,
          ...(groupId ? { group_id: groupId } : { trading_account_id: lock.id }),
        };
      },
    });
    if (isDenial(outcome)) return sendDenial(request, reply, outcome);
    if ('groupId' in outcome) return sendGroup(request, reply, outcome);
    if (!('inSync' in outcome)) return sendPlaced(reply, outcome);
    if (outcome.order) reply.concerns = concernOf(outcome.order);
    return reply.send(syncResult(outcome));
  }
}

/** 202: a member's worker has not answered in time. Where nobody took it, the first one's problem, with all of them. */
function sendGroup(request: FastifyRequest, reply: FastifyReply, outcome: GroupOutcome): FastifyReply {
  const { groupId, denial } = outcome;
  const members = outcome.members.map((member) => memberResult(request, member));
  if (denial)
    return sendDenial(request, reply, denial, { group_id: groupId, members, orders: ordersOf(outcome) });
  const refused = outcome.members.filter(({ became }) => isDenial(became)).length;
  const late = outcome.members.find(({ became }) => 'answered' in became && !became.answered);
  if (late && 'order' in late.became && late.became.order)
    reply.code(202).header('location', `/trading/orders/${late.became.order.id}`);
  return reply.send({ group_id: groupId, members, accepted: members.length - refused, refused });
}

function memberResult({ server }: FastifyRequest, { accountId, became }: MemberOutcome) {
  const trading_account_id = accountId;
  if (isDenial(became)) {
    const { title, status, detail, code, advice } = problemOf(became);
    const type = `${server.errorsPage}#${code}`;
    return { trading_account_id, order: null, error: { type, title, status, detail, code, advice } };
  }
  if ('inSync' in became) return { trading_account_id, ...syncResult(became), error: null };
  return { trading_account_id, order: orderResult(became.order, became.protection), error: null };
}

const ordersOf = ({ members }: GroupOutcome) =>
  members.map(({ accountId, became }) => ({
    trading_account_id: accountId,
    order_id: isDenial(became) ? null : (became.order?.id ?? null),
    code: isDenial(became) ? became.code : null,
  }));

const syncResult = ({ inSync, strategyPosition, brokerPosition, gap, stoppedOut, order }: Synced) => ({
  ...(stoppedOut && { stopped_out: true }),
  in_sync: inSync,
  strategy_position: toNumberOrNull(strategyPosition),
  broker_position: toNumber(brokerPosition),
  gap,
  order: order && orderResult(order),
});

const headerOf = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null;

const PARAMETERS = Object.keys(WebhookQuery.properties);

const bytesOf = (body: unknown): Uint8Array => (body instanceof Uint8Array ? body : new Uint8Array());

const concernOf = ({ id, userId, accountId, status }: Placed['order']): Concern => ({
  user_id: userId,
  trading_account_id: accountId,
  order_id: id,
  outcome: status,
});

/** 202: the worker has not answered in time; the order's result can be asked for at its Location. */
export function sendPlaced(reply: FastifyReply, { order, answered, protection }: Placed): FastifyReply {
  reply.concerns = concernOf(order);
  if (!answered) reply.code(202).header('location', `/trading/orders/${order.id}`);
  return reply.send(orderResult(order, protection));
}
