// Where an order's processor time goes, by room: node bench/profile.ts [another checkout]
// The program runs embedded under V8's sampler. A function of the platform counts for the room that called it.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { load } from './checkout.ts';
import { openConnection } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';

const CONNECTIONS = 16;
const WARM_UP = 1_600;
const ORDERS = 4_800;
const SHOWN = 30;

interface Frame {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly Frame[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Costs {
  readonly rooms: Map<string, number>;
  readonly functions: Map<string, number>;
}

/** The room that a file belongs to: a folder of ours or a package; null: the platform's own. */
function roomOf(url: string): string | null {
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packaged !== undefined) return `package ${packaged}`;
  return /\/(src\/(?:[^/]+\/)?[^/]+?)(?:\/|\.ts)/.exec(url)?.[1] ?? null;
}

async function profile(checkout: string): Promise<Costs> {
  const { openFresh, startProgram, makeTrader } = await load(checkout);
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-profile-'));
  const db = await openFresh(dir);
  const traders = [];
  for (let n = 0; n < CONNECTIONS; n++)
    traders.push(await makeTrader(db, { latency_ms: 0, starting_cash: 1e12 }));
  await db.close();
  const program = startProgram(dir, {}, ['--cpu-prof', `--cpu-prof-dir=${dir}/profiles`, 'src/main.ts']);
  try {
    const address = await program.ready;
    const next = signalsOf(traders);
    await Promise.all(
      traders.map(async (_, index) => {
        const connection = await openConnection(address);
        for (let n = 0; n < (WARM_UP + ORDERS) / CONNECTIONS; n++) {
          const { path, body } = next(index);
          const answer = await connection.post(path, body);
          if (!FILLED.test(answer)) throw new Error(`not filled: ${answer}`);
        }
        connection.close();
      }),
    );
    await program.kill('SIGTERM');
    // A thread of its own writes a profile of its own; the one that trades has the most samples.
    const [main] = readdirSync(join(dir, 'profiles'))
      .map((file) => JSON.parse(readFileSync(join(dir, 'profiles', file), 'utf8')) as Profile)
      .sort((a, b) => busy(b) - busy(a));
    if (!main) throw new Error('the program left no profile');
    return costsOf(main);
  } finally {
    await program.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

function busy({ nodes, samples }: Profile): number {
  const idle = new Set(nodes.filter((node) => node.callFrame.functionName === '(idle)').map(({ id }) => id));
  return samples.filter((id) => !idle.has(id)).length;
}

/** Microseconds an order. Warming up and starting are in it: both are the same for whoever is compared. */
function costsOf({ nodes, samples, timeDeltas }: Profile): Costs {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const rooms = new Map<string, number>();
  const functions = new Map<string, number>();
  const roomOfFrame = (id: number): string => {
    const frame = byId.get(id)?.callFrame;
    if (!frame) return 'platform';
    if (frame.functionName.startsWith('(')) return frame.functionName;
    const parent = parents.get(id);
    return roomOf(frame.url) ?? (parent === undefined ? 'platform' : roomOfFrame(parent));
  };
  samples.forEach((id, index) => {
    const frame = byId.get(id)?.callFrame;
    const spent = (timeDeltas[index] ?? 0) / (ORDERS + WARM_UP);
    const room = roomOfFrame(id);
    if (!frame || room === '(idle)') return;
    rooms.set(room, (rooms.get(room) ?? 0) + spent);
    const name = `${frame.functionName || '(anonymous)'} ${frame.url.replace(/^.*\/(?=src\/|node_modules\/)/, '')}`;
    functions.set(name, (functions.get(name) ?? 0) + spent);
  });
  return { rooms, functions };
}

function show(
  what: string,
  here: ReadonlyMap<string, number>,
  there: ReadonlyMap<string, number> | undefined,
) {
  console.log(`\n${what}, µs an order${there ? ': here, there, and how much more it is here' : ''}`);
  const names = [...new Set([...here.keys(), ...(there?.keys() ?? [])])];
  const more = (name: string) => (here.get(name) ?? 0) - (there?.get(name) ?? 0);
  const order =
    there && what === 'Functions'
      ? (name: string) => Math.abs(more(name))
      : (name: string) => here.get(name) ?? 0;
  for (const name of names.sort((a, b) => order(b) - order(a)).slice(0, SHOWN)) {
    const figures = [here.get(name) ?? 0, ...(there ? [there.get(name) ?? 0, more(name)] : [])];
    console.log(`${figures.map((value) => value.toFixed(1).padStart(8)).join('')}  ${name}`);
  }
  const sum = (of: ReadonlyMap<string, number>) => [...of.values()].reduce((all, each) => all + each, 0);
  console.log(
    `${[here, ...(there ? [there] : [])].map((of) => sum(of).toFixed(1).padStart(8)).join('')}  in all`,
  );
}

const other = process.argv[2];
if (other !== undefined && !existsSync(join(other, 'src/main.ts'))) {
  console.error('node bench/profile.ts [PATH]: the path of another checkout, with its packages installed');
  process.exit(2);
}
const there = other === undefined ? undefined : await profile(resolve(other));
const here = await profile(resolve(import.meta.dirname, '..'));
show('Rooms', here.rooms, there?.rooms);
show('Functions', here.functions, there?.functions);
