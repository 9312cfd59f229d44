// What was measured, and the tables that are made of it.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { type Burst, told } from './burst.ts';
import type { Measured } from './client.ts';
import type { Cost, TableUpdates } from './counts.ts';
import type { Usage } from './usage.ts';

export interface Timed {
  readonly who: 'floor' | 'ours';
  readonly mode: 'embedded' | 'apart';
  /** Closed: the next one is sent when the last one is answered. Open: half of what was possible, whenever they come. */
  readonly loop: 'closed' | 'open';
  readonly connections: number;
  readonly requests: number;
  readonly times: Omit<Measured, 'requests'>;
  /** Milliseconds an order, by process. */
  readonly cpu: Usage;
}

export interface Counted extends Pick<Timed, 'who' | 'mode' | 'connections'> {
  readonly cost: Cost;
}

export interface Provenance {
  readonly commit: string;
  readonly at: string;
  readonly node: string;
  readonly machine: string;
  /** Of the last minute, for each core: above one, others were using it too. */
  readonly load: number;
}

export interface Results extends Provenance {
  readonly timed: readonly Timed[];
  readonly counted: readonly Counted[];
  readonly bursts: readonly Burst[];
  /** Of PostgreSQL, with the roles apart. */
  readonly updates: readonly TableUpdates[];
}

export function provenance(checkout: string): Provenance {
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', checkout, ...words], { encoding: 'utf8', stdio: 'pipe' }).trim();
  const [load = 0] = loadavg();
  return {
    commit: commitOf(git),
    at: new Date().toISOString(),
    node: process.version,
    machine: `${availableParallelism()} × ${cpus()[0]?.model.trim()}`,
    load: load / availableParallelism(),
  };
}

function commitOf(git: (...words: string[]) => string): string {
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ', changed';
    return `${git('rev-parse', 'HEAD').slice(0, 12)}${changed}`;
  } catch {
    return 'unknown';
  }
}

export function markdown(results: Results): string {
  const head = [
    `Made by \`npm run bench\` of commit ${results.commit}, ${results.at.slice(0, 10)}, Node ${results.node}, ${results.machine},`,
    `load ${results.load.toFixed(1)} a core at its end. The sender and the servers share these cores: believe the ratios.`,
  ];
  const modes = ['embedded', 'apart'] as const;
  const sections = modes.flatMap((mode) => sectionOf(mode, results)).join('\n');
  return `# What an order costs\n\n${head.join('\n')}\n${sections}`;
}

const SHOWN_TABLES = 8;
const TITLES = { embedded: 'In one process', apart: 'Roles apart, over PostgreSQL and Redis' };

function sectionOf(mode: Timed['mode'], { timed, counted, bursts, updates }: Results): string[] {
  const rows = timed.filter((row) => row.mode === mode);
  if (rows.length === 0) return [];
  const processes = [...new Set(rows.flatMap(({ cpu }) => Object.keys(cpu)))];
  const times = table(
    ['', 'p50 ms', 'p99', 'p99.9', 'orders/s', ...processes.map((name) => `${name}, ms an order`)],
    rows.map(({ who, loop, connections, times, cpu }) => [
      loop === 'closed'
        ? `${who}, ${connections} connection${connections > 1 ? 's' : ''}`
        : `${who}, half of its most, as they come`,
      figure(times.p50),
      figure(times.p99),
      figure(times.p999),
      times.perSecond.toFixed(0),
      ...processes.map((name) => figure(cpu[name])),
    ]),
  );
  const costs = table(
    [
      'of an order',
      'statements',
      'commits',
      'rows inserted',
      'updated',
      'of these HOT',
      'index insertions',
      'log bytes',
      'Redis commands',
    ],
    counted
      .filter((row) => row.mode === mode)
      .map(({ who, connections, cost }) => [
        `${who}, ${connections} connection${connections > 1 ? 's' : ''}`,
        ...[
          cost.statements,
          cost.commits,
          cost.inserts,
          cost.updates,
          cost.hotUpdates,
          cost.indexInsertions,
        ].map((value) => figure(value, 1)),
        cost.logBytes.toFixed(0),
        figure(cost.redisCommands, 1),
      ]),
  );
  const notes = bursts
    .filter((burst) => burst.mode === mode)
    .map((burst) => `The close of a bar: ${told(burst)}.`);
  const hot = updates
    .slice(0, SHOWN_TABLES)
    .map(({ table, updates, hot }) => `${table} ${hot} of ${updates}`)
    .join(', ');
  if (mode === 'apart' && hot !== '') notes.push(`HOT updates by table: ${hot}.`);
  return ['', `## ${TITLES[mode]}`, '', times, '', costs, ...notes.flatMap((line) => ['', line]), ''];
}

/** Null and what nobody knows is a dash. */
const figure = (value: number | null | undefined, digits = 2): string =>
  value === null || value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
