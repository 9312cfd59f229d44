// Every broker there is, described: what an account with it needs, what it can promise, and where it differs from the
// others. A new one is an entry here, how it is opened in broker/registry.ts, and its folder.

import { type Capabilities, TIMES_IN_FORCE } from './capabilities.ts';

export const MARGIN_MODES = ['cross', 'isolated'] as const;
export type MarginMode = (typeof MARGIN_MODES)[number];

/** Who says whether a position's margin is cross or isolated. */
interface Margin {
  /** true: each order does, by the account's setting; false: the broker keeps it by itself, and it is left alone. */
  readonly isAsked: boolean;
  readonly help: string;
}

interface CredentialField {
  /** Its name in the sealed credentials. */
  readonly field: 'api_key' | 'api_secret' | 'passphrase';
  /** As the broker's own pages call it. */
  readonly label: string;
  readonly help: string;
  /** Not to be shown while it is typed. */
  readonly secret: boolean;
  readonly required: boolean;
}

/** Where it is unlike the others. */
interface Quirks {
  /** A perpetual and the spot market of the same name are one instrument: `.P` means nothing. */
  readonly perpetualIsSpot: boolean;
  /** Of one instrument it has names that nobody else can tell are one: a month has its own, and that of the front month. */
  readonly hasAliases?: boolean;
}

/** What the broker publishes that it takes, as far as whoever only reads could use it up for an order. */
interface PublishedRate {
  /** So much in any window; a request is 1, unless its connector knows better. */
  readonly weight: number;
  readonly windowMs: number;
  /** Whose requests it counts together: all from our address, or each account's own. */
  readonly countedBy: 'address' | 'account';
}

interface BrokerDescription {
  readonly title: string;
  /** What its accounts are kept in: profits and fees are in it. */
  readonly currency: string;
  /** The first is an account's that asks for none. */
  readonly environments: readonly [string, ...string[]];
  /** None: its accounts can trade from their creation. */
  readonly credentials: readonly CredentialField[];
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
  /** null: it has no such thing. */
  readonly margin: Margin | null;
  /** null: it has no limit. */
  readonly rate: PublishedRate | null;
  /** For a person who writes an alert: which symbols it takes. */
  readonly symbolsHelp: string;
}

/** Keeps the names, so that the compiler can demand each of them elsewhere. */
const complete = <Name extends string>(
  descriptions: Record<Name, BrokerDescription>,
): Readonly<Record<Name, BrokerDescription>> => descriptions;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A crypto exchange. Ids are unique among open orders only, if at all: a second market order under one is a second order. */
const exchange = (
  findsByClientIdMs: number,
  stops: Pick<Capabilities, 'stop' | 'moves' | 'stopEntries'>,
): Capabilities => ({
  refusesDuplicateIds: false,
  findsByClientIdMs,
  reduceOnly: true,
  fractionalQuantities: true,
  reserves: false,
  timeInForce: ['gtc', 'ioc', 'fok'],
  ...stops,
});

const PERPETUALS = { quirks: { perpetualIsSpot: false } } as const;

const asked = (title: string): Margin => ({
  isAsked: true,
  help:
    `${title} asks for the margin mode with each order: it is the account’s setting margin_mode, cross unless it is changed. What is ` +
    'held keeps the mode in which it was opened: what closes it, or adds to it, goes there.',
});

const keptThere = (title: string, where: string): Margin => ({
  isAsked: false,
  help: `Cross or isolated margin is kept by ${title} itself (${where}), and is left as it is there.`,
});

const perpetuals = (prefix: string): string =>
  `Perpetuals in USDT, with .P at the end: ${prefix}:BTCUSDT.P, BTCUSDT.P. Without it a symbol is the spot market, which is ` +
  'not traded. Quantities are in the base asset: 0.01 is 0.01 BTC.';

/** Labels as the exchange's own pages have them. */
function keys(words: {
  readonly key: string;
  readonly secret: string;
  readonly passphrase?: string;
  readonly where: string;
  readonly permissions: string;
}): readonly CredentialField[] {
  const { key, secret, passphrase, where, permissions } = words;
  const field = (name: CredentialField['field'], label: string, help: string): CredentialField => ({
    field: name,
    label,
    help,
    secret: name !== 'api_key',
    required: true,
  });
  return [
    field('api_key', key, `${where}. It needs: ${permissions}. The account must be in one-way mode.`),
    field('api_secret', secret, 'Shown once, when the key is created.'),
    ...(passphrase === undefined
      ? []
      : [field('passphrase', passphrase, 'The one chosen when the key was created.')]),
  ];
}

