// The product as it is run, a process of its own: embedded and with its defaults, in production behind a proxy, or over
// PostgreSQL and Redis. Any checkout of it.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, type Kept, keep, newFolder } from '../edge/kept.ts';

export type Mode = 'default' | 'production' | 'servers';

export interface Setting {
  readonly checkout: string;
  readonly mode: Mode;
  readonly env?: Readonly<Record<string, string>>;
  /** How many files it may have open; undefined: as many as we. */
  readonly handles?: number;
}

export const ORIGIN = 'https://fillpath.example.com';

export type Product = Awaited<ReturnType<typeof startProduct>>;

export async function startProduct({ checkout, mode, env = {}, handles }: Setting) {
  const folder = newFolder('attack');
  const dataDir = join(folder, 'data');
  const settings: Record<string, string> = {
    PORT: '0',
    DATA_DIR: dataDir,
    ...(mode === 'production' ? production() : {}),
    ...env,
  };
  const main = join(checkout, 'src/main.ts');
  const limit = handles === undefined ? '' : `ulimit -n ${handles};`;
  const script = `cd "$1"; ${limit} echo $$ >pid; exec "$2" "$3"`;
  const kept: Kept = keep(folder, ['/bin/sh', '-c', script, 'sh', folder, process.execPath, main], settings);
  try {
    const port = await eventually(
      () => Number(/is ready at \S+:(\d+)/.exec(kept.output())?.[1]) || null,
      kept.output,
      60_000,
    );
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    const [, adminKey] = /API key\s+(\S+)/.exec(kept.output()) ?? [];
    return {
      mode,
      port,
      dataDir,
      checkout,
      databaseUrl: settings.DATABASE_URL,
      redisUrl: settings.REDIS_URL,
      /** Of the first user, an admin; undefined: there is none yet. */
      adminKey,
      output: kept.output,
      stop: kept.stop,
      /** Resident, in MB. */
      memory: () =>
        Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024),
      /** Of the thread that trades so far: what it had of the processor, and how long it waited for one. On a busy machine that tells more than the clock. */
      processor(): { hadMs: number; awaitedMs: number } {
        const [had, awaited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
        return { hadMs: Number(had) / 1_000_000, awaitedMs: Number(awaited) / 1_000_000 };
      },
      /** A command beside the service; its exit code, and what it said. */
      command(...args: string[]): { code: number; text: string } {
        const options = {
          env: { PATH: process.env.PATH, ...settings },
          cwd: folder,
          encoding: 'utf8',
        } as const;
        try {
          return {
            code: 0,
            text: execFileSync(process.execPath, [main, ...args], { ...options, stdio: 'pipe' }),
          };
        } catch (fault) {
          const { status, stdout, stderr } = fault as { status: number; stdout: string; stderr: string };
          return { code: status, text: stdout + stderr };
        }
      },
    };
  } catch (fault) {
    await kept.stop();
    throw fault;
  }
}

/** Behind a proxy on the same machine, which ends TLS. */
const production = () => ({
  NODE_ENV: 'production',
  APP_KEY: randomBytes(32).toString('base64url'),
  JWT_SECRET: randomBytes(32).toString('base64url'),
  ALLOWED_ORIGINS: ORIGIN,
  BASE_URL: ORIGIN,
  TRUSTED_PROXIES: '127.0.0.1/32',
});
