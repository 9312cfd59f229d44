// The shapes of answers about users and sessions, and of those to operators.

import { type TProperties, Type } from 'typebox';
import { ORDER_STATUSES } from '../../domain/orders/order.ts';
import { LeftOrder } from './halt-answers.ts';
import { count, flag, id, number, orNull, saying, text, time } from './parts.ts';
import { oneOf } from './requests.ts';

const userFields = {
  id: id('of the user'),
  email: Type.String({ format: 'email', description: 'in lower case', examples: ['ada@example.com'] }),
  is_admin: flag('true: may administer the service'),
  plan: text('as it was bought', ['pro']),
  plan_expires_at: orNull(time('null: it does not expire')),
};
const User = Type.Object(userFields, { title: 'User' });
const effective_plan = text('what holds now: an expired plan behaves as free', ['pro']);

const sessionFields = {
  id: id('of the session'),
  created_at: time('when it began'),
  ip_address: text("the client's address at login", ['203.0.113.7']),
  user_agent: text("the client's User-Agent at login", ['curl/8.9']),
};
const csrf_token = text('for the header X-CSRF-Token of every change', ['p0Yb…']);
const expires_in = count('seconds that the access token lives', 1800);

// Authentication

export const Registered = Type.Object({ user: User }, { title: 'Registered' });

export const LoggedIn = Type.Object(
  { user: User, csrf_token, expires_in },
  { title: 'LoggedIn', description: 'The session has begun; its tokens are in the cookies.' },
);

const TotpAsked = Type.Object(
  {
    totp_required: Type.Literal(true),
    login_token: text('for POST /auth/login/totp'),
    expires_in: count('seconds that the login token lives', 300),
  },
  { title: 'TotpAsked', description: 'The password is right; the code of the second factor is asked for.' },
);
export const LoginAnswer = Type.Union([LoggedIn, TotpAsked]);

export const Refreshed = Type.Object({ csrf_token, expires_in }, { title: 'Refreshed' });

export const Tokens = Type.Object(
  {
    access_token: text('a JWT, for Authorization: Bearer', ['eyJhbGciOiJIUzI1NiJ9…']),
    refresh_token: Type.Optional(
      text('works once; left out where the client holds a newer one already', ['eyJhbGciOiJIUzI1NiJ9…']),
    ),
    token_type: Type.Literal('bearer'),
    expires_in,
    csrf_token,
  },
  { title: 'Tokens' },
);

export const OwnSession = Type.Object(
  {
    user: Type.Object({ ...userFields, effective_plan }),
    session: Type.Object(sessionFields),
    csrf_token,
    terms: Type.Object({
      current_version: orNull(text('null: none are published', ['1'])),
      accepted_version: orNull(text('by this user; null: none', ['1'])),
    }),
    totp_enabled: flag('true: login asks for a code'),
    email_verified: flag(
      'false: until the link that was mailed is followed there are no second factor, API keys and notifications',
      true,
    ),
  },
  { title: 'OwnSession', description: 'Who is logged in, and with which CSRF token.' },
);

export const Session = Type.Object(
  { ...sessionFields, current: flag('true: the session that asks', true) },
  { title: 'Session' },
);

export const Enrolment = Type.Object(
  {
    secret: text('for an authenticator app, in Base32', ['JBSWY3DPEHPK3PXP']),
    otpauth_uri: text('the same as a link, for a QR code', ['otpauth://totp/Fillpath:ada%40example.com?…']),
  },
  { title: 'Enrolment' },
);

export const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(Type.String(), saying('each works once; they are shown here and never again')),
  },
  { title: 'RecoveryCodes' },
);

// Administration

export const Worker = Type.Object(
  {
    user_id: id('whose worker it is'),
    host: text('the worker host that it runs on', ['trading-1:4242']),
    started_at: time('when it started'),
    busy: flag('true: it is executing'),
    last_active_at: time('when it last had something to do'),
    connections: count('open connections to brokers', 1),
  },
  { title: 'Worker' },
);

const unreadable = {
  broker: text('which one', ['binance']),
  call: text('what it was asked, without names of orders and symbols', ['GET /fapi/v3/positionRisk']),
};

