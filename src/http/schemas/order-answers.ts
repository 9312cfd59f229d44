// The shapes of answers about orders.

import { Type } from 'typebox';
import { BROKER_NAMES } from '../../domain/brokers.ts';
import { TIMES_IN_FORCE } from '../../domain/capabilities.ts';
import {
  ACTIONS,
  LEG_STATUSES,
  ORDER_STATUSES,
  ORDER_TYPES,
  REJECTION_CODES,
  SOURCES,
  TRACE_HOPS,
} from '../../domain/orders/order.ts';
import { QUANTITY_TYPES } from '../../domain/orders/sizing.ts';
import { EXIT_REASONS } from '../../domain/protection/protection.ts';
import { STANCE_SIDES } from '../../domain/signals/strategy.ts';
import { count, flag, id, number, orNull, saying, text, time } from './parts.ts';
import { exitReason, OrderProtection } from './protection-answers.ts';
import { oneOf } from './requests.ts';

export const OrderError = Type.Object(
  {
    code: oneOf(REJECTION_CODES),
    message: text('for a person: what happened'),
    advice: text('for a person: what to do', ['Add funds, or order less.']),
    retry_after: Type.Optional(number('seconds; what the broker asks to wait', 5)),
    guard: Type.Optional(text('which of the account’s guards held it back', ['max_position'])),
    market_hours: Type.Optional(
      Type.Object(
        {
          timezone: text('an IANA time zone', ['America/New_York']),
          session: text('when the market is open', ['Mon-Fri 09:30-16:00']),
          next_open: time('when it opens next'),
        },
        saying('of a closed market'),
      ),
    ),
  },
  { title: 'OrderError', description: "The broker's rejection, or what was found at the broker." },
);
const noError = { description: 'null: no error', examples: [null] };

const ExitOrderResult = Type.Object(
  {
    status: oneOf(LEG_STATUSES),
    client_order_id: text('under which the close was sent'),
    broker_ref: orNull(text("the broker's reference")),
    quantity: number('what was to be closed'),
    fill_price: orNull(number('the average price', 60_000)),
    fill_quantity: orNull(number('what was filled')),
    error: orNull(OrderError, noError),
  },
  { title: 'ExitOrderResult', description: 'The close that an auto-reversal made before its entry.' },
);

const Trace = Type.Object(
  Object.fromEntries(
    TRACE_HOPS.map((hop, index) => [hop, Type.Optional(Type.Number({ minimum: 0, examples: [index * 2] }))]),
  ),
  { title: 'Trace', description: 'Milliseconds since arrival at each hop that the order has passed.' },
);

export const GuardVerdict = Type.Object(
  {
    guard: text('which one', ['max_position']),
    outcome: oneOf(['passed', 'refused']),
    reason: text('with the figures', ['the position would be 2, and at most 5 is allowed']),
  },
  { title: 'GuardVerdict' },
);

const orderFields = {
  order_id: id('of the order; GET /trading/orders/{id} shows it'),
  status: oneOf(ORDER_STATUSES, { examples: ['filled'] }),
  simulation: flag('true: on the simulated book'),
  source: oneOf(SOURCES),
  trading_account_id: id('of the account'),
  broker_name: oneOf(BROKER_NAMES),
  symbol: text('as it was sent', ['BTCUSDT']),
  action: oneOf(ACTIONS),
  operation: oneOf([
    'PLACE_ENTRY_ORDER',
    'PLACE_EXIT_ORDER',
    'CLOSE_POSITION',
    'PROTECT_POSITION',
    'CANCEL_ENTRIES',
  ]),
  order_type: orNull(oneOf(ORDER_TYPES), saying('null: a close')),
  quantity: number('as it was asked for'),
  broker_refs: Type.Array(Type.String(), {
    description: "the broker's references, in the order of sending",
    examples: [['8412097']],
  }),
  fill_price: orNull(number('the average price', 60_000)),
  fill_quantity: orNull(number('what was filled')),
  market_position: orNull(oneOf(STANCE_SIDES), saying('as the signal said it')),
  target: orNull(number('signed: where the position was to end', 1)),
  gap: flag('true: an alert before this one never arrived'),
  ignored: Type.Array(Type.String(), {
    description: 'names of fields that are not known, at most 20',
    examples: [[]],
  }),
  price: orNull(number('that the signal saw', 60_000)),
  slippage: orNull(number('fill_price against it; below zero is worse for the user', 0)),
  auto_exit: flag('true: an opposite position was closed first'),
  exit_quantity: orNull(number('of that close'), { examples: [null] }),
  position_before: orNull(number('signed; before anything was sent', 0)),
  exit_order_result: orNull(ExitOrderResult, {
    description: 'null: nothing was closed first',
    examples: [null],
  }),
  half_done: flag(
    'true: a reversal that got half way and has ended: its close was filled, and its entry was not, or not all of it',
  ),
  settled_by: orNull(oneOf(['user']), {
    description:
      'user: its owner said what became of it, which the broker could not tell; null: nobody had to',
    examples: [null],
  }),
  error: orNull(OrderError, noError),
  submitted_at: time('when the signal arrived'),
  filled_at: orNull(time('when it was filled')),
};

