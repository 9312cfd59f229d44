// The shapes of answers about accounts and settings, and of those for everybody.

import { Type } from 'typebox';
import { BROKER_NAMES, MARGIN_MODES } from '../../domain/brokers.ts';
import { MOVES, STOPS, TIMES_IN_FORCE } from '../../domain/capabilities.ts';
import { SECURITY_EVENTS } from '../../domain/denial.ts';
import { DAYS } from '../../domain/guards/guards.ts';
import { SEAL_ALGORITHM } from '../../domain/identity/sealed.ts';
import { FILLS, PROTECTIONS, REHEARSALS } from '../../domain/paper-settings.ts';
import { TRIGGERS, UNPROTECTED } from '../../domain/protection/settings.ts';
import { OUT_OF_SYNC } from '../../domain/signals/strategy.ts';
import { count, flag, id, map, number, orNull, pageOf, saying, text, time } from './parts.ts';
import { protectionDefaults } from './protection.ts';
import { oneOf } from './requests.ts';

// Accounts

const PaperSettings = Type.Object(
  {
    starting_cash: number('of the book', 100_000),
    latency_ms: count('before an order is accepted', 20),
    fill: oneOf(FILLS, saying('what becomes of an accepted order')),
    reject: orNull(oneOf(REHEARSALS), {
      description: 'the rejection that every order gets; null: none',
      examples: [null],
    }),
    lose_answer: flag('true: the answer to placing is lost after the order was accepted'),
    seed: Type.Integer(saying('of the prices')),
    protection: oneOf(
      PROTECTIONS,
      saying(
        'what becomes of stops: kept, each refused, taken and the answer lost, or gone when somebody looks next',
      ),
    ),
    price: orNull(Type.Record(Type.String(), Type.Number()), {
      description:
        'last prices by symbol, from when they are set on, with the usual spread; null: they go their own way. What waits for a price is settled up to that moment, and at it',
      examples: [null],
    }),
  },
  {
    title: 'PaperSettings',
    description: 'How a paper account behaves: the bad days that anyone can rehearse.',
  },
);

const perSymbol = (what: string) =>
  orNull(Type.Union([Type.Number(), Type.Record(Type.String(), Type.Number())]), {
    description: `${what}: for every symbol, or symbol by symbol, "*" for the others`,
    examples: [null],
  });
const Guards = Type.Object(
  {
    max_order_quantity: perSymbol('the most that one entry may be'),
    max_position: perSymbol('the most that may be held after it'),
    max_orders_per_minute: orNull(count('entries'), { examples: [null] }),
    cooldown_seconds: orNull(number('between two entries in one symbol', 60), { examples: [null] }),
    max_daily_loss: orNull(
      number(
        'of equity, since the first order of the UTC day; on the day on which it is set, since then',
        500,
      ),
      {
        examples: [null],
      },
    ),
    max_price_deviation_percent: orNull(number("between the broker's price and the signal's", 0.5), {
      examples: [null],
    }),
    trading_hours: orNull(
      Type.Object({
        timezone: text('of the clock', ['America/New_York']),
        windows: Type.Array(
          Type.Object({
            days: Type.Array(oneOf(DAYS)),
            from: text('inside', ['09:30']),
            to: text('not inside; before `from`: on the next day', ['16:00']),
          }),
        ),
      }),
      { examples: [null] },
    ),
    require_stop: orNull(flag('true: an entry that nothing would stop out is refused', true), {
      examples: [null],
    }),
    pauses: orNull(
      Type.Array(Type.Object({ from: time('inside'), to: time('not inside'), label: text('why', ['FOMC']) })),
      { examples: [null] },
    ),
  },
  { title: 'Guards', description: 'What holds an entry back; null: it is not set. Exits always pass.' },
);