export const BROKERS = complete({
  paper: {
    title: 'Paper',
    currency: 'USD',
    environments: ['live'],
    credentials: [],
    capabilities: {
      refusesDuplicateIds: true,
      findsByClientIdMs: Number.POSITIVE_INFINITY,
      reduceOnly: true,
      fractionalQuantities: true,
      stop: 'position',
      moves: 'amend',
      reserves: false,
      stopEntries: true,
      timeInForce: TIMES_IN_FORCE,
    },
    quirks: { perpetualIsSpot: true },
    rate: null,
    margin: null,
    symbolsHelp:
      'Its own list of crypto pairs, futures and stocks, such as BTCUSDT, ES1! and AAPL. Any exchange in front and any .P ' +
      'at the end are taken off: BINANCE:BTCUSDT.P is BTCUSDT.',
  },
  binance: {
    ...PERPETUALS,
    title: 'Binance USD-M Futures',
    currency: 'USDT',
    environments: ['live', 'testnet', 'demo'],
    credentials: keys({
      key: 'API Key',
      secret: 'Secret Key',
      where: 'Binance → Account → API Management → Create API (system generated)',
      permissions: 'Enable Reading and Enable Futures, no withdrawals, restricted to this server’s IP',
    }),
    // Orders that ended unfilled are forgotten after 3 days, the others after 90.
    capabilities: exchange(3 * DAY_MS, { stop: 'sized', moves: 'replace', stopEntries: true }),
    // By the weight of each request; placing an order has none.
    rate: { weight: 2_400, windowMs: MINUTE_MS, countedBy: 'address' },
    margin: keptThere('Binance', 'symbol by symbol'),
    symbolsHelp: perpetuals('BINANCE'),
  },
  bybit: {
    ...PERPETUALS,
    title: 'Bybit',
    currency: 'USDT',
    environments: ['live', 'testnet', 'demo'],
    credentials: keys({
      key: 'API Key',
      secret: 'API Secret',
      where: 'Bybit → Account & Security → API Management → Create New Key (system-generated)',
      permissions:
        'Read-Write with Orders and Positions of Contract, no withdrawals, bound to this server’s IP',
    }),
    // Cancelled and rejected orders are kept for 24 hours.
    capabilities: exchange(DAY_MS, { stop: 'position', moves: 'set', stopEntries: true }),
    // Beyond it, it takes nothing from the address for ten minutes.
    rate: { weight: 600, windowMs: 5_000, countedBy: 'address' },
    margin: keptThere('Bybit', 'for the whole account; for a classic one symbol by symbol'),
    symbolsHelp: perpetuals('BYBIT'),
  },
  okx: {
    ...PERPETUALS,
    title: 'OKX',
    currency: 'USDT',
    // The European exchange is one of its own: a key of one fails at the other.
    environments: ['live', 'demo', 'live_eea', 'demo_eea'],
    credentials: keys({
      key: 'API key',
      secret: 'Secret key',
      passphrase: 'Passphrase',
      where: 'OKX → Profile → API → Create API key (for demo: within Demo Trading)',
      permissions: 'Read and Trade, no Withdraw, linked to this server’s IP',
    }),
    // Orders that were cancelled unfilled are kept for 2 hours.
    capabilities: exchange(2 * 60 * 60_000, { stop: 'position', moves: 'amend', stopEntries: true }),
    // Of each list by itself: of what is held, and of what there is.
    rate: { weight: 10, windowMs: 2_000, countedBy: 'account' },
    margin: asked('OKX'),
    symbolsHelp: perpetuals('OKX'),
  },
  gate: {
    ...PERPETUALS,
    title: 'Gate',
    currency: 'USDT',
    environments: ['live', 'testnet'],
    credentials: keys({
      key: 'API Key',
      secret: 'API Secret',
      where: 'Gate → Account → API Key Management → Create API Key (v4)',
      permissions:
        'Perpetual Futures with Read And Write, Account with Read Only, no Withdraw, this server in the IP whitelist',
    }),
    // While it is open, and 60 s after its end.
    capabilities: exchange(60_000, { stop: 'position', moves: 'replace', stopEntries: false }),
    // Of each list by itself.
    rate: { weight: 200, windowMs: 10_000, countedBy: 'account' },
    margin: keptThere('Gate', 'symbol by symbol, as its leverage'),
    symbolsHelp: perpetuals('GATE'),
  },
  bitget: {
    ...PERPETUALS,
    title: 'Bitget',
    currency: 'USDT',
    environments: ['live', 'demo'],
    credentials: keys({
      key: 'API Key',
      secret: 'Secret Key',
      passphrase: 'Passphrase',
      where: 'Bitget → Account → API Key Management → Create API key (for demo: within Demo trading)',
      permissions:
        'Read-write with Futures orders and holdings (for a unified account: Unified account trade), no Withdraw, bound to this server’s IP',
    }),
    // Nobody states it; a day is well within every list that it keeps.
    capabilities: exchange(DAY_MS, { stop: 'position', moves: 'set', stopEntries: true }),
    rate: { weight: 6_000, windowMs: MINUTE_MS, countedBy: 'address' },
    margin: asked('Bitget'),
    symbolsHelp: perpetuals('BITGET'),
  },
  alpaca: {
    title: 'Alpaca',
    currency: 'USD',
    environments: ['live', 'paper'],
    credentials: [
      {
        field: 'api_key',
        label: 'API Key ID',
        help:
          'On the home page of your Alpaca account under “API Keys”; the live account and the paper account have keys of ' +
          'their own. It needs trading, and nothing else.',
        secret: false,
        required: true,
      },
      {
        field: 'api_secret',
        label: 'Secret Key',
        help: 'Shown once, beside the API Key ID, when the key is made. If it is lost, make a new key.',
        secret: true,
        required: true,
      },
    ],
    capabilities: {
      // “A unique identifier for the order”: refused after a fill and after a cancellation too, with 422 and 40010001.
      refusesDuplicateIds: true,
      findsByClientIdMs: Number.POSITIVE_INFINITY,
      reduceOnly: false,
      fractionalQuantities: true,
      stop: 'sized',
      moves: 'amend',
      reserves: true,
      // Fractions are orders of the day.
      wholeStops: true,
      stopEntries: true,
      timeInForce: TIMES_IN_FORCE,
    },
    quirks: { perpetualIsSpot: false },
    rate: { weight: 200, windowMs: MINUTE_MS, countedBy: 'account' },
    margin: null,
    symbolsHelp:
      'American shares and funds: AAPL, NASDAQ:AAPL, NYSE:BRK.B. Quantities are shares; many can be traded in fractions, ' +
      'but not sold short that way.',
  },
  shioaji: {
    title: 'Shioaji (SinoPac)',
    currency: 'TWD',
    environments: ['live', 'simulation'],
    credentials: [
      {
        field: 'api_key',
        label: 'API Key',
        help:
          'On SinoPac’s page “API management” (新理財網, API 管理). It needs the permissions for market data (行情), account ' +
          '(帳務) and trading (交易), and “production” (正式環境) for a live account; it must be the key with which the Shioaji ' +
          'server runs.',
        secret: false,
        required: true,
      },
      {
        field: 'api_secret',
        label: 'Secret Key',
        help: 'Shown once, when the API Key is made.',
        secret: true,
        required: true,
      },
    ],
    capabilities: {
      refusesDuplicateIds: false,
      // It knows no id of ours. Orders are compared, and “not found” decides nothing.
      findsByClientIdMs: 0,
      reduceOnly: false,
      fractionalQuantities: false,
      takesBackRest: true,
      stop: 'none',
      moves: 'replace',
      reserves: false,
      stopEntries: false,
      timeInForce: [],
    },
    quirks: { perpetualIsSpot: false, hasAliases: true },
    // Of what is held and what there is; orders are counted apart.
    rate: { weight: 25, windowMs: 5_000, countedBy: 'account' },
    margin: null,
    symbolsHelp:
      'Futures of TAIFEX and shares of TWSE and TPEX: TAIFEX:TXF1! (the front month), TXFR1, MXF2!, TXFL6, TWSE:2330. ' +
      'Quantities are contracts, and lots of 1,000 shares.',
  },
});

