// The shapes of requests: what validates is also what the documentation is made from.

import { type TSchemaOptions, Type } from 'typebox';
import { SECURITY_EVENTS } from '../domain/denial.ts';
import { ACTIONS, ORDER_STATUSES, ORDER_TYPES, SOURCES } from '../domain/order.ts';
import { MOST_SEALED_CHARACTERS } from '../domain/sealed.ts';
import { BROKER_NAMES, SYMBOL } from '../domain/symbol.ts';

export const oneOf = <T extends string>(values: readonly T[], more: TSchemaOptions = {}) =>
  Type.Enum([...values] as [T, ...T[]], more);
const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'a UUID' });
const symbol = Type.String({
  pattern: SYMBOL.source,
  description: '1 to 64 characters without white space',
});
/** No control characters and no halves of a pair: what a database refuses and a page cannot show. */
const name = Type.String({
  pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]{1,100}$',
  description: '1 to 100 characters, not all of them blanks',
});
const time = Type.String({ format: 'date-time', maxLength: 40 });

/** As much of a schema as the reading of a query needs. */
export interface TextSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/** The texts of a query, as the types of its schema. What is not plainly of its type stays text, and is refused. */
export const readText = ({ properties = {} }: TextSchema, query: object): object =>
  Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const isInteger = properties[name]?.type === 'integer' && /^\d{1,15}$/.test(text);
      return [name, isInteger ? Number(text) : text];
    }),
  );

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
};

export const NewOrderBody = Type.Object(
  {
    trading_account_id: uuid,
    action: oneOf(ACTIONS),
    symbol,
    quantity: Type.Number({ exclusiveMinimum: 0 }),
    order_type: Type.Optional(oneOf(ORDER_TYPES)),
    simulation: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const NewOrderHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ pattern: '^[!-~]{1,255}$', description: '1 to 255 visible ASCII characters' }),
  ),
});

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

export const PageQuery = Type.Object(page, { additionalProperties: false });

/** Of an action that takes nothing: no body, or an empty object. */
export const NoBody = Type.Object({}, { additionalProperties: false });

export const FirstAdminBody = Type.Object(
  { email: Type.String({ maxLength: 254 }), password: Type.String({ maxLength: 1024 }) },
  { additionalProperties: false },
);

export const UsersQuery = Type.Object(
  {
    ...page,
    email: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'any part of it' })),
  },
  { additionalProperties: false },
);

export const UserChangeBody = Type.Object(
  {
    is_active: Type.Optional(Type.Boolean()),
    plan: Type.Optional(Type.String({ maxLength: 64 })),
    plan_expires_at: Type.Optional(Type.Union([time, Type.Null()])),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const TermsBody = Type.Object(
  {
    version: Type.String({ pattern: '^[!-~]{1,64}$', description: 'visible ASCII' }),
    text: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);

const accountFields = {
  max_request_age: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 3600, default: 300, description: 'seconds' }),
  ),
  allowed_symbols: Type.Optional(
    Type.Array(symbol, { maxItems: 500, description: 'empty: what the broker has' }),
  ),
  // Read by domain/paper-settings.ts, which names every setting that is wrong.
  paper: Type.Optional(Type.Object({}, { description: 'settings of a paper account' })),
};

export const AccountBody = Type.Object(
  { name, broker: oneOf(BROKER_NAMES), ...accountFields },
  { additionalProperties: false },
);

export const AccountChangeBody = Type.Object(
  { name: Type.Optional(name), ...accountFields },
  { additionalProperties: false, minProperties: 1 },
);

export const CredentialsBody = Type.Object(
  { sealed: Type.String({ maxLength: MOST_SEALED_CHARACTERS, description: 'a compact JWE' }) },
  { additionalProperties: false },
);

export const HaltBody = Type.Object(
  { flatten: Type.Optional(Type.Boolean({ default: false, description: 'close all positions' })) },
  { additionalProperties: false },
);

export const SymbolsQuery = Type.Object(
  { ...page, q: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);

export const ApiKeyBody = Type.Object(
  {
    name,
    expires_in_days: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 36_500, description: 'without it, never' }),
    ),
  },
  { additionalProperties: false },
);

export const AllowedIpBody = Type.Object(
  {
    ip_address: Type.String({ maxLength: 64, description: 'an address or a CIDR block, IPv4 or IPv6' }),
    label: Type.Optional(name),
  },
  { additionalProperties: false },
);

export const AcceptTermsBody = Type.Object(
  { version: Type.String({ pattern: '^[!-~]{1,64}$' }) },
  { additionalProperties: false },
);

export const SecurityAttacksQuery = Type.Object(
  { ...page, type: Type.Optional(oneOf(SECURITY_EVENTS)) },
  { additionalProperties: false },
);

export const AuditLogQuery = Type.Object(
  { ...page, action: Type.Optional(Type.String({ pattern: '^[a-z_]{1,64}$' })) },
  { additionalProperties: false },
);
