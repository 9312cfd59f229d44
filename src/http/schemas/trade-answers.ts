// The shapes of round trips, and of what they came to.

import { Type } from 'typebox';
import { CLOSED_BY } from '../../domain/money/trades.ts';
import { count, flag, id, number, orNull, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const closedBy = orNull(
  oneOf(CLOSED_BY, {
    examples: ['take_profit'],
    description:
      'an `exit_reason` of its protection; signal: an exit of the strategy; reversal: an order that went to the other side; dashboard: by hand; closed_elsewhere: at the broker, by somebody else; null: it is open',
  }),
);
const tradeId = text('the order that opened it', ['01990000-0000-7000-8000-000000000000']);

const trade = {
  id: tradeId,
  trading_account_id: id('whose it is'),
  broker_name: text('its broker', ['paper']),
  simulation: flag('no real order'),
  real_money: flag('on an account that trades real money'),
  symbol: text('in its shortest spelling', ['BTCUSDT']),
  side: oneOf(['long', 'short'], { examples: ['long'] }),
  quantity: number('all that was opened', 0.4),
  opened_at: time('of its first fill'),
  closed_at: orNull(time('of its last fill; null: it is open')),
  held_ms: orNull(count('between the two', 11_530_000)),
  entry_price: number('the average price', 65_020),
  exit_price: orNull(number('the average price of what we closed ourselves', 66_365.75)),
  profit: number('after the fees that are known', 514.04),
  currency: text('of its amounts', ['USDT']),
  fees: number('those that are known, in that currency', 24.26),
  fees_unknown: count('fills whose fee the broker does not say, or takes in another currency: in no sum'),
  slippage: orNull(
    number('in money, of its orders that had a price; below zero is worse; null: none had one', -1.08),
  ),
  closed_by: closedBy,
  closed_elsewhere: number('how much of it somebody else closed: what that earned is not known', 0),
  strategy: orNull(text('the `id` of the alert that opened it', ['Breakout'])),
  entry_order_ids: Type.Array(Type.String(), { description: 'what opened it, the first 50' }),
  exit_order_ids: Type.Array(Type.String(), { description: 'what closed it, the last 50' }),
};

export const Trade = Type.Object(trade, { title: 'Trade', description: 'One round trip.' });

export const TradeStory = Type.Object(
  {
    ...trade,
    fills: Type.Array(
      Type.Object(
        {
          at: time('when'),
          order_id: orNull(id('of our order; null: somebody else closed it')),
          side: oneOf(['buy', 'sell'], { examples: ['buy'] }),
          quantity: number('how much of this trade', 0.2),
          price: orNull(number('the average price; null: not known', 66_400)),
          asked_price: orNull(number('what the strategy saw', 66_400)),
          fee: orNull(number('in the account’s currency; null: not known', 6.64)),
          slippage: orNull(number('in money', 0)),
          position: number('after it, signed', 0.2),
          profit: orNull(number('what it earned, less its fee; null: not known', 269.36)),
          closed_by: closedBy,
        },
        { title: 'TradeFill' },
      ),
      { description: 'the oldest first' },
    ),
  },
  { title: 'TradeStory', description: 'One round trip, fill by fill.' },
);

const sums = {
  trades: count('how many', 12),
  won: count('of them earned something', 7),
  profit: number('after fees', 120.5),
};
const ratio = (description: string, example: number) =>
  orNull(number(`${description}; null: too few trades to say`, example));

export const TradesSummary = Type.Object(
  {
    currency: orNull(text('of all amounts here; null: there are no trades', ['USDT'])),
    currencies: Type.Array(
      Type.Object(
        { currency: text('one', ['USDT']), trades: count('of it', 135) },
        { title: 'TradesCurrency' },
      ),
      { description: 'that of most trades first' },
    ),
    real_money: orNull(
      flag(
        'true: all of it is real money; false: none; null: both are added up here, or there is nothing',
        true,
      ),
    ),
    tz: text('the time zone of its days and hours', ['UTC']),
    enough_trades: count('from so many on there are ratios', 20),
    ...sums,
    lost: count('of them lost something', 5),
    not_known: count('closed by somebody else: neither won nor lost'),
    won_profit: number('of those that were won', 520.5),
    lost_profit: number('of those that were lost', -400),
    fees: number('those that are known', 12.4),
    fees_unknown: count('fills whose fee is not known, or of another currency: in no sum'),
    slippage: orNull(number('in money; null: no order had a price', -3.1)),
    win_rate: ratio('the part that was won', 0.58),
    profit_factor: ratio('earned for each 1 lost; null also where nothing was lost', 1.3),
    expectancy: ratio('what a trade brings on average', 10.04),
    average_win: orNull(number('null: none was won', 74.36)),
    average_loss: orNull(number('null: none was lost', -80)),
    best_trade: orNull(number('its profit', 210)),
    worst_trade: orNull(number('its profit', -150)),
    losses_in_a_row: orNull(
      Type.Object(
        {
          trades: count('how many', 5),
          from: time('the first was closed'),
          to: time('the last was closed'),
          profit: number('of all of them', -310.2),
        },
        { title: 'TradesLosses', description: 'the most; null: none was lost' },
      ),
    ),
    drawdown: orNull(
      Type.Object(
        {
          amount: number('below the highest point before it', -618.93),
          from: time('of the highest point'),
          to: time('of the lowest point'),
          back_at: orNull(time('when it was as high again; null: not yet')),
        },
        { title: 'TradesDrawdown', description: 'the deepest; null: there was none' },
      ),
    ),
    equity: Type.Array(
      Type.Object(
        {
          at: time('a trade was closed'),
          profit: number('the sum so far', 120.5),
          drawdown: number('below the highest point so far', 0),
        },
        { title: 'TradesPoint' },
      ),
      { description: 'trade by trade; of more than 1,000 those that show' },
    ),
    days: Type.Array(Type.Object({ day: text('of `tz`', ['2026-11-16']), ...sums }, { title: 'TradesDay' }), {
      description: 'on which a trade was closed',
    }),
    symbols: Type.Array(
      Type.Object(
        { symbol: text('in its shortest spelling', ['BTCUSDT']), ...sums },
        { title: 'TradesSymbol' },
      ),
      { description: 'the 100 with most trades' },
    ),
    strategies: Type.Array(
      Type.Object(
        { strategy: orNull(text('the `id` of the alerts; null: of none', ['Breakout'])), ...sums },
        { title: 'TradesStrategy' },
      ),
      { description: 'the 100 with most trades' },
    ),
    hours: Type.Array(
      Type.Object({ hour: count('of `tz`, 0 to 23', 14), ...sums }, { title: 'TradesHour' }),
      { description: 'in which a trade was opened' },
    ),
    closed_by: Type.Array(Type.Object({ closed_by: oneOf(CLOSED_BY), ...sums }, { title: 'TradesCloser' }), {
      description: 'by what closed them',
    }),
    realised: orNull(
      Type.Object(
        {
          trades: number('the sum of these trades', 120.5),
          earned_before: number('of it: what they had earned before `from`, in parts and fees', 0),
          open_trades: number('what others, not closed in that time, have earned in it', -2.1),
          foreign_fees: number('paid to close what somebody else had opened', 0),
          realised: number(
            'trades less earned_before, with open_trades, less foreign_fees: the realised profit of `/trading/performance`',
            118.4,
          ),
        },
        {
          title: 'TradesRealised',
          description:
            'how the sum of these trades becomes the realised profit of the same time; null: with a filter by symbol, strategy or what closed them',
        },
      ),
    ),
  },
  { title: 'TradesSummary', description: 'What the trades came to.' },
);
