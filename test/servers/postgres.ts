// A private PostgreSQL for one test process, from Debian's packages: a folder in /tmp, a unix socket, no port.
// It lives as long as this process: its keeper, a shell, ends it and removes the folder when the pipe to us closes,
// be it by stop(), by a failed test or by kill -9.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { installPackage } from './debian.ts';

// The server's defaults are unusual on purpose: an adapter that leans on them fails its tests.
const KEEPER = `
  "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c max_connections=200 \\
    -c timezone=Asia/Taipei -c datestyle='SQL, DMY' -c synchronous_commit=off -c default_transaction_isolation=serializable \\
    >"$2/log" 2>&1 &
  cat >/dev/null
  kill -QUIT $!
  wait
  rm -rf "$2"`;

/** Nobody pulls the plug of the machine in a test: what the kernel has is kept. `alter system` can have it otherwise. */
const SETTINGS = 'fsync = off\nfull_page_writes = off\n';

/** Where a whole run keeps the folder of an empty server: to copy it is a tenth of making it. */
const { EMPTY_POSTGRES: EMPTY } = process.env;

/** The server is not installed and we may not install it: a reason to skip, not to fail. */
export class PostgresMissing extends Error {
  override readonly name = 'PostgresMissing';
}

interface Server {
  readonly folder: string;
  readonly keeper: ChildProcess;
}

let server: Promise<Server> | undefined;
let users = 0;
let databases = 0;

/**
 * One server per process; each call gets a database of its own on it: a fresh one, or a copy of another that nobody has open.
 * The last stop() ends the server.
 */
export async function startPostgres({ template = 'template1' } = {}): Promise<{
  url: string;
  name: string;
  stop(): Promise<void>;
}> {
  server ??= startServer();
  const { folder, keeper } = await server;
  const name = `suite_${++databases}`;
  const admin = new Client(url(folder, 'postgres'));
  await admin.connect();
  // Copied as files: half the work of writing every page to the log.
  await admin.query(`create database ${name} template ${template} strategy file_copy`);
  await admin.end();
  users++;
  let stopped = false;
  return {
    url: url(folder, name),
    name,
    async stop() {
      if (stopped) return;
      stopped = true;
      if (--users > 0) return;
      server = undefined;
      keeper.ref();
      const ended = once(keeper, 'exit');
      keeper.stdin?.end();
      await ended;
    },
  };
}

const url = (folder: string, database: string) =>
  `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`;

async function startServer(): Promise<Server> {
  const bin = findServer() ?? installServer();
  // PostgreSQL refuses to run as root, and its own user must reach the folder.
  const owner = process.getuid?.() === 0 ? postgresUser() : null;
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-pg-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const options = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, ...owner } as const;
  const data = join(folder, 'data');
  try {
    if (EMPTY && existsSync(EMPTY)) copy(EMPTY, data);
    else {
      execFileSync(
        join(bin, 'initdb'),
        ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'],
        { ...options, stdio: 'pipe' },
      );
      appendFileSync(join(data, 'postgresql.conf'), SETTINGS);
      if (EMPTY) keepEmpty(data, EMPTY);
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  // In a session of its own: Ctrl-C in the terminal is for us, and the keeper must outlive us for a moment.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', bin, folder], {
    ...options,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Nor may a forgotten server keep this process from ending.
  keeper.unref();
  (keeper.stdin as unknown as { unref(): void }).unref();
  try {
    await ready(folder);
  } catch (error) {
    keeper.stdin.end();
    throw error;
  }
  return { folder, keeper };
}

/** With its owner. */
const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to], { stdio: 'pipe' });

/** Whole, or not at all: another process may look for it, or have made it, at this moment. */
function keepEmpty(data: string, empty: string): void {
  const own = `${empty}-${process.pid}`;
  copy(data, own);
  try {
    renameSync(own, empty);
  } catch {
    rmSync(own, { recursive: true, force: true });
  }
}

async function ready(folder: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const client = new Client(url(folder, 'postgres'));
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      const log = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
      if (Date.now() > deadline || log.includes('FATAL:  could not')) {
        throw new Error(`PostgreSQL did not start: ${(error as Error).message}\n${log}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export function findServer(): string | undefined {
  const version = (path: string) => Number(path.split('/').at(-2));
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((bin) => existsSync(join(bin, 'postgres')) && version(bin) >= 15)
    .sort((a, b) => version(b) - version(a))[0];
}

export function installServer(): string {
  try {
    installPackage('postgresql');
  } catch (fault) {
    throw new PostgresMissing(`needs PostgreSQL 15 or newer: ${(fault as Error).message}`);
  }
  const bin = findServer();
  if (!bin) throw new PostgresMissing('needs PostgreSQL 15 or newer, which this Debian does not have');
  return bin;
}

export function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
