// The shapes of what orders came to.

import { Type } from 'typebox';
import { count, flag, map, number, orNull, text } from './parts.ts';

const latency = (share: string, example: number) =>
  orNull(number(`${share} of the orders were not slower; null: the broker answered none`, example));

export const Performance = Type.Object(
  {
    days: Type.Array(
      Type.Object(
        {
          day: text('of UTC', ['2026-11-16']),
          realised: orNull(number('what was filled on it earned, less the known fees', 12.5)),
          orders: map(count('orders', 3), {
            description: 'those submitted on it, by status',
            examples: [{ filled: 3 }],
          }),
          latency_ms: Type.Object(
            { p50: latency('half', 20), p90: latency('90 %', 35), p99: latency('99 %', 60) },
            { description: 'from the acceptance of an order to the broker’s answer' },
          ),
          slippage: orNull(
            number(
              'summed, in money: of every order that had a price, what its fill brought more than that price; below zero is worse; null: none had one',
              -0.75,
            ),
          ),
        },
        { title: 'PerformanceDay' },
      ),
    ),
    symbols: Type.Array(
      Type.Object(
        {
          symbol: text('in its shortest spelling', ['BTCUSDT']),
          realised: orNull(number('of its fills, less the known fees', 12.5)),
          orders: count('submitted', 3),
          volume: number('filled, in units of the symbol', 3),
          exit_reasons: map(count('closes', 1), {
            description: 'what protection closed, by `exit_reason`',
            examples: [{ stop_loss: 1 }],
          }),
        },
        { title: 'PerformanceSymbol' },
      ),
    ),
    latencies: Type.Array(
      Type.Object(
        {
          up_to_ms: orNull(count('milliseconds at the most; null: longer than the one before', 20)),
          orders: count('from the acceptance of an order to the broker’s answer', 41),
          broker: count('the broker’s own share, from when it was sent', 52),
        },
        { title: 'PerformanceLatency' },
      ),
      { description: 'how many orders took how long; nothing is longer or shorter than these' },
    ),
    real_money: orNull(
      flag(
        'true: all of it is real money; false: none; null: both are added up here, or there is nothing',
        true,
      ),
    ),
    currency: orNull(
      text(
        'of all amounts here; null: there are none, or the accounts are kept in several currencies, and then the amounts are null too: ask for one account',
        ['USD'],
      ),
    ),
  },
  { title: 'Performance', description: 'What the orders came to.' },
);
