// Every broker there is, described: what an account with it needs, what it can promise, and where it differs from the
// others. A new one is an entry here, how it is opened in broker/registry.ts, and its folder.

/** What the broker can promise, and so what we can. */
export interface Capabilities {
  /** A second order under a known client order id is refused for ever, after a fill too: sending again is safe. */
  readonly refusesDuplicateIds: boolean;
  /**
   * For how long after it was sent an order can be looked up by its client order id, in ms: so long "not found" can be
   * believed. 0: never; Infinity: for ever.
   */
  readonly findsByClientIdMs: number;
  readonly reduceOnly: boolean;
  readonly fractionalQuantities: boolean;
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
}

interface BrokerDescription {
  readonly title: string;
  /** The first is an account's that asks for none. */
  readonly environments: readonly [string, ...string[]];
  /** None: its accounts can trade from their creation. */
  readonly credentials: readonly CredentialField[];
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
  /** For a person who writes an alert: which symbols it takes. */
  readonly symbolsHelp: string;
}

/** Keeps the names, so that the compiler can demand each of them elsewhere. */
const complete = <Name extends string>(
  descriptions: Record<Name, BrokerDescription>,
): Readonly<Record<Name, BrokerDescription>> => descriptions;

export const BROKERS = complete({
  paper: {
    title: 'Paper',
    environments: ['live'],
    credentials: [],
    capabilities: {
      refusesDuplicateIds: true,
      findsByClientIdMs: Number.POSITIVE_INFINITY,
      reduceOnly: true,
      fractionalQuantities: true,
    },
    quirks: { perpetualIsSpot: true },
    symbolsHelp:
      'Its own list of crypto pairs, futures and stocks, such as BTCUSDT, ES1! and AAPL. Any exchange in front and any .P ' +
      'at the end are taken off: BINANCE:BTCUSDT.P is BTCUSDT.',
  },
  alpaca: {
    title: 'Alpaca',
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
        help: 'Shown once, beside the API Key ID, when the key is made. Make a new key where it is lost.',
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
    },
    quirks: { perpetualIsSpot: false },
    symbolsHelp:
      'American shares and funds: AAPL, NASDAQ:AAPL, NYSE:BRK.B. Quantities are shares; many can be traded in fractions, ' +
      'though not sold short so.',
  },
  shioaji: {
    title: 'Shioaji (SinoPac)',
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
    },
    quirks: { perpetualIsSpot: false },
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

/** As anybody may see it. */
export const showBroker = (name: BrokerName) => {
  const { title, environments, credentials, capabilities, symbolsHelp } = BROKERS[name];
  const { refusesDuplicateIds, findsByClientIdMs, reduceOnly, fractionalQuantities } = capabilities;
  return {
    name,
    title,
    environments,
    credentials,
    capabilities: {
      refuses_duplicate_ids: refusesDuplicateIds,
      // JSON has no word for ever.
      finds_by_client_id_ms: Number.isFinite(findsByClientIdMs) ? findsByClientIdMs : null,
      reduce_only: reduceOnly,
      fractional_quantities: fractionalQuantities,
    },
    symbols_help: symbolsHelp,
  };
};
