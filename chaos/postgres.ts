// The run's own PostgreSQL: its data on a small file system of its own where that can be mounted, so that the disk can
// be filled, and ways to kill it, to let it hang and to bring it back.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { findServer, installServer, postgresUser } from '../test/servers/postgres.ts';

export interface Postgres {
  readonly url: string;
  readonly version: string;
  /** At once, as by kill -9: what was not committed is gone, and the next start recovers the rest. */
  crash(): Promise<void>;
  start(): Promise<void>;
  hang(): void;
  goOn(): void;
  /** Null where no file system of its own could be mounted. Returns how to make room again. */
  readonly fillDisk: (() => () => void) | null;
  stop(): Promise<void>;
}

const DISK_MB = 1024;
// A small log is enough, and its files are to fit beside the data.
const SETTINGS = ['max_connections=200', 'max_wal_size=128MB', 'min_wal_size=32MB', 'shared_buffers=64MB'];

export async function startPostgres(folder: string): Promise<Postgres> {
  const bin = findServer() ?? installServer();
  const owner = process.getuid?.() === 0 ? postgresUser() : null;
  mkdirSync(folder, { recursive: true });
  const isMounted = mount(folder);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const options = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, ...owner } as const;
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'],
    {
      ...options,
      stdio: 'pipe',
    },
  );
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  let server: ChildProcess | null = null;

  async function start(): Promise<void> {
    if (server && server.exitCode === null) return;
    // Of a server that was killed.
    rmSync(join(data, 'postmaster.pid'), { force: true });
    const log = openSync(join(folder, '..', 'postgres.log'), 'a');
    server = spawn(
      join(bin, 'postgres'),
      ['-D', data, '-k', folder, '-c', 'listen_addresses=', ...SETTINGS.flatMap((each) => ['-c', each])],
      { ...options, stdio: ['ignore', log, log] },
    );
    closeSync(log);
    const deadline = Date.now() + 60_000;
    while (!(await answers(url))) {
      if (server.exitCode !== null || Date.now() > deadline)
        throw new Error(`PostgreSQL did not start: see ${join(folder, '..', 'postgres.log')}`);
      await sleep(50);
    }
  }

  /** The server and its children, which are in groups of their own. */
  function everyProcess(): number[] {
    const pid = server?.pid;
    if (pid === undefined || server?.exitCode !== null) return [];
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
    return [pid, ...children.map(Number)];
  }
  const signal = (name: NodeJS.Signals) => {
    for (const pid of everyProcess())
      try {
        process.kill(pid, name);
      } catch {
        // It has ended meanwhile.
      }
  };

  async function end(name: NodeJS.Signals): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    signal('SIGCONT');
    server.kill(name);
    await ended;
  }

  await start();
  return {
    url,
    version:
      execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+/)?.[0] ?? '',
    crash: () => end('SIGQUIT'),
    start,
    hang: () => signal('SIGSTOP'),
    goOn: () => signal('SIGCONT'),
    fillDisk: isMounted
      ? () => {
          const ballast = join(folder, 'ballast');
          const file = openSync(ballast, 'w');
          try {
            execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'], { stdio: 'ignore' });
          } catch {
            // It ends when the disk is full, and says so: that is what it is for.
          }
          closeSync(file);
          return () => rmSync(ballast, { force: true });
        }
      : null,
    async stop() {
      await end('SIGQUIT');
      if (isMounted) execFileSync('umount', [folder]);
    },
  };
}

function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0700`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function parentOf(pid: string): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return null;
  }
}
