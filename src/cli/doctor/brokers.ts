// The brokers that accounts use: by name, by connection, by certificate; what time it is there; and what they said lately that nobody
// could read. Nobody logs in.

import type { Config } from '../../config/config.ts';
import { brokersInUse } from '../../data/accounts/accounts.ts';
import { type UnreadableCount, unreadableCounts } from '../../data/accounts/unreadable-replies.ts';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../../domain/brokers.ts';
import { millis } from '../../domain/ids.ts';
import { readingDatabase } from './database.ts';
import { type Check, clockFindings, type Finding, found, whyUnreachable } from './finding.ts';

const PATIENCE_MS = 5_000;
/** A header tells whole seconds. */
const WHOLE_SECOND_MS = 1_000;

/** Where each is asked; null: it has no address of its own. */
const ADDRESSES: Readonly<Record<BrokerName, string | null>> = {
  paper: null,
  binance: 'https://fapi.binance.com',
  bybit: 'https://api.bybit.com',
  okx: 'https://www.okx.com',
  gate: 'https://api.gateio.ws',
  bitget: 'https://api.bitget.com',
  alpaca: 'https://api.alpaca.markets',
  shioaji: null,
};

export const brokersCheck: Check = { area: 'brokers', about: 'brokers', look: brokerFindings };

async function brokerFindings(config: Config, { allBrokers }: { allBrokers: boolean }): Promise<Finding[]> {
  // Only workers speak to them.
  if (config.role === 'api' || config.role === 'verifier') return [];
  const used = allBrokers
    ? BROKER_NAMES
    : ((await readingDatabase(config, brokersInUse).catch(() => null)) ?? []);
  const unread = await readingDatabase(config, unreadableCounts).catch(() => null);
  return [
    ...(
      await Promise.all(used.map((name) => oneBroker(name, config.brokers.urls[name] ?? ADDRESSES[name])))
    ).flat(),
    ...(unread ?? []).filter(({ last_at }) => Date.now() - millis(last_at) < RECENT_MS).map(unreadable),
  ];
}

/** What has not come again for so long need not trouble anybody today. */
const RECENT_MS = 7 * 24 * 3_600_000;

const unreadable = ({ broker, call, times, last_at }: UnreadableCount): Finding =>
  found('brokers')(
    `${BROKERS[broker]?.title ?? broker} answered “${call}” in a way that cannot be read, ${times === 1 ? 'once' : `${times} times`}, last at ${last_at}.`,
    'Read what it says on the page Operation, or by GET /deployment/unreadable-replies. If it goes on, the broker has changed its answers: look for a newer version, and report the reply, which is kept without keys.',
  );

async function oneBroker(name: BrokerName, address: string | null): Promise<Finding[]> {
  const wrong = found('brokers');
  const { title } = BROKERS[name];
  if (address === null)
    return name === 'shioaji'
      ? [
          wrong(
            `${title} has no address: accounts there cannot be reached.`,
            'Run its server, and name it in BROKER_URLS: {"shioaji": "http://10.0.0.5:8080"}.',
          ),
        ]
      : [];
  const asked = Date.now();
  try {
    const answer = await fetch(address, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const theirs = Date.parse(answer.headers.get('date') ?? '');
    return Number.isNaN(theirs)
      ? []
      : clockFindings(title, theirs, { asked, answered: Date.now(), exactMs: WHOLE_SECOND_MS });
  } catch (fault) {
    const isSilent = (fault as Error).name === 'TimeoutError';
    return [
      wrong(
        `${title} cannot be reached at ${new URL(address).host}: ${isSilent ? 'it does not answer' : whyUnreachable(fault)}.`,
        'Make sure that the workers’ machine can reach it (DNS, firewall, the system’s certificates), or correct BROKER_URLS.',
      ),
    ];
  }
}
