// The trading routes of a user: place an order, read orders.

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { RequestContext } from '../../app/audit/audit.ts';
import type { DashboardOrder } from '../../app/orders/dashboard-order.ts';
import type { Placed } from '../../app/orders/place-order.ts';
import type { OrderFilter } from '../../app/orders/read-orders.ts';
import type { ListReader } from '../../app/reading.ts';
import { type Decimal, decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import {
  type AccountId,
  isUuid,
  type OrderId,
  type Timestamp,
  timestamp,
  type UserId,
} from '../../domain/ids.ts';
import { isInOurYears } from '../../domain/signals/time.ts';
import { answer } from '../answers.ts';
import { sendList, wantsCsv } from '../csv-answers.ts';
import { ORDERS_CSV } from '../csv-columns.ts';
import { RequestInvalid, sendDenial } from '../problem.ts';
import { OrderRecord, OrderStory, OrderSummary } from '../schemas/order-answers.ts';
import { NewOrderBody, NewOrderHeaders } from '../schemas/order-requests.ts';
import { pageOf } from '../schemas/parts.ts';
import { OrdersQuery } from '../schemas/queries.ts';
import { NOT_PLACED, PLACED, sendPlaced } from './webhook.ts';

export interface TradingRoutes {
  place(order: DashboardOrder): Promise<Denial | Placed>;
  readOrder(user: UserId, id: string): Promise<Denial | object>;
  readStory(user: UserId, id: string): Promise<Denial | object>;
  readonly readOrders: ListReader<
    [user: UserId, page: { filter: OrderFilter; cursor: OrderId | null; limit: number }]
  >;
  contextOf(request: FastifyRequest): RequestContext;
  readonly clock: { now(): number };
}

export function tradingRoutes(server: FastifyInstance, deps: TradingRoutes): void {
  const { place, readOrder, readOrders, contextOf, clock } = deps;

  server.post<{ Body: Static<typeof NewOrderBody> }>(
    '/trading/order',
    {
      config: {
        access: 'user',
        attempt: 'dashboard_order',
        doc: {
          id: 'placeOrder',
          tag: 'Orders',
          summary: 'Place an order',
          description:
            'With an `Idempotency-Key`, the same key and body within 24 hours give the first answer again, and nothing is traded twice. An entry takes what is to protect it; `protect` sets, moves and removes what protects the position: a field that is given replaces, one that is absent leaves what stands, `none` removes. With exits and closes these fields are not used, and stand in `ignored`.',
          answers: PLACED,
          denials: [
            'not_found',
            'protection_unsupported',
            'order_kind_unsupported',
            'idempotency_conflict',
            'idempotency_in_progress',
            ...NOT_PLACED,
          ],
        },
      },
      schema: { body: NewOrderBody, headers: NewOrderHeaders },
    },
    async (request, reply) => {
      const arrivedAt = clock.now();
      const { body } = request;
      const outcome = await place({
        user: request.caller.user,
        accountId: body.trading_account_id as AccountId,
        action: body.action,
        orderType: body.order_type ?? null,
        symbol: body.symbol,
        quantity: quantityOf(body),
        simulation: body.simulation ?? false,
        fields: body,
        idempotency: idempotencyOf(request),
        arrivedAt,
        context: contextOf(request),
      });
      return isDenial(outcome) ? sendDenial(request, reply, outcome) : sendPlaced(reply, outcome);
    },
  );

  server.get<{ Params: { id: string } }>(
    '/trading/orders/:id',
    {
      config: {
        access: 'user',
        doc: {
          id: 'readOrder',
          tag: 'Orders',
          summary: 'Read an order',
          description: 'After a 202, ask here until the status is a final one.',
          params: { id: 'The `order_id`.' },
          answers: { 200: OrderRecord },
          denials: ['not_found'],
        },
      },
    },
    async (request, reply) => {
      const record = await readOrder(request.caller.user.id, request.params.id);
      return isDenial(record) ? sendDenial(request, reply, record) : record;
    },
  );

  server.get<{ Params: { id: string } }>(
    '/trading/orders/:id/story',
    {
      config: {
        access: 'user',
        doc: {
          id: 'readOrderStory',
          tag: 'Orders',
          summary: 'Read what stands around an order',
          description:
            'Where it came from, the orders before and after it in the same book, when its stop stood at the broker, and what its protection closed.',
          params: { id: 'The `order_id`.' },
          answers: { 200: OrderStory },
          denials: ['not_found', 'list_too_slow'],
        },
      },
    },
    async (request, reply) =>
      answer(request, reply, await deps.readStory(request.caller.user.id, request.params.id)),
  );

  server.get<{ Querystring: Static<typeof OrdersQuery> }>(
    '/trading/orders',
    {
      config: {
        access: 'user',
        packs: true,
        doc: {
          id: 'listOrders',
          tag: 'Orders',
          summary: 'List the orders',
          description: 'Newest first.',
          answers: { 200: pageOf(OrderSummary) },
          csv: true,
        },
      },
      schema: { querystring: OrdersQuery },
    },
    async (request, reply) => {
      const {
        limit = 50,
        cursor,
        trading_account_id,
        status,
        source,
        symbol,
        instrument,
        simulation,
        search,
        from,
        to,
      } = request.query;
      if (cursor !== undefined && !isUuid(cursor))
        throw new RequestInvalid('"cursor" must be the next_cursor of the page before.');
      const filter: OrderFilter = {
        ...(trading_account_id ? { accountId: trading_account_id as AccountId } : {}),
        ...(status ? { status } : {}),
        ...(source ? { source } : {}),
        ...(symbol ? { symbol } : {}),
        ...(instrument ? { instrument } : {}),
        ...(simulation === undefined ? {} : { simulation }),
        ...(search ? { search } : {}),
        ...(from ? { from: asTimestamp('from', from) } : {}),
        ...(to ? { to: asTimestamp('to', to) } : {}),
      };
      const user = request.caller.user.id;
      const at = (cursor: string | null | undefined) => (cursor ?? null) as OrderId | null;
      if (wantsCsv(request))
        return sendList(request, reply, ORDERS_CSV, (page) =>
          readOrders.asCsv(user, { filter, limit: page.limit, cursor: at(page.cursor) }),
        );
      return readOrders.asJson(user, { filter, limit, cursor: at(cursor) });
    },
  );
}

/** `close` and `protect` are about the whole position, `cancel` about what rests. */
export function quantityOf({
  action,
  quantity,
}: Pick<Static<typeof NewOrderBody>, 'action' | 'quantity'>): Decimal {
  if (action === 'protect' || action === 'cancel') return ZERO;
  if (action === 'close' && quantity !== undefined)
    throw new RequestInvalid(
      '"quantity" does not go with close, which closes the whole position: leave it out.',
    );
  if (action === 'close') return ZERO;
  if (quantity === undefined) throw new RequestInvalid('"quantity" is missing: a number above zero.');
  return decimal(quantity);
}

/** The schema lets leap seconds pass, the year 0 and, by their offset, years beyond 9999: none sorts among our times. */
export function asTimestamp(name: string, text: string): Timestamp {
  const ms = Date.parse(text);
  if (!isInOurYears(ms))
    throw new RequestInvalid(`"${name}" must be a point in time in RFC 3339, such as 2026-11-16T14:30:00Z.`);
  return timestamp(ms);
}

function idempotencyOf(request: FastifyRequest) {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return null;
  // The body as validated: the same order in another spelling is the same order.
  const body = request.body as Record<string, unknown>;
  const ordered = JSON.stringify(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { key, bodyHash: createHash('sha256').update(ordered).digest('hex') };
}
