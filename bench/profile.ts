// Where an order's processor time goes, by category and by function, under V8's sampler:
//
//   node bench/profile.ts                           in one process, and with the roles apart: the API and the worker
//   node bench/profile.ts --mode embedded           one of both
//   node bench/profile.ts --beside ../another       and the same of another checkout
//
// Starting and warming up are left out. Sampling itself costs some: believe the shares.

import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { HERE, load, otherCheckout } from './checkout.ts';
import { measure } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';
import { type Costs, costsOf, type Profile } from './profile-categories.ts';
import { startApart, startEmbedded } from './systems.ts';

const CONNECTIONS = 16;
const SHOWN = 20;
const ROLES = { embedded: ['all'], apart: ['api', 'worker'] } as const;
const COLUMNS = { all: 'embedded', api: 'API', worker: 'worker' };

type Mode = keyof typeof ROLES;
type Column = readonly [title: string, costs: Costs];

const USAGE = 'node bench/profile.ts [--mode embedded|apart] [--orders 4800] [--beside PATH]';
const { mode, orders, beside } = parseArgs({
  options: {
    mode: { type: 'string' },
    orders: { type: 'string', default: '4800' },
    beside: { type: 'string' },
  },
}).values;
if (mode !== undefined && !(mode in ROLES)) {
  console.error(USAGE);
  process.exit(2);
}

/** Of the clock that the sampler goes by. */
const now = () => Number(process.hrtime.bigint() / 1_000n);

async function profile(checkout: string, mode: Mode): Promise<Column[]> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-profile-'));
  try {
    const code = await load(checkout);
    const system = await (mode === 'embedded' ? startEmbedded : startApart)(code, {
      users: CONNECTIONS,
      nodeOptions: (role) => ['--cpu-prof', `--cpu-prof-dir=${join(dir, role)}`],
    });
    let stopping: NodeJS.Signals | undefined;
    try {
      const load = {
        connections: CONNECTIONS,
        requests: Math.ceil(Number(orders) / 3),
        warmUp: 0,
        mostMs: 20_000,
        next: signalsOf(system.traders),
        expected: FILLED,
      };
      await measure(system.address, load);
      const from = now();
      const { requests } = await measure(system.address, { ...load, requests: Number(orders) });
      const until = now();
      // Whoever ends by itself writes its profile.
      stopping = 'SIGTERM';
      await system.stop(stopping);
      return ROLES[mode].map((role) => [
        COLUMNS[role],
        perOrder(costsOf(busiest(join(dir, role)), from, until), requests),
      ]);
    } finally {
      if (stopping === undefined) await system.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A thread of its own writes a profile of its own; the one that trades has the most to do. */
function busiest(dir: string): Profile {
  const [first] = globSync('*.cpuprofile', { cwd: dir })
    .map((file) => JSON.parse(readFileSync(join(dir, file), 'utf8')) as Profile)
    .map((profile) => ({ profile, us: sum(costsOf(profile).categories) }))
    .sort((a, b) => b.us - a.us);
  if (!first) throw new Error('the program left no profile');
  return first.profile;
}

const sum = (of: ReadonlyMap<string, number>): number => [...of.values()].reduce((all, us) => all + us, 0);

function perOrder({ categories, functions }: Costs, orders: number): Costs {
  const divided = (of: ReadonlyMap<string, number>) =>
    new Map([...of].map(([name, us]) => [name, us / orders]));
  return { categories: divided(categories), functions: divided(functions) };
}

function show(what: string, columns: readonly (readonly [title: string, of: ReadonlyMap<string, number>])[]) {
  console.log(`\n${what}, µs an order`);
  console.log(columns.map(([title]) => title.padStart(16)).join(''));
  const names = [...new Set(columns.flatMap(([, of]) => [...of.keys()]))];
  const largest = (name: string) => Math.max(...columns.map(([, of]) => of.get(name) ?? 0));
  for (const name of names.sort((a, b) => largest(b) - largest(a)).slice(0, SHOWN))
    console.log(`${columns.map(([, of]) => (of.get(name) ?? 0).toFixed(1).padStart(16)).join('')}  ${name}`);
  console.log(`${columns.map(([, of]) => sum(of).toFixed(1).padStart(16)).join('')}  in all`);
}

const other = beside === undefined ? undefined : otherCheckout(beside, USAGE);
for (const each of mode === undefined ? (['embedded', 'apart'] as const) : [mode as Mode]) {
  const columns = await profile(HERE, each);
  if (other !== undefined)
    columns.push(...(await profile(other, each)).map(([title, costs]) => [`${title} there`, costs] as const));
  show(
    'Categories',
    columns.map(([title, { categories }]) => [title, categories]),
  );
  show(
    'Functions',
    columns.map(([title, { functions }]) => [title, functions]),
  );
}
