// This checkout beside another one, in one run: node bench/beside.ts ../another-checkout [apart]
// A plain entry and a plain exit, one at a time, sixteen and sixty-four at once, in one process or with the roles apart. The two take
// turns, so that what else the machine does meets both. Times differ from machine to machine: the ratios are what counts.

import { HERE, load, otherCheckout } from './checkout.ts';
import { openConnection, percentile } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';
import { startApart, startEmbedded } from './systems.ts';
import { type Usage, usedPerOrder } from './usage.ts';

const ROUNDS = 4;
const PER_ROUND = 640;
/** One part of a round takes no longer. */
const MOST_MS = 4_000;
const AT_ONCE = [1, 16, 64];

export type Mode = 'embedded' | 'apart';

export interface Side {
  /** At one connection. */
  readonly times: { readonly entry: readonly number[]; readonly exit: readonly number[] };
  /** Milliseconds of processor time an order, by what was measured. */
  readonly cpu: Usage;
  /** How many orders each of these is of. */
  readonly orders: Usage;
}

/** A program of one checkout, with a database that its own code made. */
async function start(checkout: string, mode: Mode) {
  const code = await load(checkout);
  const system = await (mode === 'embedded' ? startEmbedded : startApart)(code, { users: 64 });
  const next = signalsOf(system.traders);
  const times = { entry: [] as number[], exit: [] as number[] };
  const used: Record<string, number> = {};
  const orders: Record<string, number> = {};

  /** A server hangs up on who says nothing for a while: each part opens what it uses. */
  async function part(connections: number, isMeasured: boolean): Promise<void> {
    const opened = await Promise.all(
      Array.from({ length: connections }, () => openConnection(system.address)),
    );
    const before = system.usage();
    const begun = performance.now();
    let left = PER_ROUND;
    let placed = 0;
    await Promise.all(
      opened.map(async (connection, index) => {
        while (left-- > 0 && performance.now() - begun < MOST_MS) {
          const { path, body } = next(index);
          const sent = performance.now();
          const answer = await connection.post(path, body);
          if (!FILLED.test(answer)) throw new Error(`not filled: ${answer}`);
          placed++;
          // Of many at once the processor's time counts, and not the latency.
          if (isMeasured && connections === 1)
            times[body.includes('"exit"') ? 'exit' : 'entry'].push(performance.now() - sent);
        }
      }),
    );
    for (const connection of opened) connection.close();
    if (!isMeasured) return;
    for (const [name, ms] of Object.entries(usedPerOrder(before, system.usage(), 1))) {
      const what = `${mode}, ${connections} at once, ${name}`;
      used[what] = (used[what] ?? 0) + ms;
      orders[what] = (orders[what] ?? 0) + placed;
    }
  }

  return {
    async round(isMeasured: boolean): Promise<void> {
      for (const connections of AT_ONCE) await part(connections, isMeasured);
    },
    measured: (): Side => ({
      times,
      orders,
      cpu: Object.fromEntries(Object.entries(used).map(([what, ms]) => [what, ms / (orders[what] ?? 1)])),
    }),
    stop: () => system.stop(),
  };
}

export async function beside(other: string, mode: Mode): Promise<{ here: Side; there: Side }> {
  const here = await start(HERE, mode);
  try {
    const there = await start(other, mode);
    try {
      for (const each of [there, here]) await each.round(false);
      for (let round = 0; round < ROUNDS; round++)
        for (const each of round % 2 === 0 ? [there, here] : [here, there]) await each.round(true);
      return { here: here.measured(), there: there.measured() };
    } finally {
      await there.stop();
    }
  } finally {
    await here.stop();
  }
}

export function tell({ here, there }: { here: Side; there: Side }): void {
  const line = (what: string, before: number, after: number) =>
    console.log(
      `${what.padEnd(48)} ${before.toFixed(3).padStart(8)} ${after.toFixed(3).padStart(8)} ${(after / before).toFixed(2).padStart(6)}`,
    );
  console.log(`${'ms'.padEnd(48)}    there     here  ratio`);
  for (const kind of ['entry', 'exit'] as const)
    for (const part of [50, 99])
      line(
        `a plain ${kind}, one connection, p${part}`,
        percentile(there.times[kind], part),
        percentile(here.times[kind], part),
      );
  for (const [what, ms] of Object.entries(here.cpu))
    line(`processor: ${what}`, there.cpu[what] ?? Number.NaN, ms);
}

if (import.meta.main) {
  const other = otherCheckout(process.argv[2], 'node bench/beside.ts PATH [apart]');
  tell(await beside(other, process.argv[3] === 'apart' ? 'apart' : 'embedded'));
}
