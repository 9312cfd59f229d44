// Every broker there is. A new one is a file and a line here: the compiler keeps the record complete.

import type { Brokers, OpenBroker } from './broker.ts';
import { openPaper, type PaperDeps } from './paper/paper.ts';

interface BrokerDeps extends PaperDeps {
  /** Where the paper accounts trade, if not in here: an exchange in a process of its own. */
  readonly exchange?: { readonly url: string };
}

export const openBrokers = ({ exchange, ...paper }: BrokerDeps): Brokers => ({
  paper: exchange ? onDemand(exchange) : openPaper(paper),
});

/** Loaded with the first account that needs it: a worker host is to start quickly. */
function onDemand(exchange: NonNullable<BrokerDeps['exchange']>): OpenBroker {
  let remote: Promise<OpenBroker> | null = null;
  return async (account, signal) => {
    remote ??= import('./paper/remote.ts').then(({ openRemotePaper }) => openRemotePaper(exchange));
    return (await remote)(account, signal);
  };
}
