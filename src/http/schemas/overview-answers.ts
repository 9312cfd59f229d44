// The shape of what a user sees first.

import { Type } from 'typebox';
import { BROKER_NAMES } from '../../domain/brokers.ts';
import { ENDED_KINDS, SEVERITIES, TROUBLES } from '../../domain/told/trouble.ts';
import { count, flag, id, number, orNull, saying, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const about = {
  order_id: Type.Optional(id('of the order that it is about')),
  trading_account_id: Type.Optional(id('of the account')),
  symbol: Type.Optional(text('of the position or the order', ['BTCUSDT'])),
};

const Todo = Type.Object(
  {
    kind: oneOf(TROUBLES),
    severity: oneOf(SEVERITIES, {
      description:
        'risk: money is, or may be, where neither you nor the strategy knows; act: something is to be done',
    }),
    since: orNull(time('since when; null: it is not known')),
    title: text('what it is, as a sentence'),
    detail: text('with the figures, and what to do'),
    ...about,
    protection_id: Type.Optional(id('of the protection that it is about')),
    strategy_position: Type.Optional(number('of a drift; signed: where the strategy stands', 1)),
    broker_position: Type.Optional(
      orNull(number('of a drift; signed: what the account held when both were last compared', 2)),
    ),
    attempts: Type.Optional(count('of an order: looks at the broker that were made', 2)),
    most_attempts: Type.Optional(count('looks that are made automatically', 4)),
    next_at: Type.Optional(orNull(time('when the broker is asked next; null: nobody asks any more'))),
  },
  { title: 'Todo', description: 'A thing to do.' },
);

const LastTrouble = Type.Object(
  {
    kind: oneOf(ENDED_KINDS),
    title: text('what it was', ['BTCUSDT drifted on Futures']),
    ended_at: time('when it was over'),
    ...about,
  },
  { title: 'LastTrouble' },
);

const AccountToday = Type.Object(
  {
    id: id('of the account'),
    name: text('as its owner calls it', ['Futures']),
    broker_name: oneOf(BROKER_NAMES),
    environment: text('live, or what else the broker offers', ['live']),
    real_money: flag('false: it is paper, or not live', true),
    halted: flag('true: the kill switch is on'),
    halted_since: orNull(time('null: it is off, or it is not known'), { examples: [null] }),
    credentials: oneOf(['verified', 'refused', 'not_verified', 'missing']),
    credentials_since: orNull(time('when the broker took or refused them; null: it was not asked')),
    last_signal_at: orNull(time('of any signal; null: none has come')),
    connection: Type.Object(
      {
        state: oneOf(['answering', 'silent', 'refused', 'not_known']),
        at: orNull(time('when it was seen')),
      },
      saying('as the last real order of the day found the broker; nobody is asked for it'),
    ),
    positions: orNull(
      Type.Object({
        in_sync: count('symbols whose position is the strategy’s', 2),
        of: count('symbols whose strategy has said where it stands', 3),
      }),
      saying('as they were last compared; null: no strategy has said anything, or nobody could compare'),
    ),
    counted_all: flag('false: of the newest 20,000 of the day, of all accounts', true),
    orders_today: count('real ones', 12),
    simulated_today: count('simulated ones', 3),
    realised_today: orNull(
      number(
        'of real orders; null: they are too many to count here, or what an open position cost lies too far back',
        12.5,
      ),
    ),
    currency: text('of the account', ['USD']),
    profit_steps: Type.Array(
      Type.Object({ at: time('of a fill'), realised: number('on the day, up to and with it', 12.5) }),
      { description: 'how it came about; at most 60, the oldest first' },
    ),
    signals_today: Type.Array(
      Type.Object({
        at: time('when it arrived'),
        refused: flag('true: it became no order'),
        simulation: flag('true: for the simulated book'),
      }),
      saying('the newest first, at most 300'),
    ),
  },
  { title: 'AccountToday' },
);

export const Overview = Type.Object(
  {
    checked_at: time('the time here, now'),
    day_start: time('when the day began'),
    in_order: flag('true: nothing is to be done', true),
    since: orNull(time('when the last trouble was over; null: none is known of')),
    last_trouble: orNull(LastTrouble, saying('what was over then')),
    todo: Type.Array(Todo, { description: 'the worst first, at most 50', examples: [[]] }),
    todo_more: count('how many more there are'),
    counted_all: flag(
      'false: the day has more orders than are counted here; what follows counts the newest 20,000 of them',
      true,
    ),
    orders_today: Type.Object({
      accepted: count('real orders of the day', 36),
      unresolved: count('of them: nobody knows their end'),
      half_answered_within_ms: orNull(number('of those that were filled', 41)),
    }),
    signals_today: Type.Object(
      {
        total: count('all of them', 42),
        executed: count('became an order that was placed, filled or needed nothing', 38),
        rejected: count('became an order that was rejected, failed, was cancelled or expired', 1),
        under_way: count('became an order that has not come to that yet', 1),
        refused: count('refused: became no order', 2),
        reported: count('said where the strategy stands, and nothing had to be traded'),
      },
      saying('real and simulated'),
    ),
    limit: Type.Object(
      {
        day: text('of UTC', ['2026-11-16']),
        daily_orders: orNull(count('orders in a UTC day; null: no limit', 2000)),
        orders_today: count('real ones accepted on that day', 12),
        simulated_today: count('simulated ones, which are counted apart', 3),
      },
      saying('the plan’s'),
    ),
    accounts: Type.Array(AccountToday, saying('the oldest first')),
    audit: Type.Object(
      {
        sealed: flag('true: every entry is sealed, or was written a moment ago', true),
        sealed_up_to: count('the id of an entry: all up to it are sealed', 18_442),
        entries: count('sealed, of all users', 18_442),
        unsealed_seconds: count('for how long the first entry has waited for its seal'),
        checked_at: time('when this was looked at'),
      },
      saying('the audit log’s chain'),
    ),
  },
  { title: 'Overview', description: 'How everything stands.' },
);
