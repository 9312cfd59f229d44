// The shapes of requests: what validates is also what the documentation is made from.

import { type TSchemaOptions, Type } from 'typebox';
import { BROKER_NAMES, MARGIN_MODES } from '../../domain/brokers.ts';
import { MOST_SEALED_CHARACTERS } from '../../domain/identity/sealed.ts';
import { ACTIONS, ORDER_TYPES } from '../../domain/orders/order.ts';
import { OUT_OF_SYNC, STANCE_SIDES } from '../../domain/signals/strategy.ts';
import { SYMBOL } from '../../domain/signals/symbol.ts';

export const oneOf = <T extends string>(values: readonly T[], more: TSchemaOptions = {}) =>
  Type.Enum([...values] as [T, ...T[]], more);
export const uuid = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'a UUID',
  examples: ['019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10'],
});
const symbol = Type.String({
  pattern: SYMBOL.source,
  description: '1 to 64 characters without white space',
  examples: ['BTCUSDT'],
});
/** No control characters and no halves of a pair: what a database refuses and a page cannot show. */
const name = Type.String({
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

/** For the documentation alone: domain/signals/signal.ts reads the body, and says what is wrong with it. */
export const WebhookBody = Type.Object({
  action: oneOf(ACTIONS, { description: 'in any case' }),
  symbol: Type.String({
    pattern: SYMBOL.source,
    description: 'as the charting platform writes it, such as BINANCE:BTCUSDT.P, ES1! or AAPL',
    examples: ['BTCUSDT'],
  }),
  quantity: Type.Optional(
    Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.String()], {
      description:
        'needed by every action but close and sync, which take none: contracts or lots, as a number or a numeric text; at most 15 significant digits',
      examples: [1],
    }),
  ),
  market_position: Type.Optional(
    oneOf(STANCE_SIDES, {
      description: "the strategy's side after this alert; it decides between entry, exit and close",
      examples: ['long'],
    }),
  ),
  market_position_size: Type.Optional(
    Type.Union([Type.Number({ minimum: 0 }), Type.String()], {
      description: 'its size after this alert: the position is moved there, and `quantity` is only recorded',
      examples: [1],
    }),
  ),
  prev_market_position: Type.Optional(
    oneOf(STANCE_SIDES, {
      description: 'its side before this alert, by which a lost alert is noticed',
      examples: ['flat'],
    }),
  ),
  prev_market_position_size: Type.Optional(
    Type.Union([Type.Number({ minimum: 0 }), Type.String()], {
      description: 'its size before',
      examples: [0],
    }),
  ),
  id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'tells apart several alerts in one second',
      examples: ['Long'],
    }),
  ),
  price: Type.Optional(
    Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.String()], {
      description: 'the price that the signal saw; it never sizes an order or becomes its price',
      examples: [60_000],
    }),
  ),
  order_type: Type.Optional(
    oneOf(ORDER_TYPES, { default: 'entry', description: 'exit makes buy and sell take out what is held' }),
  ),
  timestamp: Type.Optional(
    Type.Union([Type.String(), Type.Number()], {
      description:
        'when the signal was made, needed for real trading: ISO 8601 (UTC where it names no offset), or epoch seconds or milliseconds',
      examples: ['2026-11-16T14:30:00Z'],
    }),
  ),
  secret: Type.Optional(
    Type.String({
      description: "the account's webhook secret, needed for real trading",
      examples: ['hT0s…'],
    }),
  ),
});

/** For the documentation alone: app/orders/receive-webhook.ts reads it. */
export const WebhookQuery = Type.Object({
  simulation: Type.Optional(
    Type.String({
      pattern: '^([Tt][Rr][Uu][Ee]|1|[Yy][Ee][Ss]|[Ff][Aa][Ll][Ss][Ee]|0|[Nn][Oo])$',
      description:
        '`true`, `1` or `yes`, in any case: on the simulated book; `false`, `0`, `no` or absent: real. Anything else is a 400',
    }),
  ),
});

export const NewOrderBody = Type.Object(
  {
    trading_account_id: uuid,
    action: oneOf(ACTIONS),
    symbol,
    quantity: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'needed by every action but close, which takes none' }),
    ),
    order_type: Type.Optional(oneOf(ORDER_TYPES, { default: 'entry' })),
    simulation: Type.Optional(Type.Boolean({ default: false, description: 'true: on the simulated book' })),
  },
  { additionalProperties: false },
);

