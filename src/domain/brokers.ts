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
  /** What its accounts are kept in: profits and fees are in it. */
  readonly currency: string;
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
    currency: 'USD',
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
