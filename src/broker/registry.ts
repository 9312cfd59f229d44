// Every broker there is, and how it is opened. The compiler keeps the record complete. What only some accounts need (a
// broker's library is dozens of megabytes) is loaded with the first of them: a worker host is to start quickly.

import type { BrokerName, BrokerUrls } from '../domain/brokers.ts';
import type { Brokers, OpenBroker, TellUnreadable, UnreadableReply } from './broker.ts';
import type { ExchangeName as CcxtName } from './ccxt/profile.ts';
import { openPaper, type PaperDeps } from './paper/paper.ts';
import type { OpenSocket } from './stream.ts';
import type { Fetch } from './wire.ts';

export interface Wire {
  readonly fetch: Fetch;
  readonly openSocket: OpenSocket;
}

interface BrokerDeps extends PaperDeps {
  readonly urls?: BrokerUrls;
  /** Whoever writes down what is said, or says again what was written down, stands between; brokers of their own wire alone. */
  readonly wire?: Wire;
  /** Without one nobody counts them. */
  unreadable?(broker: BrokerName, reply: UnreadableReply): void;
}

export function openBrokers({ urls = {}, unreadable = () => {}, wire, ...deps }: BrokerDeps): Brokers {
  const { paper } = urls;
  const telling =
    (broker: BrokerName): TellUnreadable =>
    (reply) =>
      unreadable(broker, reply);
  const ccxt = (name: CcxtName): OpenBroker =>
    onDemand(async () =>
      (await import('./ccxt/open.ts')).openCcxt(name, {
        url: urls[name],
        ...wire,
        unreadable: telling(name),
      }),
    );
  return {
    // Elsewhere: an exchange in a process of its own.
    paper:
      paper === undefined
        ? openPaper(deps)
        : onDemand(async () => (await import('./paper/remote.ts')).openRemotePaper({ url: paper })),
    binance: ccxt('binance'),
    bybit: ccxt('bybit'),
    okx: ccxt('okx'),
    gate: ccxt('gate'),
    bitget: ccxt('bitget'),
    alpaca: onDemand(async () =>
      (await import('./alpaca/alpaca.ts')).openAlpaca({
        url: urls.alpaca,
        ...wire,
        unreadable: telling('alpaca'),
      }),
    ),
    shioaji: onDemand(async () =>
      (await import('./shioaji/shioaji.ts')).openShioaji({
        ...{ url: urls.shioaji, clock: deps.clock, fetch: wire?.fetch },
        unreadable: telling('shioaji'),
      }),
    ),
  };
}

function onDemand(load: () => Promise<OpenBroker>): OpenBroker {
  let loaded: Promise<OpenBroker> | null = null;
  return async (account, signal) => {
    // One that failed is tried again by the next account.
    loaded ??= load().catch((fault: unknown) => {
      loaded = null;
      throw fault;
    });
    return (await loaded)(account, signal);
  };
}
