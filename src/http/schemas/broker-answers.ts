// The shapes of answers about what is asked of a broker: what is held, what it is worth, what can be traded.

import { Type } from 'typebox';
import { INTERVALS } from '../../domain/candles.ts';
import { flag, number, orNull, text, time } from './parts.ts';
import { PositionProtection } from './protection-answers.ts';
import { oneOf } from './requests.ts';

export const Positions = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          symbol: text('as an alert can send it; where it is not tradable, as the broker names it', [
            'BTCUSDT',
          ]),
          quantity: number(
            'signed: below zero is short; where it is not tradable, in whatever the broker counts it',
          ),
          average_price: orNull(number('at which it was entered; null: nothing is held', 60_000)),
          last_price: orNull(number('null: the broker does not say', 61_000)),
          open_profit: orNull(number("in the account's currency; null: the broker does not say", 1000)),
          tradable: flag(
            'false: it is held, and no order of ours can close it: hedged, of another margin currency, or unknown here',
            true,
          ),
          reason: orNull(
            text('why it is not tradable, and what to do; null: it is', ['Close it at Binance.']),
          ),
          strategy_position: orNull(number('signed: where the strategy stands, by its last signal', 1)),
          in_sync: orNull(flag('true: both are the same; null: the strategy has not said', true), {
            description:
              'true: both are the same; null: the strategy has not said, or what is held is not known',
          }),
          may_be: Type.Optional(
            Type.Array(number('signed'), {
              description:
                'only while the end of an order is not known: all that may be held, `quantity` among it',
              examples: [[0, -0.2]],
            }),
          ),
          last_signal_at: orNull(time('when the strategy last said so')),
          protection: orNull(PositionProtection, { description: 'null: nothing of ours does' }),
          risk: orNull(
            number('lost at the stop, from average_price, in the account’s currency; below zero: won', 120),
            { description: 'null: there is no stop, or what one is worth is not known' },
          ),
          closed_by_protection: orNull(
            number('what protection closed, and the strategy still counts as held'),
            { examples: [null] },
          ),
        },
        { title: 'Position' },
      ),
    ),
  },
  { title: 'Positions' },
);

export const Balance = Type.Object(
  {
    currency: text('of the account', ['USD']),
    equity: number('what the account is worth', 101_000),
    cash: number('without what the positions would bring', 100_000),
    available: number('for new positions', 90_000),
  },
  { title: 'Balance' },
);

export const Quote = Type.Object(
  {
    symbol: text('as the broker calls it', ['BTCUSDT']),
    bid: number('what a market order sells at', 59_990),
    ask: number('what a market order buys at', 60_000),
  },
  { title: 'Quote' },
);

export const Candles = Type.Object(
  {
    symbol: text('as the broker calls it', ['BTCUSDT']),
    interval: oneOf(INTERVALS, { description: 'how long each lasts', examples: ['5m'] }),
    source: oneOf(['broker', 'none'], {
      description: 'broker: they are its own; none: it has none, or we do not ask it for them',
      examples: ['broker'],
    }),
    candles: Type.Array(
      Type.Object(
        {
          at: time('when it began'),
          open: number('the first price', 60_000),
          high: number('the highest', 60_250),
          low: number('the lowest', 59_900),
          close: number('the last, so far', 60_100),
        },
        { title: 'Candle' },
      ),
      { description: 'the oldest first; time without a trade may have none' },
    ),
  },
  { title: 'Candles' },
);

export const OpenOrders = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          symbol: text('as an alert can send it', ['BTCUSDT']),
          side: oneOf(['buy', 'sell']),
          quantity: number('how much was ordered', 0.2),
          fill_quantity: number('how much of it is filled', 0),
          reduce_only: flag('true: it can only close', false),
          broker_ref: text('the broker’s own name of it', ['8801']),
          client_order_id: orNull(text('null: none of ours, or the broker does not repeat it', ['fe1a2b'])),
          order_id: orNull(text('of ours', ['019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10']), {
            description: 'null: it is none of ours',
          }),
        },
        { title: 'OpenOrder' },
      ),
    ),
  },
  { title: 'OpenOrders' },
);

export const Instrument = Type.Object(
  {
    symbol: text('as an alert can send it', ['BTCUSDT']),
    description: text('what it is', ['Bitcoin / Tether']),
    contract_size: number('units in one contract'),
    quantity_step: number('quantities are multiples of it', 0.001),
    min_quantity: number('the least that can be ordered', 0.001),
    tick_size: number('the step of its price', 0.01),
    open: flag('true: it trades now', true),
    next_open: orNull(time('when it opens next; null: it is open'), { examples: [null] }),
  },
  { title: 'Instrument' },
);
