// Everything that is measured, one part after the other, each in a process of its own, in under ten minutes:
//
//   npm run bench                            all of it; the order path's figures go to bench/RESULTS.md and bench/results.json
//   npm run bench -- order-path takeover     these parts
//   npm run bench -- protection              what protects positions, in four minutes: bench/PROTECTION.md and bench/protection.json
//   npm run bench -- candles                 what charts cost an order, in half a minute
//   npm run bench -- --short order-path      only to see that it works: writes nothing; protection too
//   npm run bench -- --gate ../another       what grew since another checkout (gate.ts)

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const MOST_MS = 10 * 60_000;
const PARTS = ['order-path', 'starts', 'cluster', 'takeover', 'brokers', 'streams', 'pages'];
/** Measured where it is asked for. */
const ASKED_FOR = ['protection', 'candles'];
const SHORT = ['order-path', 'protection'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { gate: { type: 'string' }, short: { type: 'boolean', default: false } },
});
const known = [...PARTS, ...ASKED_FOR];
const unknown = positionals.filter((part) => !known.includes(part));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; the parts are ${known.join(', ')}`);
  process.exit(2);
}

const giveUp = performance.now() + MOST_MS;

/** Whether it went well. */
async function run(part: string, ...args: string[]): Promise<boolean> {
  const leftMs = giveUp - performance.now();
  if (leftMs < 1_000) {
    console.error(`${part}: not measured, the time is over`);
    return false;
  }
  const file = (name: string) => join(import.meta.dirname, `${name}.ts`);
  console.log(`\n${part}`);
  const child = spawn(process.execPath, ['--import', file('deadline'), file(part), ...args], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_MOST_MS: leftMs.toFixed(0) },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

if (values.gate !== undefined) process.exitCode = (await run('gate', values.gate)) ? 0 : 1;
else
  for (const part of positionals.length > 0 ? positionals : PARTS) {
    const args = values.short && SHORT.includes(part) ? ['--short'] : [];
    // One that fails keeps none of the others from being measured.
    if (!(await run(part, ...args))) process.exitCode = 1;
  }
