// The suites of the worker, of recovery and of fill verification once more, on a real PostgreSQL and a real Redis.

import { test } from 'node:test';
import { distribute } from '../data/backend.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { RedisMissing } from '../servers/redis.ts';

/** Runs the suites, or says what is missing for them. */
export async function onRealServers(suites: readonly string[]): Promise<void> {
  try {
    await distribute();
    await startPostgres();
  } catch (fault) {
    if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
    for (const suite of suites) test(suite, { skip: fault.message }, () => {});
    return;
  }
  for (const suite of suites) await import(`../${suite}.test.ts`);
}
