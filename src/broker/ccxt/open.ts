// Opens an account at one of ccxt's exchanges. Exchange, markets and clock are shared by all accounts of one environment and
// kind; an account brings its keys.

import { BROKERS } from '../../domain/brokers.ts';
import { BrokerUnavailable, CredentialsRejected, type OpenBroker, type TellUnreadable } from '../broker.ts';
import { readKeys } from '../keys.ts';
import type { OpenSocket } from '../stream.ts';
import type { Fetch } from '../wire.ts';
import { faultOf, refusedBy, unansweredBy } from './answers.ts';
import { asker } from './asking.ts';
import { CONDITIONALS } from './conditional-words.ts';
import { connect, type Venue } from './connector.ts';
import { type Clock, type Exchange, makeExchange, metered, newClock } from './exchange.ts';
import { createMarkets } from './markets.ts';
import type { AccountKind } from './profile.ts';
import { PROFILES, STOP_WORDS } from './profiles.ts';
import { text } from './rows.ts';
import { createTurns } from './stream.ts';
import { Answered, type Credentials, createWire, socketAt } from './wire.ts';

export interface CcxtDeps {
  /** Where it is spoken to instead of its own address. */
  readonly url?: string | undefined;
  readonly fetch?: Fetch | undefined;
  readonly openSocket?: OpenSocket | undefined;
  readonly unreadable?: TellUnreadable;
}

export function openCcxt(name: keyof typeof PROFILES, deps: CcxtDeps = {}): OpenBroker {
  const { url, fetch, openSocket, unreadable } = deps;
  const profile = PROFILES[name];
  const send = createWire({ base: url, fetch });
  const venues = new Map<string, Promise<Venue>>();
  const clocks = new Map<string, Clock>();
  const streams = { at: socketAt(url), turn: createTurns(), openSocket };

  function venueOf(environment: string, kind: AccountKind): Promise<Venue> {
    const key = `${environment} ${kind}`;
    const known = venues.get(key);
    if (known) return known;
    const clock = clocks.get(environment) ?? newClock();
    clocks.set(environment, clock);
    const making = makeExchange({
      ...{ profile, clock, environment, kind, send, streams },
      ...(unreadable && { unreadable }),
    }).then((exchange) => ({
      exchange,
      markets: createMarkets(exchange, (fault) => listingFault(fault, exchange)),
    }));
    venues.set(key, making);
    making.catch(() => venues.delete(key));
    return making;
  }

  return async ({ environment, marginMode = 'cross', credentials: opened, meter }, signal) => {
    const counted = (exchange: Exchange) => (meter ? metered(exchange, meter) : exchange);
    const credentials = readCredentials(opened, name);
    if (signal.aborted) throw new BrokerUnavailable(`${profile.title} was not asked in time.`);
    // Any kind will do to ask which one it is.
    const { exchange } = await venueOf(environment, 'classic');
    await exchange.knowClock(signal);
    const kind = await profile.identify(asker(counted(exchange), credentials, signal), environment);
    const { markets, ...own } = await venueOf(environment, kind);
    await markets.young(signal);
    const venue = { markets, exchange: counted(own.exchange) };
    const capabilities = { ...BROKERS[name].capabilities, ...profile.capabilities?.(kind) };
    const connected = connect({
      venue,
      credentials,
      marginMode,
      capabilities,
      words: STOP_WORDS[name](kind),
      conditional: CONDITIONALS[name](kind),
    });
    const leave = markets.keepYoung();
    return {
      ...connected,
      async close() {
        leave();
        await connected.close();
      },
    };
  };
}

function listingFault(fault: unknown, exchange: Exchange): unknown {
  if (!(fault instanceof Answered)) return unansweredBy(fault, exchange);
  const refused = refusedBy(fault.heard, exchange, null);
  return refused
    ? faultOf(refused, exchange)
    : new BrokerUnavailable(`${exchange.profile.title} did not list its markets as agreed.`);
}

/** Chosen by the user: it may have spaces. */
const PHRASE = /^[\x20-\x7e]{1,512}$/;

function readCredentials(opened: unknown, name: keyof typeof PROFILES): Credentials {
  const labels = new Map(BROKERS[name].credentials.map(({ field, label }) => [field, label]));
  const { apiKey, apiSecret: secret } = readKeys(opened, {
    key: labels.get('api_key') ?? 'key',
    secret: labels.get('api_secret') ?? 'secret',
  });
  const passphrase = text(opened, 'passphrase') ?? '';
  const label = labels.get('passphrase');
  if (label !== undefined && !PHRASE.test(passphrase))
    throw new CredentialsRejected(
      `The ${label} is missing, or has a line break in it. Seal the credentials again.`,
    );
  return { apiKey, secret, passphrase };
}
