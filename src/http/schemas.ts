// The shapes of requests: what validates is also what the documentation is made from.

import { Type } from 'typebox';
import { ACTIONS, ORDER_STATUSES, ORDER_TYPES, SOURCES } from '../domain/order.ts';

const oneOf = <T extends string>(values: readonly T[]) => Type.Enum([...values] as [T, ...T[]]);
const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'a UUID' });
const time = Type.String({ format: 'date-time', maxLength: 40 });

export const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
};

export const NewOrderBody = Type.Object(
  {
    trading_account_id: uuid,
    action: oneOf(ACTIONS),
    symbol: Type.String({ minLength: 1, maxLength: 64 }),
    quantity: Type.Number({ exclusiveMinimum: 0 }),
    order_type: Type.Optional(oneOf(ORDER_TYPES)),
    simulation: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const OrdersQuery = Type.Object(
  {
    ...page,
    trading_account_id: Type.Optional(uuid),
    status: Type.Optional(oneOf(ORDER_STATUSES)),
    source: Type.Optional(oneOf(SOURCES)),
    symbol: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    from: Type.Optional(time),
    to: Type.Optional(time),
  },
  { additionalProperties: false },
);
