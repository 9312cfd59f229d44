// The shapes of answers about signals, and of what would become of one.

import { Type } from 'typebox';
import { QUANTITY_TYPES } from '../../domain/orders/sizing.ts';
import { CHECKS, SIGNAL_OUTCOMES } from '../../domain/signals/webhook-checks.ts';
import { memberOrders } from './groups.ts';
import { GuardVerdict, OrderError, pricedFields, Sizing } from './order-answers.ts';
import { flag, id, number, orNull, text, time } from './parts.ts';
import { plannedLegs } from './protection.ts';
import { oneOf } from './requests.ts';

const signalFields = {
  id: id('of the signal'),
  arrived_at: time('when it arrived'),
  trading_account_id: id('of the account'),
  simulation: flag('true: for the simulated book'),
  real_money: flag(
    'false: it is simulated, or its account is paper or not live; also of an account that is deleted',
    true,
  ),
  symbol: orNull(text('null: it could not be read', ['BTCUSDT'])),
  action: orNull(text('null: it could not be read', ['buy'])),
  quantity: orNull(number('null: it could not be read')),
  quantity_type: oneOf(QUANTITY_TYPES, { description: 'what that counts', examples: ['units'] }),
  outcome: oneOf(SIGNAL_OUTCOMES),
  code: orNull(text('why it was refused'), { examples: [null] }),
  detail: orNull(text('the same for a person'), { examples: [null] }),
  order_id: orNull(id('of the order that it became')),
  order_status: orNull(text('of that order', ['filled'])),
  position_before: orNull(number('signed; before that order', 0)),
  fill_price: orNull(number('of that order', 60_000)),
  slippage: orNull(number('against the price that the signal saw', 0)),
  group_id: orNull(id('of the group that it was sent to; null: to one account'), { examples: [null] }),
  orders: memberOrders,
  total_ms: orNull(number('from its arrival to the answer', 12)),
  ip_address: text('where it came from', ['52.89.214.238']),
};

export const SignalSummary = Type.Object(signalFields, {
  title: 'SignalSummary',
  description: 'An arrival at a webhook.',
});

const Verdicts = Type.Array(
  Type.Object(
    {
      check: oneOf(CHECKS),
      outcome: oneOf(['passed', 'refused', 'not_reached']),
      detail: orNull(text('what to do'), { examples: [null] }),
    },
    { title: 'CheckVerdict' },
  ),
  { description: 'in the order of the checks' },
);
const understood = orNull(Type.Object({}, { additionalProperties: true }), {
  description: 'what the message says, as it was understood; null: it was not',
});
const ignored = Type.Array(Type.String(), { description: 'names of fields that are not known' });

export const SignalRecord = Type.Object(
  {
    ...signalFields,
    message: orNull(
      text('as it was received, the secret masked; null: it was too large, or is no longer kept'),
    ),
    understood,
    ignored,
    checks: Verdicts,
  },
  { title: 'SignalRecord' },
);

const OrderPlan = Type.Object(
  {
    legs: Type.Array(
      Type.Object({ leg: oneOf(['exit', 'entry']), side: oneOf(['buy', 'sell']), quantity: number('of it') }),
      { description: 'in the order of sending' },
    ),
    text: text('the same in words', [
      'Buy 1 BTCUSDT at the market to open a long position. The position would go from 0 to 1.',
    ]),
    protection: orNull(plannedLegs, {
      description:
        'what would protect the position; distances count from the price of now. Empty: nothing is asked for; null: the market could not be asked',
      examples: [[]],
    }),
    sizing: orNull(Sizing, { description: 'null: it trades as many units as it says', examples: [null] }),
    rests: orNull(
      Type.Object({
        kind: oneOf(['market', 'limit', 'stop', 'stop_limit']),
        ...pricedFields,
      }),
      {
        description: 'what of it would rest at the broker, and until when; null: nothing would',
        examples: [null],
      },
    ),
    guards: Type.Array(GuardVerdict, { description: 'what the guards say of the entry', examples: [[]] }),
    error: orNull(OrderError, {
      description: 'how it would end, where it would not be filled',
      examples: [null],
    }),
  },
  { title: 'OrderPlan', description: 'What would be sent; nothing is.' },
);

const memberError = orNull(
  Type.Object({
    code: text('why it would be refused', ['account_halted']),
    detail: text('the same for a person'),
    advice: text('what to do'),
  }),
  { description: 'null: it would be accepted', examples: [null] },
);

export const PlannedOrder = Type.Object(
  {
    ...OrderPlan.properties,
    members: orNull(
      Type.Array(
        Type.Object(
          {
            trading_account_id: id('of the member'),
            plan: orNull(OrderPlan, { description: 'null: it would get no order' }),
            error: memberError,
          },
          { title: 'PlannedMember' },
        ),
      ),
      {
        description: 'of a group: each member that is enabled; null: it is for one account',
        examples: [null],
      },
    ),
  },
  {
    title: 'PlannedOrder',
    description: 'What would be sent; of a group, by the first member that has a plan.',
  },
);

export const CheckedMessage = Type.Object(
  {
    checks: Verdicts,
    understood,
    ignored,
    plan: orNull(OrderPlan, { description: 'null: it would give no order; of a group, its first member’s' }),
    members: orNull(
      Type.Array(
        Type.Object(
          {
            trading_account_id: id('of the member'),
            checks: Verdicts,
            plan: orNull(OrderPlan, { description: 'null: it would get no order' }),
            error: memberError,
          },
          { title: 'CheckedMember' },
        ),
      ),
      {
        description: 'of a group: each member that is enabled; null: it is for one account',
        examples: [null],
      },
    ),
    corrected: orNull(text('to paste; null: the message works as it stands')),
    service: orNull(text('for which the message was written', ['TradersPost']), { examples: [null] }),
    lost: Type.Array(Type.String(), {
      description: 'what it asks for that is not done here',
      examples: [[]],
    }),
    examples: Type.Array(
      Type.Object({
        field: orNull(text('in which it stands', ['quantity'])),
        placeholder: text('as it stands there', ['{{strategy.order.contracts}}']),
        value: text('what the platform might fill in', ['1']),
      }),
      {
        description:
          'placeholders that were filled in to judge the message; none of a message that was received, which is judged as it came',
      },
    ),
  },
  { title: 'CheckedMessage' },
);
