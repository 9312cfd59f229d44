// What the kill switch answers.

import { Type } from 'typebox';
import { Account } from './answers.ts';
import { OrderResult } from './order-answers.ts';
import { count, number, orNull, saying, text } from './parts.ts';
import { oneOf } from './requests.ts';

export const Halted = Type.Object(
  {
    account: Account,
    orders: Type.Array(OrderResult, saying('one per position that was closed, or is being closed')),
    flatten: orNull(
      Type.Object({
        closed: Type.Array(text('an order by which a position was closed')),
        left: Type.Array(
          Type.Object({
            symbol: text('what is, or may be, still held', ['BTCUSDT.P']),
            quantity: number('signed, as far as it is known', 1),
            code: text(
              '`closing`: its close is still being tried, until its deadline; `not_tradable`; `entry_resting`: an entry that is not known to have been taken back; `close_unconfirmed`; or the error of its close',
              ['closing'],
            ),
            message: text('what is in the way, and until when it is tried'),
          }),
        ),
        cancelled: count('entries that rested at the broker and were taken back', 0),
        cancel_error: orNull(text('why not all of them could be'), { examples: [null] }),
      }),
      { description: 'null: it was not asked for' },
    ),
    flatten_error: orNull(
      Type.Object({ code: text('of the denial'), message: text('what is or may be open, and what to do') }),
      {
        description:
          'null: all could be read, and nothing is left open, by the broker’s word and by what is saved of each close. The halt holds in any case',
        examples: [null],
      },
    ),
  },
  { title: 'Halted' },
);

export const LeftOrder = Type.Object(
  {
    symbol: text('the broker’s name of it', ['BTCUSDT']),
    kind: oneOf(['stop', 'target', 'entry']),
    price: orNull(number('where it stands', 64_000)),
    broker_ref: orNull(text('the broker’s reference', ['8412097'])),
  },
  { title: 'LeftOrder' },
);

export const LeftAtBroker = Type.Object(
  {
    left: Type.Array(
      LeftOrder,
      saying('protective orders that stay at the broker, and are yours to look after'),
    ),
  },
  { title: 'LeftAtBroker' },
);
