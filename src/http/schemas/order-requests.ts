// The shapes of requests about orders and signals.

import { Type } from 'typebox';
import { TIMES_IN_FORCE } from '../../domain/capabilities.ts';
import { ACTIONS, ORDER_TYPES } from '../../domain/orders/order.ts';
import { QUANTITY_TYPES } from '../../domain/orders/sizing.ts';
import { STANCE_SIDES } from '../../domain/signals/strategy.ts';
import { SYMBOL } from '../../domain/signals/symbol.ts';
import { protectionFields } from './protection.ts';
import { oneOf, symbol, uuid } from './requests.ts';

/** In any case, and in others' words too: domain/orders/sizing.ts reads it. */
const sizeFields = {
  quantity_type: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `what \`quantity\` counts: ${QUANTITY_TYPES.join(', ')}; absent: units`,
      examples: ['cash'],
    }),
  ),
};

/** Of an entry that is to rest; domain/signals/priced-fields.ts reads them. */
const price = (description: string, example: number) =>
  Type.Optional(
    Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.String({ maxLength: 64 })], {
      description,
      examples: [example],
    }),
  );
const pricedFields = {
  limit_price: price('entries only: fills at this price or better, and rests until then', 59_000),
  stop_price: price(
    'entries only: waits until this price is reached, and is at the market then, or has its limit',
    61_000,
  ),
  time_in_force: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `of an entry with a price, in any case: ${TIMES_IN_FORCE.join(', ')}; absent: gtc`,
      examples: ['gtc'],
    }),
  ),
  expires_in: Type.Optional(
    Type.Union([Type.Number({ minimum: 10, maximum: 2_592_000 }), Type.String({ maxLength: 64 })], {
      description: 'of an entry with a price: seconds until it is taken back; absent: 86400',
      examples: [3600],
    }),
  ),
  cancel_id: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'of cancel: the `id` of the entries that are taken back; absent: all of the symbol',
      examples: ['Long'],
    }),
  ),
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
        'needed by every action but close and sync, which take none, and protect and cancel, which do not use it: contracts or lots, as a number or a numeric text; at most 15 significant digits',
      examples: [1],
    }),
  ),
  ...sizeFields,
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
      description:
        'tells apart several alerts in one second; an entry that rests is replaced by the next one of its name',
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
  ...protectionFields,
  ...pricedFields,
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
      Type.Number({
        exclusiveMinimum: 0,
        description:
          'needed by every action but close, which takes none, and protect and cancel, which do not use it',
      }),
    ),
    ...sizeFields,
    order_type: Type.Optional(oneOf(ORDER_TYPES, { default: 'entry' })),
    simulation: Type.Optional(Type.Boolean({ default: false, description: 'true: on the simulated book' })),
    id: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'of an entry with a price: the next one of that name takes its place; none counts as one',
        examples: ['Long'],
      }),
    ),
    ...protectionFields,
    ...pricedFields,
  },
  { additionalProperties: false },
);

const { trading_account_id: account, ...asked } = NewOrderBody.properties;

export const PlanBody = Type.Object(
  {
    trading_account_id: Type.Optional(account),
    group_id: Type.Optional({
      ...uuid,
      description: 'instead of an account: as the group’s webhook would take it, on each member',
    }),
    ...asked,
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
