// The brokers that accounts use: by name, by connection, by certificate; and what time it is there. Nobody logs in.

import type { Config } from '../../config/config.ts';
import { brokersInUse } from '../../data/accounts/accounts.ts';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../../domain/brokers.ts';
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
  return (
    await Promise.all(used.map((name) => oneBroker(name, config.brokers.urls[name] ?? ADDRESSES[name])))
  ).flat();
}

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
