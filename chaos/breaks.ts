// Builds that are wrong on purpose, to see that the judge finds it. docs/architecture/chaos.md lists them.

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
      find: '!tried.has(id) && !resting.has(id),',
      put: '!tried.has(id) && !resting.has(id) && id === (upTo ?? id),',
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
      find: 'const isAsked = facts.isMissing && facts.instrument !== null;',
      put: 'const isAsked = facts.instrument !== null;',
    },
    {
      file: 'src/domain/orders/next-step.ts',
      find: 'if (canAsk && !facts.isMissing) return',
      put: 'if (canAsk && facts.now < 0) return',
    },
    { file: 'src/domain/orders/next-step.ts', find: '  able.refusesDuplicateIds &&\n', put: '' },
  ],
  // The position is read, and planned on, while earlier orders of the account are still to be filled.
  settling: [
    {
      file: 'src/domain/orders/waiting.ts',
      find: 'if (open.length === 0) return null;',
      put: 'if (open.length >= 0) return null;',
    },
  ],
  // Whatever the broker says is held is believed at once: nothing is expected of our own fills.
  'believe-positions': [
    { file: 'src/domain/orders/expected.ts', find: 'now - known.tradedAt < lagMs ?', put: 'lagMs < 0 ?' },
  ],
  // Exits, and closes of reversals, are given up as early as entries.
  'impatient-exits': [
    {
      file: 'src/domain/orders/patience.ts',
      find: 'if (isExit(order)) return PATIENCE.exit;',
      put: 'if (isExit(order)) return PATIENCE.entry;',
    },
    {
      file: 'src/domain/orders/patience.ts',
      find: 'return isClosing ? PATIENCE.exit : PATIENCE.entry;',
      put: 'return PATIENCE.entry;',
    },
  ],
  // The first refusal of credentials is believed.
  'one-refusal': [
    {
      file: 'src/worker/line/presenting.ts',
      find: 'const PRESENT_AGAIN_MS = [2_000, 5_000];',
      put: 'const PRESENT_AGAIN_MS = [];',
    },
  ],
  // A stop that is to stand elsewhere is taken away before the next one is placed.
  'old-first': [
    {
      file: 'src/domain/protection/next-protection.ts',
      find: "  return facts.able.moves === 'amend' && last",
      put: "  const leaving = removal(seen, facts, (leg) => leg === last);\n  if (leaving) return leaving;\n  return facts.able.moves === 'amend' && last",
    },
  ],
  // What somebody takes away at the broker is not noticed.
  'no-sweep': [
    {
      file: 'src/roles/worker.ts',
      find: 'sweepMs: timings.protectionSweepMs',
      put: 'sweepMs: 3_600_000',
    },
  ],
  // What may have been taken is sent again as if it had not been, and what turns up is not ours.
  'place-blindly': [
    {
      file: 'src/worker/lane/protect.ts',
      find: "if (outcome.outcome === 'unknown') return current;\n      if (outcome.outcome === 'accepted')",
      put: "if (outcome.outcome === 'unknown') return unsent(current, leg);\n      if (outcome.outcome === 'accepted')",
    },
    {
      file: 'src/worker/lane/protect.ts',
      find: "if (outcome.outcome === 'unknown') return current;\n    const",
      put: "if (outcome.outcome === 'unknown') return unsent(current, leg);\n    const",
    },
    {
      file: 'src/domain/protection/recognise.ts',
      find: 'const strays = [...unmatched].filter(',
      put: 'const strays = [...unmatched].slice(0, 0).filter(',
    },
  ],
  // When nothing is held any more, what protected it is left there.
  'forget-flat': [
    {
      file: 'src/domain/protection/next-protection.ts',
      find: '  const leaving = removal(seen, facts, (leg) => !isLate || leg.level > 0);\n  if (leaving) return leaving;\n',
      put: '  if (!isUnsettled && !isLate) return ended(protection);\n',
    },
  ],
  // A stop that follows the price follows it back too.
  loosen: [
    {
      file: 'src/domain/protection/follow.ts',
      find: 'const isNew = isBetter(side, price, trail.best);',
      put: 'const isNew = price !== trail.best;',
    },
    { file: 'src/domain/protection/follow.ts', find: 'const isFar =\n', put: 'const isFar = true ||\n' },
    {
      file: 'src/domain/protection/follow.ts',
      find: 'return stop === null || isBetter(side, price, stop.price)',
      put: 'return stop === null || price !== stop.price',
    },
  ],
  // An exit is made without taking back what rests in its symbol.
  'leave-resting': [
    {
      file: 'src/domain/orders/waiting.ts',
      find: 'if (first && !isCleared) return',
      put: 'if (first && !isCleared && !isExit(order)) return',
    },
  ],
  // Each delivery of a group's signal is taken for another one.
  'group-again': [
    {
      file: 'src/app/orders/receive-webhook.ts',
      find: 'const print = fingerprint(user.id, signal);',
      put: "const print = group ? crypto.randomUUID().replaceAll('-', '') : fingerprint(user.id, signal);",
    },
  ],
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: sources

export const BREAK_NAMES: readonly string[] = Object.keys(BREAKS);

/** The sources that such a build has otherwise, by their paths. Throws where there is nothing left to break. */
export function brokenSources(name: string): ReadonlyMap<string, string> {
  const changes = BREAKS[name];
  if (!changes) throw new Error(`--break takes one of ${BREAK_NAMES.join(', ')}`);
  const sources = new Map<string, string>();
  for (const { file, find, put } of changes) {
    const source = sources.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
    if (!source.includes(find)) throw new Error(`${file} no longer has what ${name} takes out: ${find}`);
    sources.set(
      file,
      source.replace(find, () => put),
    );
  }
  return sources;
}

/** A copy of the sources with that mistake in it: where it is. */
export function brokenBuild(folder: string, name: string): string {
  const sources = brokenSources(name);
  const root = join(folder, 'broken');
  mkdirSync(root);
  cpSync(join(ROOT, 'src'), join(root, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [file, source] of sources) writeFileSync(join(root, file), source);
  return root;
}
