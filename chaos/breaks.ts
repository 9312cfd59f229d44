// Builds that are wrong on purpose, to see that the judge finds it.

import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The texts are pieces of our sources. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: sources
const BREAKS: Readonly<Record<string, readonly { file: string; find: string; put: string }[]>> = {
  // Of an order's version, and of who has the user: either alone already keeps a woken worker from sending.
  'compare-and-set': [
    {
      file: 'src/data/orders/orders.ts',
      find: 'where order_id = ${order.id} and version = ${order.version}`,',
      put: 'where order_id = ${order.id}`,',
    },
    {
      file: 'src/data/orders/for-workers.ts',
      find: 'where user_id = ${user} and token = ${token}`',
      put: 'where user_id = ${user}`',
    },
  ],
  // A worker that lost an order, or the user, to another goes on with what it is told of, and nobody asks who has the user:
  // two workers of one user trade side by side.
  ownership: [
    {
      file: 'src/worker/lane/work-off.ts',
      find: 'isUnderWay(status) && !tried.has(id));',
      put: 'isUnderWay(status) && !tried.has(id) && id === (upTo ?? id));',
    },
    { file: 'src/worker/host/worker.ts', find: 'stop() {\n      stopping.abort();', put: 'stop() {' },
    {
      file: 'src/worker/host/worker.ts',
      find: 'stopping.abort();\n    throw new OrderTaken',
      put: 'throw new OrderTaken',
    },
    { file: 'src/worker/lane/work-off.ts', find: 'if (fault instanceof OrderTaken || ', put: 'if (' },
    {
      file: 'src/data/orders/for-workers.ts',
      find: 'where user_id = ${user} and token = ${token}`',
      put: 'where user_id = ${user}`',
    },
  ],
  // A leg that may have been sent is sent again without asking for it.
  lookup: [
    {
      file: 'src/domain/orders/next-step.ts',
      find: 'facts.isMissing && facts.instrument',
      put: 'facts.instrument',
    },
    {
      file: 'src/domain/orders/next-step.ts',
      find: 'if (canAsk && !facts.isMissing)',
      put: 'if (canAsk && facts.now < 0)',
    },
    { file: 'src/domain/orders/next-step.ts', find: '  able.refusesDuplicateIds &&\n', put: '' },
  ],
  // The position is read, and planned on, while earlier orders of the account are still to be filled.
  settling: [
    {
      file: 'src/domain/orders/next-step.ts',
      find: 'if (open.length === 0 || withinMs <= 0) return null;',
      put: 'if (open.length === 0 || withinMs <= 0 || now > 0) return null;',
    },
  ],
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: sources

/** A copy of the sources with that mistake in it: where it is. */
export function brokenBuild(folder: string, name: string): string {
  const changes = BREAKS[name];
  if (!changes) throw new Error(`--break takes one of ${Object.keys(BREAKS).join(', ')}`);
  const root = join(folder, 'broken');
  mkdirSync(root);
  cpSync(join(ROOT, 'src'), join(root, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const { file: path, find, put } of changes) {
    const file = join(root, path);
    const source = readFileSync(file, 'utf8');
    if (!source.includes(find)) throw new Error(`${path} no longer has what ${name} takes out`);
    writeFileSync(
      file,
      source.replace(find, () => put),
    );
  }
  return root;
}
