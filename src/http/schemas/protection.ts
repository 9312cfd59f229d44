// What protects a position, as requests ask for it and as a plan shows it. The shapes are for the documentation, and keep out what
// is none of them; domain/protection/wish.ts reads the values, and says what is wrong with one.

import { Type } from 'typebox';
import { PROTECTION_FIELDS, type ProtectionField } from '../../domain/protection/wish.ts';
import { number, text } from './parts.ts';
import { oneOf } from './requests.ts';

const closed = { additionalProperties: false } as const;
const numeral = Type.Union([Type.Number(), Type.String({ maxLength: 80 })]);
const inUnit = (unit: string) => Type.Object({ [unit]: numeral }, closed);

const DISTANCE =
  'percent of the entry price ("2%"), ticks ("20t") or points, which are units of the price ("150p")';
const distances = [
  Type.String({ maxLength: 80, examples: ['2%'] }),
  inUnit('percent'),
  inUnit('ticks'),
  inUnit('points'),
];
const distance = (description: string) =>
  Type.Union(distances, { description: `${description}: ${DISTANCE}`, examples: ['1%'] });
const levels = [Type.Number({ examples: [64_000] }), ...distances, inUnit('price')];
const level = (description: string) =>
  Type.Union(levels, { description: `${description}: a price, or ${DISTANCE}`, examples: ['2%'] });

const target = Type.Object(
  {
    at: level('where'),
    percent: Type.Union(
      [Type.Number({ exclusiveMinimum: 0, maximum: 100 }), Type.String({ maxLength: 80 })],
      {
        description: 'of the position; of all levels at most 100',
        examples: [50],
      },
    ),
  },
  closed,
);

const trail = Type.Object(
  {
    distance: distance('how far behind the best price'),
    activate_at: Type.Optional(level('it begins to follow once the price was there')),
  },
  closed,
);

const breakEven = Type.Object(
  {
    at: Type.Union([...levels, Type.Literal('tp1')], {
      description: 'once the price was there, or `tp1`: once the first target is filled',
      examples: ['tp1'],
    }),
    offset: Type.Optional(distance('beyond the entry, in profit')),
  },
  closed,
);

const NONE = '`none` removes it, and of an entry declines the account’s default';

const fields = {
  stop_loss: Type.Union(levels, {
    description: `where the whole position is closed at the market: a price, or ${DISTANCE}, from the entry. ${NONE}`,
    examples: ['2%'],
  }),
  take_profit: Type.Union([...levels, target, Type.Array(target, { minItems: 1, maxItems: 5 })], {
    description: `limit orders that reduce: a level for all that is held, or 1 to 5 of {at, percent}. ${NONE}`,
    examples: [
      '4%',
      [
        { at: '2%', percent: 50 },
        { at: 70_000, percent: 50 },
      ],
    ],
  }),
  trailing_stop: Type.Union([...distances, trail], {
    description: `the stop follows the best price at this distance, and never back. ${NONE}`,
    examples: ['1%'],
  }),
  break_even: Type.Union([...levels, breakEven], {
    description: `once the price was there, or once the first target is filled (\`tp1\`), the stop goes to the entry. It needs a stop. ${NONE}`,
    examples: ['tp1'],
  }),
  time_stop: Type.Union([Type.Integer({ minimum: 60, maximum: 2_592_000 }), Type.String({ maxLength: 80 })], {
    description: `closes at the market: seconds after the first fill, or a time of day with its zone. ${NONE}`,
    examples: ['15:55 America/New_York'],
  }),
} as const satisfies Record<ProtectionField, unknown>;

/** Of POST /trading/order, and, for the documentation, of the webhook. */
export const protectionFields = {
  stop_loss: Type.Optional(fields.stop_loss),
  take_profit: Type.Optional(fields.take_profit),
  trailing_stop: Type.Optional(fields.trailing_stop),
  break_even: Type.Optional(fields.break_even),
  time_stop: Type.Optional(fields.time_stop),
};

/** The account's setting. Read by domain/protection/defaults.ts, which names everything that is wrong with it. */
export const protectionDefaults = Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
  description:
    `by symbol, \`*\` for every other one: ${PROTECTION_FIELDS.join(', ')} of an entry from flat that does not say them itself; ` +
    'distances only; null: none',
  examples: [{ '*': { stop_loss: '2%' }, 'BTCUSDT.P': { stop_loss: '3%', take_profit: '6%' } }],
});

/** Of `plan` and `check`. */
export const plannedLegs = Type.Array(
  Type.Object({
    leg: oneOf(['stop', 'target']),
    price: number('where', 62_720),
    quantity: number('how much it closes', 0.4),
    how: text('in words', [
      'Closes all 0.4 at the market once the price falls to 62720, 2% below the entry at 64000.',
    ]),
  }),
  { description: 'what would protect the position; distances count from the price that sizes the order' },
);