export const CheckBody = Type.Object(
  {
    message: Type.String({
      maxLength: 32_768,
      description: 'as the alert would send it, with its placeholders or without',
      examples: ['{"action": "buy", "symbol": "BTCUSDT", "quantity": 1}'],
    }),
    simulation: Type.Optional(Type.Boolean({ default: false, description: 'true: for the simulated book' })),
  },
  { additionalProperties: false },
);

export const AlignBody = Type.Object(
  {
    symbol,
    simulation: Type.Optional(Type.Boolean({ default: false, description: 'true: on the simulated book' })),
  },
  { additionalProperties: false },
);

export const SettleBody = Type.Object(
  {
    outcome: oneOf(['filled', 'not_filled'], {
      description: 'what you found at the broker',
      examples: ['filled'],
    }),
    price: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'the average price; needed with filled, and not taken with not_filled',
        examples: [60_000],
      }),
    ),
    quantity: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description:
          'what was filled, at most what was sent; needed with filled, and not taken with not_filled',
        examples: [1],
      }),
    ),
  },
  { additionalProperties: false },
);

export const NewOrderHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ pattern: '^[!-~]{1,255}$', description: '1 to 255 visible ASCII characters' }),
  ),
});

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

const accountFields = {
  max_request_age: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 3600, default: 300, description: 'seconds' }),
  ),
  allowed_symbols: Type.Optional(
    Type.Array(symbol, {
      maxItems: 500,
      description: 'at most 100; empty: what the broker has. Exits and closes of any other symbol pass',
    }),
  ),
  out_of_sync: Type.Optional(
    oneOf(OUT_OF_SYNC, {
      default: 'hold',
      description:
        'hold: what the strategy holds and the account does not is opened only in the direction of the action; follow: always',
    }),
  ),
  margin_mode: Type.Optional(
    oneOf(MARGIN_MODES, {
      description:
        'which margin an order that opens a position asks for, where the broker wants to know (OKX, Bitget); cross unless it is given',
    }),
  ),
  silence_after: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 31_536_000 }), Type.Null()], {
      description:
        'seconds without a genuine signal after which you are told once, within half a minute; null: never',
      examples: [86_400],
    }),
  ),
  // Read by domain/guards/settings.ts, which names every guard that is wrong.
  guards: Type.Optional(
    Type.Object({}, { description: 'what holds an entry back; merged guard by guard, null removes one' }),
  ),
  // Read by domain/paper-settings.ts, which names every setting that is wrong.
  paper: Type.Optional(Type.Object({}, { description: 'of a paper account; PaperSettings has them all' })),
};

export const AccountBody = Type.Object(
  {
    name,
    broker: oneOf(BROKER_NAMES),
    environment: Type.Optional(
      Type.String({
        maxLength: 64,
        default: 'live',
        description: 'one that GET /public/brokers has for the broker; it cannot be changed later',
        examples: ['live'],
      }),
    ),
    ...accountFields,
  },
  { additionalProperties: false },
);

export const AccountChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    ...accountFields,
    require_platform_certificate: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "true: the webhook refuses every request without the charting platform's client certificate, your own attempts included. Refused where nothing in front of the service checks it. Turn it on after alerts have come with it for a day: if they come without it, nothing is traded, not even exits",
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const DeleteAccountQuery = Type.Object(
  {
    keep_positions: Type.Optional(
      Type.Boolean({ default: false, description: 'true: what the broker holds stays there' }),
    ),
  },
  { additionalProperties: false },
);

export const CredentialsBody = Type.Object(
  {
    sealed: Type.String({
      maxLength: MOST_SEALED_CHARACTERS,
      description: 'a compact JWE of {user_id, trading_account_id, credentials}',
      examples: ['eyJhbGciOiJFQ0RILUVTIiwi…'],
    }),
  },
  { additionalProperties: false },
);

export const HaltBody = Type.Object(
  {
    flatten: Type.Optional(
      Type.Boolean({ default: false, description: 'true: close all positions', examples: [true] }),
    ),
  },
  { additionalProperties: false },
);

export const SymbolsQuery = Type.Object(
  {
    ...page,
    q: Type.Optional(Type.String({ maxLength: 64, description: 'part of the symbol or its description' })),
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
