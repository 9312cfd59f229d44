// Whether an order costs more than it did: npm run bench -- --gate ../another-checkout
// The processor time of an order by process, of this checkout and of another one (the commit before), in turns in one run,
// embedded and with the roles apart. What grew by more than 10 % is named, and the command fails. The other's figures are
// written to bench/BASELINE.json. For somebody who is about to release; three minutes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresMissing } from '../test/servers/postgres.ts';
import { RedisMissing } from '../test/servers/redis.ts';
import { beside, type Side, tell } from './beside.ts';
import { HERE, otherCheckout } from './checkout.ts';
import { provenance } from './results.ts';
import type { Usage } from './usage.ts';

const MOST_GROWTH = 1.1;
/** Linux counts in hundredths of a second, and rounds each of the eight looks. */
const MAY_ERR_MS = 40;

export interface Growth {
  readonly what: string;
  readonly before: number;
  readonly after: number;
}

type Compared = Pick<Side, 'cpu' | 'orders'>;

/** What costs more than a tenth more, and by more than the clock can err. */
export function grown(before: Compared, after: Compared): Growth[] {
  return Object.entries(after.cpu)
    .map(([what, ms]) => ({ what, before: before.cpu[what] ?? Number.NaN, after: ms }))
    .filter(({ what, before, after: now }) => {
      const more = (now - before) * (after.orders[what] ?? 0);
      return now > before * MOST_GROWTH && more > MAY_ERR_MS;
    });
}

async function gate(other: string): Promise<boolean> {
  const baseline: Record<string, number> = {};
  const growths: Growth[] = [];
  for (const mode of ['embedded', 'apart'] as const) {
    try {
      const compared = await beside(other, mode);
      console.log('');
      tell(compared);
      Object.assign(baseline, rounded(compared.there.cpu));
      growths.push(...grown(compared.there, compared.here));
    } catch (fault) {
      if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
      console.log(`${mode}: not measured, ${fault.message}`);
    }
  }
  const written = { ...provenance(other), processorMsPerOrder: baseline };
  writeFileSync(join(HERE, 'bench/BASELINE.json'), `${JSON.stringify(written, null, 2)}\n`);
  console.log('');
  for (const { what, before, after } of growths)
    console.log(`${what}: grew from ${before.toFixed(3)} to ${after.toFixed(3)} ms an order`);
  if (growths.length === 0) console.log('Nothing grew by more than 10 %.');
  return growths.length === 0;
}

const rounded = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).map(([what, ms]) => [what, Number(ms.toFixed(4))]));

if (import.meta.main) {
  const isGood = await gate(otherCheckout(process.argv[2], 'npm run bench -- --gate PATH'));
  process.exitCode = isGood ? 0 : 1;
}
