// A process that lives as long as we do: its keeper, a shell, ends it and removes its folder when the pipe to us closes,
// be it by stop(), by a failed test or by kill -9.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const KEEPER = `
  folder=$1; shift
  "$@" >"$folder/output" 2>&1 &
  cat >/dev/null
  kill -TERM $!
  wait
  rm -rf "$folder"`;

export interface Kept {
  /** What it has printed so far. */
  output(): string;
  stop(): Promise<void>;
}

/** A folder of its own, which goes with the process that is kept in it. */
export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `fillpath-${name}-`));

export function keep(
  folder: string,
  command: readonly string[],
  env: Record<string, string | undefined> = {},
): Kept {
  // In a session of its own: Ctrl-C in the terminal is for us, and the keeper must outlive us for a moment.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', folder, ...command], {
    env: { PATH: process.env.PATH, ...env },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Nor may a forgotten process keep this one from ending.
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  const file = join(folder, 'output');
  return {
    output: () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
    async stop() {
      keeper.ref();
      const ended = once(keeper, 'exit');
      keeper.stdin.end();
      await ended;
    },
  };
}

/** Resolves once `holds` gives a value; fails after `patienceMs` with what `told` tells. */
export async function eventually<T>(
  holds: () => T | null | Promise<T | null>,
  told: () => string,
  patienceMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const value = await holds();
    if (value !== null) return value;
    if (Date.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${told()}`);
    await sleep(20);
  }
}

/** Ports that were free a moment ago; all held at once, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
