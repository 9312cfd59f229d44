// The command line as a program: its help, its exit codes, what it prints where, and how it is started.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { openOutput, visible, type Writable } from '../../src/cli/output.ts';
import { readConfig } from '../../src/config/config.ts';
import { terminal } from './terminal.ts';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/fillpath.js');
const run = terminal(readConfig({}));

/** Below "Commands:" in a help, without `help` itself. */
const commandsIn = (help: string): string[] =>
  [...(help.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help');

test('every command has a help of its own, with an example', async () => {
  const nouns = commandsIn((await run()).out);
  assert.ok(nouns.length >= 12);
  for (const noun of nouns) {
    const help = await run(noun, '--help');
    assert.equal(help.code, 0, noun);
    const verbs = commandsIn(help.out);
    if (verbs.length === 0) assert.match(help.out, /\nExamples?:\n {2}\$ fillpath /, noun);
    for (const verb of verbs) {
      const { code, out } = await run('help', noun, verb);
      assert.equal(code, 0);
      assert.match(out, new RegExp(`^Usage: fillpath ${noun} ${verb} `));
      assert.match(out, /\nExamples?:\n {2}\$ fillpath /, `${noun} ${verb}`);
    }
  }
});

test('what is no command goes to stderr, with the way to the help, and exits with 2', async () => {
  for (const args of [
    ['sell', 'everything'],
    ['user'],
    ['user', 'adopt'],
    ['user', 'show'],
    ['audit', 'verify', '--x'],
    ['start', '--x'],
  ]) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(err, /--help/);
    assert.match(err, /^[A-Z]/, 'a sentence, as every other complaint');
  }
  assert.match((await run('user', 'shwo')).err, /Did you mean show\?/);
});

/** Keeps what is written to it. */
function paper(more: Partial<Writable> = {}) {
  const kept = { text: '' };
  const stream: Writable = {
    ...more,
    write(written) {
      kept.text += written;
    },
  };
  return { kept, stream };
}

test('colours and progress are for terminals; what others wrote cannot steer one', () => {
  for (const isTTY of [true, false]) {
    const [out, err] = [paper({ isTTY, hasColors: () => isTTY }), paper({ isTTY, columns: 20 })];
    const output = openOutput({ out: out.stream, err: err.stream });
    output.table(
      [{ name: 'a\u001b[2Jb\n' }],
      [{ title: 'NAME', value: ({ name }) => name, tone: () => 'bad' }],
      null,
    );
    output.progress().tell('1 of many, many orders');
    const escapes = out.kept.text.split('\u001b[').length - 1;
    assert.equal(escapes, isTTY ? 4 : 0);
    assert.equal(out.kept.text.includes('\u001b[2J'), false);
    assert.match(out.kept.text, /a\\u001b\[2Jb\\u000a/);
    assert.equal(err.kept.text, isTTY ? '\r\u001b[2K1 of many, many ord' : '');
  }
  assert.equal(visible('Ünïcode\u202e'), 'Ünïcode\\u202e');
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function started(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = ROOT,
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, out, err };
}

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-bin-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('npx fillpath finds the program of the checkout, and asks no registry for it', async (t) => {
  const env = {
    HOME: folder(t),
    npm_config_cache: join(folder(t), 'cache'),
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_fetch_retries: '0',
  };
  const { code, out, err } = await started('npx', ['fillpath'], env);
  assert.equal(code, 0, err);
  assert.match(out, /^Usage: fillpath /);
  const unknown = await started('npx', ['fillpath', 'sell'], env);
  assert.equal(unknown.code, 2);
});

/** A Node that is too old for the program, where the machine has one. */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .map((dir) => join(dir, 'node'))
  .find((file) => existsSync(file) && Number(/\d+/.exec(execFileSync(file, ['-v']).toString())) < 24);

test('an old Node passes on to the one that npm ci brought, or says what is missing', {
  skip: !oldNode,
}, async (t) => {
  const passed = await started(oldNode ?? '', [BIN, '--version']);
  assert.match(passed.out, /^\d+\.\d+\.\d+\n$/, passed.err);
  const lone = folder(t);
  mkdirSync(join(lone, 'bin'));
  copyFileSync(BIN, join(lone, 'bin/fillpath.js'));
  writeFileSync(join(lone, 'package.json'), '{"type":"module"}');
  const { code, out, err } = await started(oldNode ?? '', [join(lone, 'bin/fillpath.js'), 'errors']);
  assert.deepEqual([code, out], [2, '']);
  assert.match(
    err,
    /^Fillpath needs Node 24 or newer, and this is v\d+\.\d+\.\d+\. `npm ci` in .* installs one\.\n$/,
  );
});

test('what reads much beside the service is idle work to Linux, from its start on', {
  skip:
    process.platform !== 'linux'
      ? 'only Linux has idle work'
      : spawnSync('chrt', ['--idle', '0', 'true']).status !== 0 && 'chrt is not there, or may not',
}, async (t) => {
  const says = `import { readFileSync } from 'node:fs';
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    console.error('policy ' + fields[38]);`;
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: folder(t),
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(says)}`,
  };
  const policiesOf = async (...args: string[]) =>
    [...(await started(process.execPath, [BIN, ...args], env)).err.matchAll(/policy (\d)/g)].map(
      ([, policy]) => policy,
    );
  // These tests may be idle work themselves.
  const [plain] = await policiesOf('errors');
  const idle = '5';
  for (const noun of ['export', 'backup', 'audit'])
    assert.deepEqual(await policiesOf(noun, '--help'), [plain, idle], noun);
  assert.deepEqual(await policiesOf('errors'), [plain]);
});

test('`start` runs the service, with the settings of .env, until it is told to stop', async (t) => {
  const dir = folder(t);
  writeFileSync(
    join(dir, '.env'),
    `DATA_DIR=${join(dir, 'data')}\nPORT=0\nLOG_LEVEL=silent\nSEED_USER=false\n`,
  );
  const child = spawn(process.execPath, [BIN, 'start'], {
    cwd: dir,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for await (const part of child.stdout) {
    said += part;
    if (/is ready at http/.test(said)) break;
  }
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  // The same settings, read by a command.
  const whole = await started(process.execPath, [BIN, 'audit', 'verify', '--json'], {}, dir);
  assert.equal(whole.code, 0, whole.err);
  assert.equal(JSON.parse(whole.out).whole, true);
  const nothing = await started(process.execPath, [BIN, 'migrate', '--check'], {}, dir);
  assert.deepEqual([nothing.code, nothing.out], [0, 'The schema is up to date.\n']);
});
