// Starts worker hosts as child processes of this one: where no warm worker takes a user. A child lives as long as its
// parent, or until it has had no users for a while.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { openingKeys } from '../config/keys.ts';
import type { Host } from '../worker/host/host.ts';
import type { Launcher } from '../worker/host/pool.ts';

export interface ChildLauncher extends Launcher {
  /** Its children finish what they have in flight, and end. */
  close(): void;
}

type Env = Readonly<Record<string, string | undefined>>;

const MAIN = join(import.meta.dirname, '../main.ts');
/** More than this, and something else is wrong. */
const MOST_CHILDREN = 8;
const IDLE_MS = 600_000;
const LOOK_EVERY_MS = 60_000;
const READY = 'ready';

/** null: this process has nothing to start one with, or workers of its own that nobody could take away. */
export function childLauncher(config: Config, env: Env): ChildLauncher | null {
  const { role, data, workers } = config;
  if (role === 'all' && data.redisUrl) {
    const WORKER_KEY = JSON.stringify({ keys: openingKeys(config) });
    return launcher([], { ...env, ROLE: 'worker', PORT: '0', WORKER_KEY });
  }
  // An API process has no key that opens credentials; its child reads one from a file that this process does not.
  if (role === 'api' && workers.envFile)
    return launcher([`--env-file=${workers.envFile}`], { PATH: env.PATH, ROLE: 'worker', PORT: '0' });
  return null;
}

function launcher(flags: readonly string[], env: Env): ChildLauncher {
  const children = new Set<ChildProcess>();
  let starting: Promise<void> | null = null;

  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [...flags, MAIN], {
        env,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      children.add(child);
      child.once('message', (message) => message === READY && resolve());
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        children.delete(child);
        reject(new Error(`the worker host ended (${signal ?? code}) before it was ready`));
      });
      // Neither keeps this process from ending.
      child.unref();
      child.channel?.unref();
    });
  }

  return {
    async launch() {
      if (!starting && children.size >= MOST_CHILDREN)
        throw new Error(`${MOST_CHILDREN} worker hosts were started here already`);
      starting ??= start().finally(() => {
        starting = null;
      });
      await starting;
    },
    close() {
      for (const child of children) if (child.connected) child.disconnect();
    },
  };
}

/** In the child: says that it takes users, and stops with its parent or when nobody has needed it for a while. */
export function serveParent(host: Host, stop: (why: string) => void): void {
  process.send?.(READY);
  process.once('disconnect', () => stop('the parent has ended'));
  let emptySince = performance.now();
  setInterval(() => {
    if (host.users() > 0) emptySince = performance.now();
    else if (performance.now() - emptySince > IDLE_MS) stop('nobody needs this worker host');
  }, LOOK_EVERY_MS).unref();
}
