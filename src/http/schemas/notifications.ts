// What is read and answered about notifications.

import { Type } from 'typebox';
import { CAUSES } from '../../domain/identity/after-theft.ts';
import { DESTINATION_KINDS, DESTINATION_STATES, EVENTS } from '../../domain/told/notification.ts';
import { count, flag, id, orNull, saying, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const DELIVERY_OUTCOMES = ['pending', 'delivered', 'given_up'] as const;

const accountIds = Type.Union([Type.Array(id('of a trading account'), { maxItems: 200 }), Type.Null()], {
  description: 'only events of these accounts, and those that are about none; null: of all',
  examples: [null],
});
const events = Type.Array(oneOf(EVENTS), {
  description: 'what is sent there',
  maxItems: EVENTS.length,
  examples: [['order_failed', 'order_unknown', 'dead_letter']],
});
const name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', examples: ['Phone'] });
const summaryHour = Type.Integer({
  minimum: 0,
  maximum: 23,
  description: 'of the day in UTC, for the daily summary',
  examples: [7],
});

export const DestinationBody = Type.Object(
  {
    kind: oneOf(DESTINATION_KINDS),
    name,
    events,
    trading_account_ids: Type.Optional(accountIds),
    summary_hour: Type.Optional(summaryHour),
    url: Type.Optional(
      Type.String({
        maxLength: 2048,
        description: "of a webhook; Discord's and Slack's are their incoming webhooks",
        examples: ['https://example.com/fillpath'],
      }),
    ),
    bot_token: Type.Optional(
      Type.String({
        maxLength: 120,
        description: 'for Telegram, from @BotFather',
        examples: ['123456789:AA…'],
      }),
    ),
    chat_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'for Telegram', examples: ['-1001234567890'] }),
    ),
  },
  { additionalProperties: false },
);

export const DestinationChangeBody = Type.Object(
  {
    name: Type.Optional(name),
    events: Type.Optional(events),
    trading_account_ids: Type.Optional(accountIds),
    summary_hour: Type.Optional(summaryHour),
    paused: Type.Optional(
      Type.Boolean({
        description: 'false: it is told again from now on, and a dead one has another chance',
        examples: [true],
      }),
    ),
  },
  { additionalProperties: false },
);

const destination = {
  id: id('of the destination'),
  kind: oneOf(DESTINATION_KINDS),
  name: text('as its owner calls it', ['Phone']),
  address: text('what it is known by; the address itself is shown to nobody', [
    'chat 123456789, bot 987654321',
  ]),
  events: Type.Array(oneOf(EVENTS), saying('what is sent there')),
  trading_account_ids: orNull(Type.Array(id('of a trading account')), {
    description: 'null: of all accounts',
    examples: [null],
  }),
  summary_hour: count('of the day in UTC, for the daily summary', 7),
  state: oneOf(
    DESTINATION_STATES,
    saying(
      '`new`: nothing has arrived there yet, nor failed; `failing`: what was sent last, an event or a test, did not arrive; `dead`: nothing more is sent, until it is resumed or a test arrives',
    ),
  ),
  since: time('of the state'),
  paused_because: orNull(
    oneOf(
      CAUSES,
      saying(
        'somebody else may have been in the account: nothing is sent there, no test either, until a session confirms it with {"paused": false}; null: only its owner pauses it',
      ),
    ),
    { examples: [null] },
  ),
  last_success_at: orNull(time('when something last arrived there')),
  last_error: orNull(text('why what was sent last did not arrive; null: it did, or nothing was sent'), {
    examples: [null],
  }),
  dropped: count('messages for which there was no room while others waited'),
  created_at: time('of its making'),
};

export const Destination = Type.Object(destination, { title: 'NotificationDestination' });

export const NewDestination = Type.Object(
  {
    ...destination,
    secret: Type.Optional(
      text('of a webhook, in this answer and nowhere else: what its signatures are verified with', [
        'whsec_…',
      ]),
    ),
  },
  { title: 'NewNotificationDestination' },
);

export const Trial = Type.Object(
  {
    delivered: flag('it has arrived', true),
    error: orNull(text('why it has not; null: it has'), { examples: [null] }),
  },
  { title: 'NotificationTrial' },
);

export const Delivery = Type.Object(
  {
    id: id('of the message; a webhook gets it as webhook-id'),
    event: oneOf([...EVENTS, 'test']),
    title: text('what happened', ['Order rejected']),
    text: text('and how'),
    folded: count('so many of a burst are told of by this one; 0: it is about itself'),
    outcome: oneOf(DELIVERY_OUTCOMES),
    attempts: count('so far', 1),
    last_error: orNull(text('of the last attempt that came to nothing'), { examples: [null] }),
    created_at: time('when it was made'),
    ended_at: orNull(time('when it arrived or was given up')),
  },
  { title: 'NotificationDelivery' },
);
