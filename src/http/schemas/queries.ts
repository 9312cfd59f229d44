// The queries of a user's lists, and of what is counted of them.

import { Type } from 'typebox';
import { BROKERS } from '../../domain/brokers.ts';
import { SECURITY_EVENTS } from '../../domain/denial.ts';
import { SIGNAL_ENDS } from '../../domain/money/day.ts';
import { CLOSED_BY } from '../../domain/money/trades.ts';
import { ORDER_STATUSES, SOURCES } from '../../domain/orders/order.ts';
import { PROTECTION_STATES } from '../../domain/protection/protection.ts';
import { SIGNAL_OUTCOMES } from '../../domain/signals/webhook-checks.ts';
import { oneOf, page, timeOf, uuid } from './requests.ts';

const realMoney = Type.Boolean({
  description:
    'true: only what traded real money; false: only what was simulated, or on an account that is paper or not live',
});

const instrument = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'a symbol, in whichever spelling it was sent: with its exchange or without, and as the account’s broker takes it',
  examples: ['BTCUSDT'],
});

export const SignalsQuery = Type.Object(
  {
    ...page,
    trading_account_id: Type.Optional(uuid),
    group_id: Type.Optional(uuid),
    outcome: Type.Optional(
      oneOf([...SIGNAL_OUTCOMES, ...SIGNAL_ENDS], {
        description:
          'only those that came to this; executed, rejected, under_way: what became of those that became an order, as the overview counts them',
      }),
    ),
    order_status: Type.Optional(
      oneOf(ORDER_STATUSES, { description: 'only those whose order is in this status' }),
    ),
    real_money: Type.Optional(realMoney),
    code: Type.Optional(
      Type.String({ pattern: '^[a-z_]{1,64}$', description: 'only those refused for this' }),
    ),
    symbol: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'as it was sent' })),
    instrument: Type.Optional(instrument),
    from: Type.Optional(timeOf('arrived at or after')),
    to: Type.Optional(timeOf('arrived at or before')),
  },
  { additionalProperties: false },
);

export const OrdersQuery = Type.Object(
  {
    ...page,
    trading_account_id: Type.Optional(uuid),
    status: Type.Optional(oneOf(ORDER_STATUSES, { description: 'only orders in it' })),
    source: Type.Optional(oneOf(SOURCES, { description: 'only orders that came this way' })),
    symbol: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'as it was sent' })),
    instrument: Type.Optional(instrument),
    simulation: Type.Optional(
      Type.Boolean({ description: 'true: only simulated orders; false: only real ones' }),
    ),
    search: Type.Optional(
      Type.String({
        pattern: '^[^\\s\\p{C}]{1,128}$',
        description:
          'an order’s id, a leg’s client order id or a broker’s reference, as it is; else how a symbol begins, in any case, with its exchange or without',
        examples: ['btc'],
      }),
    ),
    from: Type.Optional(timeOf('submitted at or after')),
    to: Type.Optional(timeOf('submitted at or before')),
  },
  { additionalProperties: false },
);

export const ProtectionsQuery = Type.Object(
  {
    ...page,
    trading_account_id: Type.Optional(uuid),
    symbol: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'as it was sent' })),
    simulation: Type.Optional(
      Type.Boolean({ description: 'true: only of simulated books; false: only real ones' }),
    ),
    side: Type.Optional(oneOf(['long', 'short'], { description: 'only of such positions' })),
    state: Type.Optional(oneOf(PROTECTION_STATES, { description: 'only those in it' })),
  },
  { additionalProperties: false },
);

export const PerformanceQuery = Type.Object(
  {
    trading_account_id: Type.Optional(uuid),
    simulation: Type.Optional(
      Type.Boolean({ default: false, description: 'true: of simulated orders instead of the real ones' }),
    ),
    real_money: Type.Optional(realMoney),
    from: Type.Optional(timeOf('submitted or filled at or after')),
    to: Type.Optional(timeOf('submitted or filled at or before')),
  },
  { additionalProperties: false },
);

const ofTrades = {
  trading_account_id: Type.Optional(uuid),
  symbol: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'in any of its spellings' })),
  strategy: Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: 64, examples: ['Breakout'] },
      description: 'only those that an alert with this `id` opened',
    }),
  ),
  closed_by: Type.Optional(oneOf(CLOSED_BY, { description: 'only those that were closed so' })),
  currency: Type.Optional(
    oneOf([...new Set(Object.values(BROKERS).map((broker) => broker.currency))], {
      description: 'only those of accounts that are kept in it',
    }),
  ),
  simulation: Type.Optional(
    Type.Boolean({ default: false, description: 'true: of simulated orders instead of the real ones' }),
  ),
  real_money: Type.Optional(realMoney),
  from: Type.Optional(timeOf('closed at or after')),
  to: Type.Optional(timeOf('closed at or before')),
};

export const TradesQuery = Type.Object({ ...page, ...ofTrades }, { additionalProperties: false });

export const TradesSummaryQuery = Type.Object(
  {
    ...ofTrades,
    tz: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 64, default: 'UTC', examples: ['Europe/Berlin'] },
        description: 'the IANA time zone of its days and hours',
      }),
    ),
  },
  { additionalProperties: false },
);

export const OverviewQuery = Type.Object(
  {
    day_start: Type.Optional(
      timeOf('when the day began where you are, at most 26 hours ago; without it the day is that of UTC'),
    ),
  },
  { additionalProperties: false },
);

export const SecurityAttacksQuery = Type.Object(
  { ...page, type: Type.Optional(oneOf(SECURITY_EVENTS, { description: 'only attacks of this kind' })) },
  { additionalProperties: false },
);

export const AuditLogQuery = Type.Object(
  {
    ...page,
    action: Type.Optional(
      Type.String({ pattern: '^[a-z_]{1,64}$', description: 'an action such as login: lower case and _' }),
    ),
    order_id: Type.Optional(uuid),
  },
  { additionalProperties: false },
);