export const UnreadableReplies = Type.Object(
  {
    counts: Type.Array(
      Type.Object({
        ...unreadable,
        times: count('how often it could not be read', 3),
        first_at: time('when that began'),
        last_at: time('when it last happened'),
      }),
      saying('the last one first'),
    ),
    replies: Type.Array(
      Type.Object({
        ...unreadable,
        status: Type.Integer({ description: 'of HTTP', examples: [200] }),
        reply: text('what it said, without keys and names, cut where it is long'),
        seen_at: time('when'),
      }),
      saying('the last 20 of each broker, newest first'),
    ),
  },
  { title: 'UnreadableReplies' },
);

export const Queues = Type.Object(
  {
    orders: Type.Object(
      {
        under_way: count('accepted and not yet handed to their broker', 2),
        oldest_seconds: orNull(number('the age of the oldest of them; null: there is none', 0.4)),
      },
      { description: 'as `fillpath_orders_under_way` and `fillpath_oldest_order_seconds` have it' },
    ),
    fill_checks: Type.Object({
      scheduled: count('waiting for their time'),
      running: count('under way'),
      dead_letter: count('out of tries'),
      overdue_seconds: number('how long ago the oldest that waits was due; 0: none is', 0),
    }),
    worker_starts: Type.Object({ waiting: count('workers that are to start') }),
    hosts: Type.Array(
      Type.Object({
        name: text('of the worker host', ['trading-1:4242']),
        started_at: time('when it started'),
        workers: count('users that it serves', 120),
        busy: count('of them executing', 3),
        draining: flag('true: it takes no new users, because it is stopping or does not reach the database'),
      }),
      { description: 'the worker hosts that are there, as they last said of themselves' },
    ),
    mailboxes: Type.Array(Type.Object({ user_id: id('whose'), waiting: count('messages in it') }), {
      description: 'of users with orders under way, the fullest first, at most 100',
    }),
  },
  { title: 'Queues' },
);

export const DeadLetter = Type.Object(
  {
    order_id: id('of the order'),
    user_id: id('of its owner'),
    trading_account_id: id('of the account'),
    simulation: flag('true: it is simulated'),
    real_money: flag('false: it is simulated, or its account trades no real money', true),
    symbol: text('as it was sent', ['BTCUSDT']),
    status: oneOf(ORDER_STATUSES, { description: 'the last one known', examples: ['placed'] }),
    attempts: count('polls made', 4),
    last_error: orNull(text('of the last poll')),
    next_at: time('when the last poll was due'),
  },
  { title: 'DeadLetter', description: 'An order whose fill could not be verified.' },
);

const recordFields = {
  ...userFields,
  is_active: flag('false: nobody gets in as this user', true),
  effective_plan,
  terms_version: orNull(text('accepted; null: none', ['1'])),
  email_verified: flag('false: the user has not followed the link that was mailed', true),
  terms_accepted_at: orNull(time('null: never')),
  created_at: time('when the user registered'),
};
export const UserRecord = Type.Object(recordFields, { title: 'UserRecord' });
export const UserWithSessions = Type.Object(
  {
    ...recordFields,
    sessions: Type.Array(Type.Object(sessionFields), saying('the active ones, newest first, at most 200')),
    left: Type.Optional(
      Type.Array(
        LeftOrder,
        saying(
          'of a user who was deactivated now: the protective orders that stay at brokers, and the entries that rest there until they are taken back; without it there are none',
        ),
      ),
    ),
  },
  { title: 'UserWithSessions' },
);

// The service

const part = (more: TProperties = {}) =>
  Type.Object(
    { status: oneOf(['up', 'down']), ...more },
    saying('what it counts is left out while it is down'),
  );

export const Health = Type.Object(
  {
    status: oneOf(['up', 'down'], saying('up: every part that an order needs is')),
    version: text('of the service', ['0.1.0']),
    database: part({ kind: Type.Optional(oneOf(['sqlite', 'postgres'], { examples: ['sqlite'] })) }),
    store: part(),
    workers: part({
      hosts: Type.Optional(count('worker hosts that are there', 1)),
      active: Type.Optional(count('users that have a worker', 1)),
    }),
    queues: part({
      worker_starts: Type.Optional(count('workers that are to start')),
      fill_checks: Type.Optional(count('fills that are followed up')),
      dead_letters: Type.Optional(count('orders whose fill could not be verified')),
    }),
    audit: part({
      unsealed_seconds: Type.Optional(count('for how long the first audit entry has waited for its seal')),
    }),
  },
  { title: 'Health' },
);

export const Live = Type.Object(
  { status: oneOf(['up'], saying('it answers')), version: text('of the service', ['0.1.0']) },
  { title: 'Liveness' },
);
