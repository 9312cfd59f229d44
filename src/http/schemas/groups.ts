// The shapes of groups: what is read and what is answered, also by a group's webhook.

import { Type } from 'typebox';
import { FEWEST_MEMBERS, MOST_MEMBERS } from '../../domain/groups.ts';
import { OrderResult, SyncResult } from './order-answers.ts';
import { count, flag, id, map, number, orNull, Problem, text, time } from './parts.ts';
import { name, uuid } from './requests.ts';

const memberBody = Type.Object(
  {
    trading_account_id: uuid,
    factor: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1000,
        default: 1,
        description: 'what this account trades of what the signal says',
        examples: [0.5],
      }),
    ),
    // Read by domain/groups.ts, which names what is wrong.
    symbols: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'as the alert calls them → as this account trades them; at most 100',
        examples: [{ 'BTCUSDT.P': 'BTCUSDT' }],
      }),
    ),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'false: signals skip it, exits too' })),
  },
  { additionalProperties: false },
);

const groupFields = {
  max_request_age: Type.Optional(
    Type.Integer({ minimum: 10, maximum: 3600, default: 300, description: 'seconds' }),
  ),
  enabled: Type.Optional(
    Type.Boolean({ default: true, description: 'false: entries are refused, exits pass' }),
  ),
};
const members = Type.Array(memberBody, {
  minItems: FEWEST_MEMBERS,
  maxItems: MOST_MEMBERS,
  description: 'accounts of yours, each once',
  examples: [
    [
      { trading_account_id: '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10' },
      { trading_account_id: '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d11', factor: 0.5 },
    ],
  ],
});

export const GroupBody = Type.Object({ name, ...groupFields, members }, { additionalProperties: false });

export const GroupChangeBody = Type.Object(
  { name: Type.Optional(name), ...groupFields, members: Type.Optional(members) },
  { additionalProperties: false, minProperties: 1 },
);

const shownFields = {
  id: id('of the group'),
  name: text('as its owner calls it', ['Three accounts']),
  max_request_age: Type.Integer({ description: 'how old a signal may be, in seconds', examples: [300] }),
  enabled: flag('false: entries are refused, exits pass', true),
  members: Type.Array(
    Type.Object(
      {
        trading_account_id: id('of the account'),
        factor: number('what it trades of what the signal says'),
        symbols: map(Type.String(), { description: 'as the alert calls them → as it trades them' }),
        enabled: flag('false: signals skip it, exits too', true),
      },
      { title: 'GroupMember' },
    ),
    { description: 'in their order; a deleted account leaves, and may leave one' },
  ),
  webhook_url: Type.String({
    format: 'uri',
    description: 'where the charting platform sends to',
    examples: ['https://fillpath.example/webhook/group-Wn4cQ0aV/order'],
  }),
  webhook_token: text('the part of the URL that names the group; keep it to yourself', ['group-Wn4cQ0aV']),
  created_at: time('when the group was made'),
};

export const Group = Type.Object(shownFields, { title: 'Group' });
export const GroupWithSecret = Type.Object(
  { ...shownFields, webhook_secret: text('for the field `secret` of every real signal', ['hT0s…']) },
  { title: 'GroupWithSecret', description: 'The group, and its webhook secret.' },
);

/** What a problem says, without the request that it is the answer to. */
const {
  request_id: _,
  group_id: _group,
  members: _members,
  orders: _orders,
  ...problemFields
} = Problem.properties;
const MemberProblem = Type.Object(problemFields, {
  title: 'MemberProblem',
  description: 'Why a member was refused.',
});

export const memberOrders = Type.Array(
  Type.Object(
    {
      trading_account_id: id('of the member'),
      order_id: orNull(id('of its order; null: it was refused')),
      code: orNull(text('why it was refused'), { examples: [null] }),
      detail: orNull(text('the same for a person'), { examples: [null] }),
    },
    { title: 'MemberOrder' },
  ),
  { description: 'of a group’s signal: what became of it at each member; empty: it was for one account' },
);

const memberAnswer = {
  trading_account_id: id('of the member'),
  order: orNull(OrderResult, { description: 'null: it was refused, or a `sync` moved nothing' }),
  error: orNull(MemberProblem, { description: 'null: it was accepted', examples: [null] }),
};
const { order: __, ...reported } = SyncResult.properties;

export const GroupResult = Type.Object(
  {
    group_id: id('of the group'),
    members: Type.Array(
      Type.Object({
        ...memberAnswer,
        ...Object.fromEntries(
          Object.entries(reported).map(([field, schema]) => [field, Type.Optional(schema)]),
        ),
      }),
      { description: 'those that are enabled; of a `sync` each says where it stands' },
    ),
    accepted: count('members that took it', 2),
    refused: count('members that did not'),
  },
  { title: 'GroupResult', description: 'What became of a group’s signal at each of its members.' },
);
