// Everything that an attack once got, done again from outside against the product as it is run: `npm run test:attack`.
// It prints what each gets now, and fails where one is open. `--against DIR` does it to another checkout, which need not
// pass; `--items 1,5` does only those.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Attack } from './attacks.ts';
import { openDesk } from './desk.ts';
import { connections, readers } from './exhaustion.ts';
import { figuresTable } from './figures.ts';
import { type Setting, startProduct } from './product.ts';

const { values } = parseArgs({
  options: { against: { type: 'string' }, items: { type: 'string' } },
});
const checkout = values.against ?? join(import.meta.dirname, '../..');
const items = values.items?.split(',').map(Number);

interface Round {
  readonly name: string;
  readonly setting: Omit<Setting, 'checkout'>;
  readonly attacks: readonly Attack[];
}

/** Only so that there is enough to measure: what is measured is what others do to it. */
const OFTEN = { RATE_LIMIT_REQUESTS: '100000' };

const ROUNDS: readonly Round[] = (['default', 'production'] as const).flatMap((mode) => [
  { name: `${mode}, under load`, setting: { mode, env: OFTEN }, attacks: [readers] },
  {
    name: `${mode}, with 1,024 file handles`,
    setting: { mode, env: OFTEN, handles: 1_024 },
    attacks: [connections],
  },
]);

let open = 0;
for (const { name, setting, attacks } of ROUNDS) {
  const chosen = attacks.filter(
    ({ item, modes }) => modes.includes(setting.mode) && (items?.includes(item) ?? true),
  );
  if (chosen.length === 0) continue;
  console.log(`\n## ${name}`);
  const product = await startProduct({ checkout, ...setting });
  const desk = await openDesk(product);
  try {
    for (const { item, title, before, run } of chosen) {
      const begun = performance.now();
      const outcome = await run(desk).catch((fault: unknown) => ({
        got: `it failed: ${fault}`,
        isClosed: false,
      }));
      if (!outcome.isClosed) open++;
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(`\n${item}. ${title}\n   ${outcome.isClosed ? 'closed' : 'OPEN'} (${seconds} s)`);
      console.log(`   before: ${before}\n   now:    ${outcome.got}`);
      if ('figures' in outcome && outcome.figures) console.log(`\n${figuresTable(outcome.figures)}`);
    }
  } finally {
    desk.close();
    await product.stop();
  }
}
process.exitCode = open > 0 && values.against === undefined ? 1 : 0;
