// The shapes of requests about accounts.

import { Type } from 'typebox';
import { BROKER_NAMES, MARGIN_MODES } from '../../domain/brokers.ts';
import { MOST_SEALED_CHARACTERS } from '../../domain/identity/sealed.ts';
import { TRIGGERS, UNPROTECTED } from '../../domain/protection/settings.ts';
import { OUT_OF_SYNC } from '../../domain/signals/strategy.ts';
import { protectionDefaults } from './protection.ts';
import { name, oneOf, symbol } from './requests.ts';

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
  // Read by domain/protection/defaults.ts, which names every symbol that is wrong.
  protection_defaults: Type.Optional(protectionDefaults),
  unprotected: Type.Optional(
    oneOf(UNPROTECTED, {
      default: 'close',
      description:
        'where the broker refuses a stop for 10 s: close, the position is closed at the market; alert, you are told, and it is tried on',
    }),
  ),
  trigger_by: Type.Optional(
    oneOf(TRIGGERS, {
      default: 'last',
      description:
        'which price a stop watches: the last one, as the chart shows it, or the exchange’s mark price',
    }),
  ),
  quantity_multiplier: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1000,
      default: 1,
      description:
        'what the sizes of its webhook’s entries and exits are multiplied with, targets included, then rounded down; not percents of the position, and not what is ordered by hand. At most 15 digits',
      examples: [0.5],
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
