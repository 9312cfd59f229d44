// The shapes of answers about what protects positions.

import { Type } from 'typebox';
import { EXIT_REASONS, PROTECTION_STATES } from '../../domain/protection/protection.ts';
import { flag, id, number, orNull, saying, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const noneYet = { examples: [null] };
const stateFields = {
  state: oneOf(PROTECTION_STATES, {
    description:
      'armed: asked for, and not seen to stand yet; standing: the broker shows the stop; suspended: taken away for an exit, or for an entry that the broker does not take beside it; unprotected: the stop is missing; unwatched: the broker refuses the credentials, it stands and nobody looks; left: nobody looks after it, since the service was restored from a backup or its account is not connected any more; POST …/resume has it kept again; ended',
    examples: ['standing'],
  }),
  stop_loss: orNull(
    number(
      'the price of the stop; null: there is none, or it counts from a fill that is yet to come',
      62_720,
    ),
  ),
  take_profit: Type.Array(
    Type.Object(
      {
        price: number('of its limit order', 66_000),
        percent: number('of the position', 50),
        quantity: number('what it closes in all, as far as it is placed', 0.2),
        filled: number('what it has closed so far', 0),
      },
      { title: 'ProtectionTarget' },
    ),
    saying('the first target first'),
  ),
  trailing_stop: orNull(
    Type.Object({
      distance: number('behind the best price, in units of the price', 640),
      activate_at: orNull(number('it follows once the price was there; null: at once', 66_000), noneYet),
      best: number('the best price seen', 64_000),
    }),
    { description: 'null: the stop does not follow', examples: [null] },
  ),
  break_even: orNull(
    Type.Object({
      at: Type.Union([Type.Number(), Type.Literal('tp1')], {
        description: 'once the price was there, or once the first target is filled',
        examples: ['tp1'],
      }),
      to: number('where the stop goes then', 64_000),
    }),
    { description: 'null: it is not asked for, or was done', examples: [null] },
  ),
  time_stop_at: orNull(time('when the position is closed by the clock; null: never'), noneYet),
  stop_quantity: orNull(number('what the stop at the broker closes; null: none is known to be there', 0.4)),
  seen_at: orNull(time('when the broker last showed it; null: not yet')),
  unprotected_since: orNull(time('since when the stop is missing; null: it is not'), noneYet),
  reason: orNull(text('why it is in this state, for a person; null: there is nothing to say'), noneYet),
};

/** Of an order. */
export const OrderProtection = Type.Object(
  { id: orNull(id('GET /trading/protections/{id} shows it; null: nothing is filled yet')), ...stateFields },
  {
    title: 'OrderProtection',
    description: 'What protects the position that the order opened, added to or was about.',
  },
);

/** Of a position. */
export const PositionProtection = Type.Object(
  { id: id('GET /trading/protections/{id} shows it'), ...stateFields },
  { title: 'PositionProtection', description: 'What protects the position.' },
);

export const exitReason = orNull(oneOf(EXIT_REASONS), {
  description: 'of a close that protection made: why; null: it made none',
  examples: [null],
});

const itemFields = {
  id: id('of the protection'),
  ...stateFields,
  trading_account_id: id('of the account'),
  symbol: text('as the order that set it had it', ['BTCUSDT']),
  simulation: flag('true: on the simulated book'),
  side: oneOf(['long', 'short']),
  set_by: id('of the order that set it last'),
  created_at: time('when there was first something to protect'),
  ended_at: orNull(time('when it was over; null: it is not'), noneYet),
};

export const ProtectionSummary = Type.Object(itemFields, {
  title: 'ProtectionSummary',
  description: 'What protects a position, or did.',
});

export const ProtectionRecord = Type.Object(
  {
    ...itemFields,
    history: Type.Array(
      Type.Object(
        {
          at: time('when'),
          what: text(
            'set, moved, restored, refused, resumed, found (where its stop stood by then), a state, or why something was closed',
            ['moved'],
          ),
          from: orNull(number('the price of the stop before', 62_720)),
          to: orNull(number('and after; of a close, the price of its fill', 64_000)),
          by: orNull(text('an order’s id, what moved it, or the broker’s words')),
        },
        { title: 'ProtectionChange' },
      ),
      saying('every change, the first one first; of very many the last 500'),
    ),
  },
  { title: 'ProtectionRecord' },
);
