#!/usr/bin/env node
// `npx fillpath …`: starts the program with a Node that can run it. This file alone must be readable by any Node.

import { spawn } from 'node:child_process';
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

function pass(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' });
  // What ends us ends it; and it is the one that says how it ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (fault) => {
    console.error(`${node} could not be started: ${fault.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) =>
    process.exit(code === null ? 128 + (signal === 'SIGINT' ? 2 : 15) : code),
  );
}

if (Number(process.versions.node.split('.')[0]) >= OLDEST) {
  const { main } = await import('../src/main.ts');
  await main(args.length === 0 ? ['--help'] : args);
} else if (existsSync(nodeOfTheLockfile())) pass(nodeOfTheLockfile());
else {
  console.error(
    `Fillpath needs Node ${OLDEST} or newer, and this is ${process.version}. \`npm ci\` in ${ROOT} installs one.`,
  );
  process.exitCode = 2;
}
