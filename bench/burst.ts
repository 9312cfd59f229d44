// The close of a bar: N users, one signal each, all within one second. How many may they be so that 99 % of them are filled
// and answered within 3 s, after which the charting platform hangs up? Each user has a connection, opened before that
// second, and has traded before. `node bench/burst.ts`, about two minutes: in one process, and with the roles apart.

import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresMissing } from '../test/servers/postgres.ts';
import { RedisMissing } from '../test/servers/redis.ts';
import { type Checkout, HERE, load } from './checkout.ts';
import { type Answered, measure, percentile, sendWhenDue } from './client.ts';
import { entriesOf, FILLED } from './orders.ts';
import { type System, startApart, startEmbedded } from './systems.ts';

const WITHIN_MS = 3_000;
const SHARE = 99;
const FIRST = 128;
/** As many sockets here, and as many there. */
const MOST_USERS = 8_192;
/** Two numbers of users that are no further apart are one. */
const CLOSE_ENOUGH = 1.05;
/** What is not answered by then is not waited for. */
const MOST_MS = 10_000;
/** Before the next burst its processes have done next to nothing for so long; at the latest after so many looks. */
const REST_MS = 500;
const MOST_RESTS = 20;
const RESTING = 0.2;

export interface Burst {
  readonly mode: 'embedded' | 'apart';
  /** The most that were tried and answered in time. */
  readonly users: number;
  /** The least that were too many; null: none were. */
  readonly tooMany: number | null;
  /** Of the largest burst that was answered in time. */
  readonly p99: number;
  readonly lastMs: number;
}

interface Tried {
  readonly isInTime: boolean;
  readonly p99: number;
  readonly lastMs: number;
}

export function judge(answered: readonly Answered[]): Tried {
  const inTime = answered.filter(({ ms, answer }) => ms <= WITHIN_MS && FILLED.test(answer)).length;
  const times = answered.map(({ ms }) => ms);
  return {
    isInTime: inTime * 100 >= answered.length * SHARE,
    p99: percentile(times, SHARE),
    lastMs: Math.max(...times),
  };
}

/** Where the time was over before they were too many, or before the number was found, it says so. */
export function told({ users, tooMany, p99, lastMs }: Omit<Burst, 'mode'>): string {
  const known = tooMany === null ? `at least ${users}` : `${users} (${tooMany} were too many)`;
  return `${known} users, one signal each in one second, 99 % filled and answered within 3 s (p99 ${p99.toFixed(0)} ms, the last after ${lastMs.toFixed(0)} ms)`;
}

/** Twice as many until they are too many, then the half between, for as long as there is time. */
export async function search(
  attempt: (users: number) => Promise<Tried>,
  hasTime: () => boolean,
): Promise<Omit<Burst, 'mode'>> {
  let users = 0;
  let best = { p99: Number.NaN, lastMs: Number.NaN };
  let tooMany: number | null = null;
  let next = FIRST;
  while (next > users && next !== tooMany && hasTime()) {
    const { isInTime, p99, lastMs } = await attempt(next);
    if (isInTime) {
      users = next;
      best = { p99, lastMs };
    } else tooMany = next;
    if (tooMany === null) next = Math.min(MOST_USERS, next * 2);
    else next = tooMany / Math.max(1, users) < CLOSE_ENOUGH ? users : Math.floor((users + tooMany) / 2);
  }
  return { users, tooMany, ...best };
}

export async function burst(code: Checkout, mode: Burst['mode'], mostMs: number): Promise<Burst> {
  const start = mode === 'embedded' ? startEmbedded : startApart;
  const system = await start(code, { users: MOST_USERS, env: { MAX_CONNECTIONS: String(MOST_USERS * 2) } });
  try {
    const next = entriesOf(system.traders);
    let warm = 0;
    const giveUp = performance.now() + mostMs;
    const found = await search(
      async (users) => {
        const cold = system.traders.slice(warm, users);
        const first = entriesOf(cold);
        let at = 0;
        if (cold.length > 0)
          await measure(system.address, {
            connections: 32,
            requests: cold.length,
            warmUp: 0,
            mostMs: Math.max(REST_MS, giveUp - performance.now()),
            next: () => first(at++),
            expected: FILLED,
          });
        warm = Math.max(warm, users);
        await rest(system);
        const due = Array.from({ length: users }, (_, index) => (index * 1_000) / users);
        const tried = judge(
          await sendWhenDue(system.address, { connections: users, due, mostMs: MOST_MS, next }),
        );
        console.log(
          `${mode}: ${users} users in a second, ${tried.isInTime ? 'in time' : 'too many'}, the last after ${tried.lastMs.toFixed(0)} ms`,
        );
        return tried;
      },
      () => performance.now() < giveUp,
    );
    return { mode, ...found };
  } finally {
    await system.stop();
  }
}

/** What the burst before left to do is done. */
async function rest({ usage }: System): Promise<void> {
  const spent = () => Object.values(usage()).reduce((sum, ms) => sum + ms, 0);
  for (let look = 0; look < MOST_RESTS; look++) {
    const before = spent();
    await sleep(REST_MS);
    if (!(spent() - before > REST_MS * RESTING)) return;
  }
}

if (import.meta.main) {
  const code = await load(HERE);
  const seconds = Number(process.argv[2] ?? 60);
  try {
    for (const mode of ['embedded', 'apart'] as const) {
      const found = await burst(code, mode, seconds * 1_000);
      console.log(`${mode}: ${told(found)}\n`);
    }
  } catch (fault) {
    if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
    console.log(`roles apart: not measured, ${fault.message}`);
  }
}