const accountFields = {
  id: id('of the account'),
  name: text('as its owner calls it', ['Futures']),
  broker: oneOf(BROKER_NAMES),
  environment: text('live, or what else the broker offers', ['live']),
  max_request_age: Type.Integer({ description: 'how old a signal may be, in seconds', examples: [300] }),
  allowed_symbols: Type.Array(Type.String(), {
    description: 'what may be opened; empty: what the broker has',
    examples: [['BTCUSDT']],
  }),
  out_of_sync: oneOf(OUT_OF_SYNC, {
    description: 'whether what the action does not open is opened too (follow) or not (hold)',
  }),
  margin_mode: orNull(oneOf(MARGIN_MODES), {
    description:
      'which margin an order that opens a position asks for; null: its broker does not ask, see margin_help in /public/brokers',
    examples: [null],
  }),
  guards: Guards,
  protection_defaults: protectionDefaults,
  unprotected: oneOf(UNPROTECTED, saying('where the broker refuses a stop: close what is held, or alert')),
  trigger_by: oneOf(TRIGGERS, saying('which price a stop watches')),
  quantity_multiplier: number('what the sizes of its webhook are multiplied with', 1),
  silence_after: orNull(count('seconds'), {
    description: 'null: nobody is told of silence',
    examples: [null],
  }),
  require_platform_certificate: flag(
    "true: its webhook refuses whoever does not show the platform's certificate",
  ),
  halted: flag('true: the kill switch is on'),
  broker_credentials_verified: flag('true: real orders are accepted', true),
  credentials_refused: flag(
    'true: the credentials were verified, and the broker refused them later; real entries are refused until they are verified again, exits and closes are tried',
  ),
  has_credentials: flag('true: sealed credentials are stored'),
  paper: Type.Optional(PaperSettings),
  webhook_url: Type.String({
    format: 'uri',
    description: 'where the charting platform sends to',
    examples: ['https://fillpath.example/webhook/Wn4cQ0aV/order'],
  }),
  webhook_token: text('the part of the URL that names the account; keep it to yourself', ['Wn4cQ0aV']),
  created_at: time('when the account was made'),
};

export const Account = Type.Object(accountFields, { title: 'Account' });

export const VerifiedAccount = Type.Object(
  {
    ...accountFields,
    warnings: Type.Array(Type.String(), {
      description: 'what does not keep the account from trading, but its owner should know',
      examples: [['The key can withdraw.']],
    }),
  },
  { title: 'VerifiedAccount' },
);

const webhook_secret = text('for the field `secret` of every real signal', ['hT0s…']);
export const AccountWithSecret = Type.Object(
  { ...accountFields, webhook_secret },
  { title: 'AccountWithSecret', description: 'The account, and its webhook secret.' },
);
export const WebhookSecret = Type.Object({ webhook_secret }, { title: 'WebhookSecret' });

export const Resumed = Type.Object({ account: Account }, { title: 'Resumed' });

// Settings

const apiKeyFields = {
  id: id('of the key'),
  name: text('as its owner calls it', ['alerts']),
  expires_at: orNull(time('null: never'), { examples: [null] }),
  created_at: time('when the key was made'),
};
export const ApiKey = Type.Object(
  { ...apiKeyFields, last_used_at: orNull(time('null: never')) },
  { title: 'ApiKey' },
);
export const NewApiKey = Type.Object(
  { ...apiKeyFields, key: text('the key itself: it is shown here and never again', ['kq3V…']) },
  { title: 'NewApiKey' },
);

export const AllowedIp = Type.Object(
  {
    id: id('of the entry'),
    ip_address: text('an address or a CIDR block', ['203.0.113.0/24']),
    label: orNull(text('as its owner calls it', ['office'])),
    created_at: time('when it was added'),
  },
  { title: 'AllowedIp' },
);

const auditFields = {
  id: Type.Integer({ minimum: 1, description: 'counts up' }),
  user_id: id('of the user who acted, or whose webhook was called'),
  action: text('what was attempted', ['webhook_order']),
  success: flag('the outcome', true),
  ip_address: orNull(text("the client's address", ['203.0.113.7'])),
  user_agent: orNull(text('as the client names itself', ['curl/8.9'])),
  request_path: orNull(text('without the query; a webhook token is shortened')),
  request_method: orNull(text('the HTTP method', ['POST'])),
  error_message: orNull(text('why it failed; null: it did not'), { examples: [null] }),
  resource_type: orNull(text('what it was about', ['order'])),
  resource_id: orNull(text('and which one')),
  metadata: map(Type.Unknown(), {
    description: 'details such as attack_type, trading_account_id, payload_hash',
    examples: [{ simulation: false }],
  }),
  created_at: time('when it happened'),
};
export const AuditEntry = Type.Object(auditFields, { title: 'AuditEntry' });
export const SecurityAttack = Type.Object(
  { ...auditFields, type: oneOf(SECURITY_EVENTS, saying('the action once more')) },
  { title: 'SecurityAttack', description: 'An entry of the audit log that is classified as an attack.' },
);

