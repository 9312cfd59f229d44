// Processor time by process, as Linux counts it (in hundredths of a second); not known elsewhere.

import { readdirSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { Client } from 'pg';

/** Milliseconds by the name of a process, or of a thread that matters. */
export type Usage = Readonly<Record<string, number>>;

const TICK_MS = 10;

/** What stands behind the name in a file of that kind: the third field is the first. */
function fieldsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  // The name may hold anything, brackets too.
  return text.slice(text.lastIndexOf(') ') + 2).split(' ');
}

const spent = (fields: readonly string[]): number => (Number(fields[11]) + Number(fields[12])) * TICK_MS;
const spentByDead = (fields: readonly string[]): number =>
  (Number(fields[13]) + Number(fields[14])) * TICK_MS;

function orUnknown(read: () => number): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

/** Of all threads of this process, those that have ended too. */
export const cpuMs = (pid: number): number => orUnknown(() => spent(fieldsOf(`/proc/${pid}/stat`)));

/** Megabytes that a process has in memory. */
export const residentMb = (pid: number): number =>
  orUnknown(() => Number(/VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

/** Of the thread that a process began with. */
export const mainThreadMs = (pid: number): number =>
  orUnknown(() => spent(fieldsOf(`/proc/${pid}/task/${pid}/stat`)));

/** Of a process and its children, those that have ended too: PostgreSQL has one for each session. */
export function familyMs(pid: number): number {
  return orUnknown(() => {
    const own = fieldsOf(`/proc/${pid}/stat`);
    let sum = spent(own) + spentByDead(own);
    for (const entry of readdirSync('/proc')) {
      if (!/^\d+$/.test(entry)) continue;
      try {
        const fields = fieldsOf(`/proc/${entry}/stat`);
        if (Number(fields[1]) === pid) sum += spent(fields);
      } catch {
        // It ended while we looked.
      }
    }
    return sum;
  });
}

/** The server that a session belongs to. */
export async function postgresPid(session: Client): Promise<number> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  return orUnknown(() => Number(fieldsOf(`/proc/${rows[0]?.pid}/stat`)[1]));
}

export async function redisPid(redis: Redis): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
}

/** What was used between two looks, for each of so many orders. */
export function usedPerOrder(before: Usage, after: Usage, orders: number): Usage {
  return Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / orders]),
  );
}
