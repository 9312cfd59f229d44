// The shapes of requests: what validates is also what the documentation is made from.

import { type TSchemaOptions, Type } from 'typebox';
import { INTERVALS, MOST_CANDLES } from '../../domain/candles.ts';
import { SYMBOL } from '../../domain/signals/symbol.ts';

export const oneOf = <T extends string>(values: readonly T[], more: TSchemaOptions = {}) =>
  Type.Enum([...values] as [T, ...T[]], more);
export const uuid = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'a UUID',
  examples: ['019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10'],
});
export const symbol = Type.String({
  pattern: SYMBOL.source,
  description: '1 to 64 characters without white space',
  examples: ['BTCUSDT'],
});
/** No control characters and no halves of a pair: what a database refuses and a page cannot show. */
export const name = Type.String({
  pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}]{1,100}$',
  description: '1 to 100 characters, not all of them blanks',
  examples: ['Futures'],
});
export const timeOf = (description: string) =>
  Type.String({ format: 'date-time', maxLength: 40, description });

/** As much of a schema as the reading of a query needs. */
export interface TextSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

/** The texts of a query, as the types of its schema. What is not plainly of its type stays text, and is refused. */
export const readText = ({ properties = {} }: TextSchema, query: object): object =>
  Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const type = properties[name]?.type;
      if (type === 'integer' && /^\d{1,15}$/.test(text)) return [name, Number(text)];
      if (type === 'boolean' && /^(?:true|false)$/.test(text)) return [name, text === 'true'];
      return [name, text];
    }),
  );

export const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'items on a page' }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'the next_cursor of the page before' })),
};

export const PageQuery = Type.Object(page, { additionalProperties: false });

/** Of an action that takes nothing: no body, or an empty object. */
export const NoBody = Type.Object({}, { additionalProperties: false });

export const FirstAdminBody = Type.Object(
  {
    email: Type.String({ maxLength: 254, examples: ['ada@example.com'] }),
    password: Type.String({ maxLength: 1024, description: '8 to 256 characters, not a common password' }),
  },
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
    is_active: Type.Optional(Type.Boolean({ description: 'false: nobody gets in as this user' })),
    plan: Type.Optional(
      Type.String({ maxLength: 64, description: 'as GET /public/plans names it', examples: ['pro'] }),
    ),
    plan_expires_at: Type.Optional(
      Type.Union([timeOf('RFC 3339'), Type.Null()], { description: 'null: the plan does not expire' }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const TermsBody = Type.Object(
  {
    version: Type.String({ pattern: '^[!-~]{1,64}$', description: 'visible ASCII', examples: ['2'] }),
    text: Type.String({ minLength: 1, examples: ['You trade at your own risk.'] }),
  },
  { additionalProperties: false },
);

export const QuoteQuery = Type.Object(
  {
    symbol,
    simulation: Type.Optional(
      Type.Boolean({ default: false, description: 'true: as the simulated book has it' }),
    ),
  },
  { additionalProperties: false },
);

export const CandlesQuery = Type.Object(
  {
    symbol,
    interval: oneOf(INTERVALS, { description: 'how long each lasts', examples: ['5m'] }),
    from: Type.Optional(timeOf('without it 200 candles before `to`')),
    to: Type.Optional(timeOf(`without it now; at most ${MOST_CANDLES} candles after \`from\``)),
  },
  { additionalProperties: false },
);

export const SymbolsQuery = Type.Object(
  {
    ...page,
    q: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'part of the symbol or its description; the likeliest come first',
      }),
    ),
  },
  { additionalProperties: false },
);

export const ApiKeyBody = Type.Object(
  {
    name,
    expires_in_days: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 36_500, description: 'without it, never', examples: [90] }),
    ),
  },
  { additionalProperties: false },
);

export const AllowedIpBody = Type.Object(
  {
    ip_address: Type.String({
      maxLength: 64,
      description: 'an address or a CIDR block, IPv4 or IPv6',
      examples: ['203.0.113.0/24'],
    }),
    label: Type.Optional(name),
  },
  { additionalProperties: false },
);

export const AcceptTermsBody = Type.Object(
  {
    version: Type.String({
      pattern: '^[!-~]{1,64}$',
      description: 'the version that GET /public/terms shows',
      examples: ['1'],
    }),
  },
  { additionalProperties: false },
);