/** How much is traded, and how that was computed. */
export const Sizing = Type.Object(
  {
    quantity_type: oneOf(QUANTITY_TYPES),
    asked: number('as it was sent', 500),
    factor: number('what the account multiplies it with', 1),
    price: orNull(number('that it was computed with', 68_000)),
    equity: orNull(number('of the account then', 10_000), { examples: [null] }),
    stop: orNull(number('where the stop would stand', 66_640), { examples: [null] }),
    units: orNull(number('what is traded, rounded down; null: not computed yet', 0.007)),
    text: orNull(text('in words', ['500 USDT is 0.007 BTC at 68,000. Fees and slippage are not counted.'])),
  },
  { title: 'Sizing' },
);

/** What protection has to do with it. */
const protectionFields = {
  exit_reason: exitReason,
  caused_by: orNull(id('of the order that set what closed it; null: protection did not make it'), {
    examples: [null],
  }),
  unprotected_ms: orNull(
    count('from its first fill until its stop was seen at the broker; null: not yet, or it has none'),
  ),
  protection: orNull(OrderProtection, {
    description: 'null: it asked for none, or nothing came of it',
    examples: [null],
  }),
};

const group_id = orNull(id('of the group whose signal it came from; null: it came to its account alone'), {
  examples: [null],
});

const sizeFields = {
  quantity_type: oneOf(QUANTITY_TYPES, { description: 'what `quantity` counts' }),
  sizing: orNull(Sizing, { description: 'null: it counts units, and nothing is computed', examples: [null] }),
};

/** What its entry waits for. */
export const pricedFields = {
  limit_price: orNull(number('it fills at this price or better', 60_000), { examples: [null] }),
  stop_price: orNull(number('it waits until this price is reached', 61_000), { examples: [null] }),
  time_in_force: orNull(oneOf(TIMES_IN_FORCE), saying('null: it is at the market')),
  expires_at: orNull(time('when it is taken back, if it rests until then; null: it is at the market'), {
    examples: [null],
  }),
};

export const OrderResult = Type.Object(
  {
    ...orderFields,
    quantity_type: Type.Optional(sizeFields.quantity_type),
    sizing: Type.Optional(sizeFields.sizing),
    limit_price: Type.Optional(pricedFields.limit_price),
    stop_price: Type.Optional(pricedFields.stop_price),
    time_in_force: Type.Optional(pricedFields.time_in_force),
    expires_at: Type.Optional(pricedFields.expires_at),
    exit_reason: Type.Optional(protectionFields.exit_reason),
    caused_by: Type.Optional(protectionFields.caused_by),
    unprotected_ms: Type.Optional(protectionFields.unprotected_ms),
    protection: Type.Optional(protectionFields.protection),
    group_id: Type.Optional(group_id),
    trace: Trace,
  },
  { title: 'OrderResult', description: 'The outcome of a signal, as far as it is known.' },
);

export const SyncResult = Type.Object(
  {
    in_sync: flag('true: the position is the strategy’s', true),
    strategy_position: orNull(number('signed: where the strategy stands', 1)),
    broker_position: number('signed: what the account holds', 1),
    gap: flag('true: an alert before this one never arrived'),
    stopped_out: Type.Optional(
      flag(
        'true: protection has closed what the strategy holds, and the strategy has not been flat since',
        true,
      ),
    ),
    order: orNull(OrderResult, {
      description: 'what aligned it, where the account follows',
      examples: [null],
    }),
  },
  { title: 'SyncResult', description: 'The answer to a `sync`, as found.' },
);

