// All checks at once, each with its limit of time: what does not answer is a finding too.

import { type Config, ConfigError } from '../../config/config.ts';
import { brokersCheck } from './brokers.ts';
import { databaseChecks } from './database.ts';
import type { Check, Finding } from './finding.ts';
import { machineChecks } from './machine.ts';
import { mailCheck } from './mail.ts';
import { settingsChecks } from './settings.ts';
import { storeCheck } from './store.ts';

const CHECKS: readonly Check[] = [
  ...settingsChecks,
  ...machineChecks,
  ...databaseChecks,
  storeCheck,
  mailCheck,
  brokersCheck,
];

const LONGEST_MS = 15_000;

export interface Examination {
  readonly findings: readonly Finding[];
  /** What was looked at. */
  readonly checked: readonly string[];
}

export async function examine(
  readConfig: () => Config,
  options: { readonly allBrokers: boolean; readonly longestMs?: number },
): Promise<Examination> {
  let config: Config;
  try {
    config = readConfig();
  } catch (fault) {
    if (!(fault instanceof ConfigError)) throw fault;
    // Nothing else can be looked at with settings that mean nothing.
    const remedy =
      'Correct it in .env or in the environment: `npx fillpath config` says what each setting takes. The rest can be checked only after that.';
    return {
      findings: fault.problems.map((problem) => ({ area: 'configuration', problem: `${problem}.`, remedy })),
      checked: ['settings'],
    };
  }
  const findings = await Promise.all(CHECKS.map((check) => limited(check, config, options)));
  return { findings: findings.flat(), checked: CHECKS.map(({ about }) => about) };
}

async function limited(
  check: Check,
  config: Config,
  { allBrokers, longestMs = LONGEST_MS }: { allBrokers: boolean; longestMs?: number },
): Promise<readonly Finding[]> {
  const { area, about } = check;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(
      () =>
        resolve([
          {
            area,
            problem: `Looking at ${about} took longer than ${longestMs / 1000} s.`,
            remedy: 'Something does not answer: look at the network and the load of what is behind it.',
          },
        ]),
      longestMs,
    );
  });
  try {
    return await Promise.race([check.look(config, { allBrokers }), silence]);
  } catch (fault) {
    return [
      {
        area,
        problem: `Looking at ${about} failed: ${(fault as Error).message}.`,
        remedy: 'Look at what the text names; if the machine is not at fault, report it.',
      },
    ];
  } finally {
    clearTimeout(timer);
  }
}
