#!/usr/bin/env node
// `npx fillpath …`: starts the program with a Node that can run it. This file alone must be readable by any Node.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST = 24;
const args = process.argv.slice(2);

/** The one that `npm ci` brings along. */
function nodeOfTheLockfile() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const program = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(ROOT, 'node_modules', `node-${system}-${process.arch}`, 'bin', program);
}

/**
 * They read much beside a service that trades. So they are no more than idle work to Linux, from their start on and with all of their threads: whoever
 * wants the processor takes it from them at once. With a low priority alone they would keep it for some milliseconds each time.
 */
const GIVING_WAY = ['export', 'backup', 'audit'];
const AS_IDLE = ['--idle', '0'];
/** Where it is there, and may. */
const givesWay = GIVING_WAY.includes(args[0]) && spawnSync('chrt', [...AS_IDLE, 'true']).status === 0;

function pass(program, words) {
  const child = spawn(program, [...words, ...args], { stdio: 'inherit' });
  // What ends us ends it; and it is the one that says how it ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (fault) => {
    console.error(`${program} could not be started: ${fault.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) =>
    process.exit(code === null ? 128 + (signal === 'SIGINT' ? 2 : 15) : code),
  );
}

async function run() {
  const { main } = await import('../src/main.ts');
  await main(args.length === 0 ? ['--help'] : args);
}

if (Number(process.versions.node.split('.')[0]) >= OLDEST) {
  if (givesWay) pass('chrt', [...AS_IDLE, process.execPath, join(ROOT, 'src/main.ts')]);
  else await run();
} else if (existsSync(nodeOfTheLockfile())) pass(nodeOfTheLockfile(), [fileURLToPath(import.meta.url)]);
else {
  console.error(
    `Fillpath needs Node ${OLDEST} or newer, and this is ${process.version}. \`npm ci\` in ${ROOT} installs one.`,
  );
  process.exitCode = 2;
}