const Verification = Type.Object(
  {
    state: oneOf(['none', 'scheduled', 'done', 'dead_letter']),
    attempts: count('polls made'),
    next_at: orNull(time('when the broker is asked next'), { examples: [null] }),
  },
  { title: 'Verification', description: 'How the fill is followed up.' },
);

export const OrderLook = Type.Object(
  { order_id: id('of the order'), verification: Verification },
  { title: 'OrderLook', description: 'The look is under way; the order shows what it found.' },
);

const summaryFields = {
  user_id: id('of the owner'),
  ...orderFields,
  ...protectionFields,
  ...sizeFields,
  group_id,
  ...pricedFields,
  entry_id: orNull(
    text('of an entry with a price, its own name (`id`): the next one of that name takes its place', [
      'Long',
    ]),
  ),
  real_money: flag(
    'false: it is simulated, or its account is paper or not live; also of an account that is deleted',
    true,
  ),
  deadline_at: time('after this nothing is sent any more'),
  guards: Type.Array(GuardVerdict, {
    description: 'what the account’s guards said of the entry',
    examples: [[]],
  }),
  verification: Verification,
};

export const OrderSummary = Type.Object(summaryFields, {
  title: 'OrderSummary',
  description: 'An order in a list: the record without `trace` and `legs`.',
});

const neighbourFields = {
  order_id: id('of that order'),
  submitted_at: time('when its signal arrived'),
  action: oneOf(ACTIONS),
  quantity: number('as it was asked for'),
  status: oneOf(ORDER_STATUSES, { examples: ['filled'] }),
};
const neighbour = (description: string) =>
  orNull(Type.Object(neighbourFields, { title: 'NeighbourOrder' }), { description, examples: [null] });

const exitReasonText = text('why a protection closed the position, as a sentence', ['The stop was reached.']);

export const OrderStory = Type.Object(
  {
    signal_id: orNull(id('of the signal that it came from; null: it came from no webhook')),
    previous_order: neighbour('the one before it of the same account, symbol and mode; null: there is none'),
    next_order: neighbour('the one after it; null: there is none yet'),
    last_look: orNull(
      text('why the last look at the broker found no end; null: there was none, or it found it'),
      { examples: [null] },
    ),
    protected: orNull(
      Type.Object(
        {
          at: time('when its stop was first seen at the broker'),
          unprotected_ms: count('milliseconds since its first fill was known', 82),
          protection_id: id('of the protection'),
        },
        { title: 'ProtectedStep' },
      ),
      {
        description: 'null: it asked for no stop, its stop has not been seen yet, or one stood before it',
        examples: [null],
      },
    ),
    closes: Type.Array(
      Type.Object(
        { ...neighbourFields, exit_reason: oneOf(EXIT_REASONS), exit_reason_text: exitReasonText },
        { title: 'ProtectiveClose' },
      ),
      {
        description: 'orders by which what it asked for closed the position, the oldest first',
        examples: [[]],
      },
    ),
    caused_by: neighbour('of such a close: the order that had set the protection; null: it is none'),
    exit_reason_text: orNull(exitReasonText, { examples: [null] }),
  },
  { title: 'OrderStory', description: 'What stands around an order.' },
);

export const OrderRecord = Type.Object(
  {
    ...summaryFields,
    trace: Trace,
    legs: Type.Array(
      Type.Object(
        {
          leg: oneOf(['exit', 'entry'], { examples: ['entry'] }),
          client_order_id: text('under which it goes to the broker'),
          broker_ref: orNull(text("the broker's reference")),
          side: oneOf(['buy', 'sell']),
          quantity: number('what is sent'),
          status: oneOf(LEG_STATUSES, { examples: ['filled'] }),
          fill_price: orNull(number('the average price', 60_000)),
          fill_quantity: orNull(number('what was filled')),
          fee: orNull(number("in the account's currency; null: the broker does not say", 0.05)),
          sent_at: orNull(time('when it was sent')),
          acked_at: orNull(time('when the broker was first known to have it')),
          filled_at: orNull(time('when it was filled')),
        },
        { title: 'Leg', description: 'One order at the broker; a reversal has two.' },
      ),
    ),
  },
  { title: 'OrderRecord', description: 'Everything that is known of an order.' },
);
