// Runs test files as `node --test` does, each once, with what they need at hand: processes that are shared, and a folder for
// their data that lies in memory.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdtempSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { grouped } from './groups.ts';
import { record } from './record.ts';

/** A test that hangs fails, and so does a process that does not end. */
const PATIENCE_MS = 600_000;
const PROCESS_PATIENCE_MS = 3 * PATIENCE_MS;
const TOGETHER = pathToFileURL(join(import.meta.dirname, 'together.ts')).href;
const UNHOOKED = pathToFileURL(join(import.meta.dirname, 'unhooked.ts')).href;
const ABOVE = `${join(import.meta.dirname, '../..')}/`;
/** So many files are loaded by everybody, and more; a run of fewer tests than that starts few processes. */
const LOADED = 500;
const WORTH_COMPILING = 50;
const MEMORY = '/dev/shm';
/** What a whole run may have there at one time, many times over. */
const MEMORY_BYTES = 4e9;

/** Whether all went well; the paths are absolute. */
export async function runTests(paths: readonly string[]): Promise<boolean> {
  const { folder, remove } = makeFolder();
  process.env.TMPDIR = folder;
  process.env.EMPTY_POSTGRES = join(folder, 'empty-postgres');

  const files = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const groups = new Map(
    grouped(files).map((group, index) => {
      const entry = join(folder, `together-${index + 1}.mjs`);
      const at = join(folder, `at-${index + 1}`);
      const given = [group, ABOVE, at].map((value) => JSON.stringify(value)).join(', ');
      writeFileSync(entry, `import { together } from '${TOGETHER}';\nawait together(${given});\n`);
      return [entry, { at, files: group.map((path) => path.replace(ABOVE, '')) }];
    }),
  );

  if (paths.length > WORTH_COMPILING) compileAhead();

  // Nobody outlives a run that is broken off.
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
  const events = run({
    signal: end.signal,
    files: [...groups.keys()],
    // Twice as many as there are processors: half of their time they wait.
    concurrency: availableParallelism() * 2,
    timeout: PROCESS_PATIENCE_MS,
    // Each test makes much and keeps nothing: with room for it, less of it is copied before it is forgotten.
    execArgv: [`--test-timeout=${PATIENCE_MS}`, '--max-semi-space-size=32', `--import=${UNHOOKED}`],
  });
  const kept = record(groups);
  events.on('test:pass', kept.ended);
  events.on('test:fail', kept.failed);
  const report = events.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await finished(report, { writable: false });
  console.log(kept.summary());
  await remove();
  return kept.isWell() && !end.signal.aborted;
}

/** Where a run keeps what was compiled, and nothing is there yet, as after a fresh installation. Without it everything is only slower. */
function compileAhead(): void {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  if (!folder || globSync('*/*', { cwd: folder }).length > LOADED) return;
  spawnSync(process.execPath, [join(import.meta.dirname, 'compile.ts')], { stdio: 'inherit' });
}

/** It goes with the run, however that ends: its keeper removes it when the pipe to us closes. */
function makeFolder(): { folder: string; remove(): Promise<void> } {
  const folder = mkdtempSync(join(hasMemory() ? MEMORY : tmpdir(), 'fillpath-suite-'));
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o755);
  // The servers' own keepers remove their folders at the same time, and where somebody else was faster rmSync stops without a word.
  const keep = `const [, folder] = process.argv;
    function remove(tries) {
      try { fs.rmSync(folder, { recursive: true, force: true }); } catch {}
      if (fs.existsSync(folder) && tries > 0) setTimeout(remove, 100, tries - 1);
    }
    process.stdin.resume().on('close', () => remove(100));`;
  // In a session of its own: Ctrl-C in the terminal is for us.
  const keeper = spawn(process.execPath, ['-e', keep, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  return {
    folder,
    async remove() {
      const removed = once(keeper, 'exit');
      keeper.stdin.end();
      await removed;
    },
  };
}

/** Programs are started from there too, which a container may forbid. */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.includes(` ${MEMORY} `));
    return bavail * bsize > MEMORY_BYTES && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}