export type BrokerName = keyof typeof BROKERS;
export const BROKER_NAMES = Object.keys(BROKERS) as readonly BrokerName[];

/** Addresses to use instead of the brokers' own. */
export type BrokerUrls = Readonly<Partial<Record<BrokerName, string>>>;

/** Where orders are the user's own at a real broker, credentials must be verified before the first of them. */
export const NEEDS_CREDENTIALS = Object.fromEntries(
  BROKER_NAMES.map((name) => [name, BROKERS[name].credentials.length > 0]),
) as Readonly<Record<BrokerName, boolean>>;

/** What an account may be opened for. null: the broker offers no such thing. */
export function environmentOf(broker: BrokerName, asked: string | undefined): string | null {
  const { environments } = BROKERS[broker];
  return environments.find((offered) => offered === (asked ?? environments[0])) ?? null;
}

/** Whether an account with it has a setting `margin_mode`. */
export const takesMarginMode = (broker: BrokerName): boolean => BROKERS[broker].margin?.isAsked ?? false;

/** Whether an account's orders move money: on paper, and where the broker only plays, they do not. */
export const isRealMoney = (broker: BrokerName, environment: string): boolean =>
  broker !== 'paper' && (environment === 'live' || environment.startsWith('live_'));

/** As anybody may see it. */
export const showBroker = (name: BrokerName) => {
  const { title, currency, environments, credentials, capabilities, margin, symbolsHelp } = BROKERS[name];
  const { refusesDuplicateIds, findsByClientIdMs, reduceOnly, fractionalQuantities } = capabilities;
  const { stop, moves, reserves, stopEntries, timeInForce } = capabilities;
  return {
    name,
    title,
    currency,
    environments,
    credentials,
    capabilities: {
      refuses_duplicate_ids: refusesDuplicateIds,
      // JSON has no word for ever.
      finds_by_client_id_ms: Number.isFinite(findsByClientIdMs) ? findsByClientIdMs : null,
      reduce_only: reduceOnly,
      fractional_quantities: fractionalQuantities,
      margin_mode: takesMarginMode(name),
      stop,
      moves,
      reserves,
      stop_entries: stopEntries,
      time_in_force: timeInForce,
    },
    margin_help: margin?.help ?? null,
    symbols_help: symbolsHelp,
  };
};