const plan = text('its name', ['pro']);
/** Where the configuration says it. */
const room = {
  accounts: Type.Optional(count('how many trading accounts its users may have', 20)),
  api_keys: Type.Optional(count('how many API keys', 20)),
  allowed_ips: Type.Optional(count('how many allowed addresses', 50)),
};
const planFields = {
  simulation_only: flag('true: real orders are refused'),
  daily_orders: orNull(count('orders in a UTC day; null: no limit', 2000)),
};
export const Subscription = Type.Object(
  {
    plan,
    effective_plan: text('what holds now: an expired plan behaves as free', ['pro']),
    expires_at: orNull(time('null: it does not')),
    ...planFields,
    orders_today: count('real ones accepted on this UTC day', 12),
    simulated_today: count('simulated ones, which are counted apart', 3),
  },
  { title: 'Subscription' },
);

// Open to all

export const Plans = pageOf(Type.Object({ name: plan, ...planFields, ...room }, { title: 'Plan' }));

export const Brokers = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: oneOf(BROKER_NAMES, saying('for `broker` of an account')),
          title: text('its name for a person', ['Paper']),
          currency: text('what its accounts are kept in: profits and fees are in it', ['USD']),
          environments: Type.Array(Type.String(), {
            description: 'for `environment` of an account; the first is the default',
            examples: [['live']],
          }),
          credentials: Type.Array(
            Type.Object(
              {
                field: text('its name in the sealed credentials', ['api_key']),
                label: text("as the broker's own pages call it", ['API key']),
                help: text('where to find it'),
                secret: flag('true: not to be shown while it is typed', true),
                required: flag('false: it may be left out', true),
              },
              { title: 'CredentialField' },
            ),
            saying('what to seal for it; empty: it needs none'),
          ),
          capabilities: Type.Object(
            {
              refuses_duplicate_ids: flag('true: a second order under one id is refused for ever', true),
              finds_by_client_id_ms: orNull(
                count('for how long an order is found by our id; 0: never; null: for ever', 60_000),
              ),
              reduce_only: flag('true: what closes can never open the other side', true),
              fractional_quantities: flag('true: parts of one can be traded', true),
              margin_mode: flag('true: an account with it has the setting `margin_mode`'),
              stop: oneOf(STOPS, saying('what a stop there closes: all that is held, or its quantity')),
              moves: oneOf(MOVES, saying('how a stop there gets another price')),
              reserves: flag('true: what an order that rests would close can be closed by nothing else'),
              stop_entries: flag('true: an entry can wait for a price to be reached', true),
              time_in_force: Type.Array(oneOf(TIMES_IN_FORCE), saying('of orders that rest')),
            },
            { title: 'Capabilities' },
          ),
          margin_help: orNull(
            text('who says whether margin is cross or isolated; null: there is no such thing'),
          ),
          symbols_help: text('which symbols an alert can send'),
        },
        { title: 'Broker' },
      ),
    ),
  },
  { title: 'Brokers' },
);

export const Terms = Type.Object(
  {
    version: text('accept this one', ['1']),
    text: text('the terms themselves'),
    published_at: time('since when they hold'),
  },
  { title: 'Terms' },
);

export const PublicConfig = Type.Object(
  {
    captcha: orNull(
      Type.Object({
        provider: oneOf(['turnstile', 'recaptcha', 'hcaptcha']),
        site_key: text('for its script'),
      }),
      saying('the bot challenge of login and registration; null: none is asked for'),
    ),
    demo: orNull(
      Type.Object({
        email: text("the demo's user"),
        password: text('for everybody who can reach the service'),
      }),
      saying(
        'invented accounts and strategies play here, on paper accounts only, and this is how to log in; null: this is no demo',
      ),
    ),
    mail: flag('mails are sent; false: the operator has set no mail server, and none reaches you', true),
    verify_email: flag('who registers has to follow a link that is mailed to the address', true),
  },
  { title: 'PublicConfig' },
);

export const SealingKey = Type.Object(
  {
    kty: Type.Literal('EC'),
    crv: Type.Literal('P-256'),
    x: text('a coordinate'),
    y: text('a coordinate'),
    use: Type.Literal('enc'),
    alg: Type.Literal(SEAL_ALGORITHM),
    kid: text('the thumbprint, as RFC 7638 says'),
  },
  { title: 'SealingKey', description: 'A public JWK. Seal with ECDH-ES and A256GCM, as a compact JWE.' },
);
