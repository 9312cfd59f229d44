// Every broker there is, and how it is opened. The compiler keeps the record complete. What only some accounts need (a
// broker's library is dozens of megabytes) is loaded with the first of them: a worker host is to start quickly.

import type { BrokerUrls } from '../domain/brokers.ts';
import type { Brokers, OpenBroker } from './broker.ts';
import { openPaper, type PaperDeps } from './paper/paper.ts';

interface BrokerDeps extends PaperDeps {
  readonly urls?: BrokerUrls;
}

export function openBrokers({ urls = {}, ...deps }: BrokerDeps): Brokers {
  const { paper } = urls;
  return {
    // Elsewhere: an exchange in a process of its own.
    paper:
      paper === undefined
        ? openPaper(deps)
        : onDemand(async () => (await import('./paper/remote.ts')).openRemotePaper({ url: paper })),
    binance: ccxt('binance', urls),
    bybit: ccxt('bybit', urls),
    okx: ccxt('okx', urls),
    gate: ccxt('gate', urls),
    bitget: ccxt('bitget', urls),
    alpaca: onDemand(async () => (await import('./alpaca/alpaca.ts')).openAlpaca({ url: urls.alpaca })),
    shioaji: onDemand(async () =>
      (await import('./shioaji/shioaji.ts')).openShioaji({ url: urls.shioaji, clock: deps.clock }),
    ),
  };
}

const ccxt = (name: 'binance' | 'bybit' | 'okx' | 'gate' | 'bitget', urls: BrokerUrls): OpenBroker =>
  onDemand(async () => (await import('./ccxt/open.ts')).openCcxt(name, { url: urls[name] }));

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
