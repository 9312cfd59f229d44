// How the tests themselves are run: each file once, none of them unheard, and after a change the nearest first.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { costOf, grouped, isAlone, LONG } from './groups.ts';
import { touched } from './touched.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('Who shares a process', () => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT })
    .sort()
    .map((path) => ({ path: join(ROOT, path), text: readFileSync(join(ROOT, path), 'utf8') }));

  test('every test file is run once', () => {
    const paths = grouped(files).flat();
    assert.deepEqual(paths.sort(), files.map(({ path }) => path).sort());
  });

  test('a file that changes the process has one of its own', () => {
    const file = { path: '/test/orders/a.test.ts', text: "process.on('worker', count);\n" };
    const plain = (name: string) => ({
      path: `/test/orders/${name}.test.ts`,
      text: 'const server = await startPostgres();\nafter(() => server.stop());\n',
    });
    assert.ok(isAlone(file));
    const [b, c] = [plain('b'), plain('c')];
    assert.deepEqual(grouped([file, b, c]), [[b.path, c.path], [file.path]]);
  });

  test('a suite that is run once more, on real servers, is in no process twice', () => {
    const onReal = (name: string) => ({
      path: `/test/cluster/${name}.test.ts`,
      text: "await onRealServers(['orders/halt']);\n",
    });
    const plain = { path: '/test/cluster/hosts.test.ts', text: '' };
    const [one, other] = [onReal('a'), onReal('b')];
    assert.deepEqual(grouped([one, plain, other]), [[one.path, other.path], [plain.path]]);

    const textOf = new Map(files.map(({ path, text }) => [path, text]));
    for (const group of grouped(files)) {
      const again = group.flatMap((path) => {
        const [, named = ''] = /^await onRealServers\(\[([^\]]*)/m.exec(textOf.get(path) ?? '') ?? [];
        return [...named.matchAll(/'([^']+)'/g)].map(([, name]) => join(ROOT, `test/${name}.test.ts`));
      });
      const all = [...group, ...again];
      assert.deepEqual(all, [...new Set(all)]);
    }
  });

  test('what takes long begins first, and a process has no more than its share', () => {
    const big = (name: string) => ({ path: `/test/${name}.test.ts`, text: ' '.repeat(200_000) });
    assert.deepEqual(grouped([big('orders/a'), big('orders/b'), big('web/every-page')]), [
      ['/test/web/every-page.test.ts'],
      ['/test/orders/a.test.ts'],
      ['/test/orders/b.test.ts'],
    ]);
    assert.deepEqual(
      LONG.filter((name) => !files.some(({ path }) => path.endsWith(`/${name}.test.ts`))),
      [],
      'a file of the list was renamed',
    );
    assert.ok(costOf(big('orders/a')) < costOf({ path: '/test/orders/a.test.ts', text: 'startPostgres()' }));
  });
});

describe('A run', () => {
  const well = "test('goes well', () => {});";
  const badly = "test('goes badly', () => assert.fail('so it is'));";

  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const program = join(ROOT, 'test/suite/all.ts');

  function made(t: TestContext, texts: readonly string[]): readonly string[] {
    const folder = mkdtempSync(join(tmpdir(), 'fillpath-run-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'test/orders'), { recursive: true });
    return texts.map((text, index) => {
      const path = join(folder, `test/orders/${index}.test.ts`);
      writeFileSync(path, `import assert from 'node:assert';\nimport { test } from 'node:test';\n${text}\n`);
      return path;
    });
  }

  /** Of files with these tests, by the program that `npm test` starts. */
  function run(t: TestContext, texts: readonly string[]) {
    const args = [program, ...made(t, texts)];
    const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const count = (what: string) => Number(new RegExp(`ℹ ${what} (\\d+)`).exec(stdout)?.[1]);
    return { status, stdout, passed: count('pass'), failed: count('fail') };
  }

  test('of files that all go well is well, and all of them were run', (t) => {
    const { status, passed, failed } = run(t, [well, well, `${well}\nprocess.title = 'alone';`]);
    assert.deepEqual({ status, passed, failed }, { status: 0, passed: 3, failed: 0 });
  });

  test('fails with one test, and its neighbours in the process are run', (t) => {
    const { status, stdout, passed, failed } = run(t, [well, badly, well]);
    assert.deepEqual({ status, passed, failed }, { status: 1, passed: 2, failed: 1 });
    assert.match(stdout, /so it is/);
  });

  test('of several files in one process is as if each had its own: its hooks, and nothing begun before its turn', (t) => {
    const file = (name: string) => `
      import { after, before } from 'node:test';
      import { setTimeout as pause } from 'node:timers/promises';
      const say = (what) => console.log('said: ${name} ' + what);
      say('is read');
      await pause(1);
      before(() => say('begins'));
      after(async () => { await pause(1); say('ends'); });
      test('is run', () => say('is run'));`;
    const { status, stdout, passed } = run(t, [file('one'), file('other')]);
    assert.deepEqual({ status, passed }, { status: 0, passed: 2 });
    assert.deepEqual(
      [...stdout.matchAll(/said: (.*)/g)].map(([, what]) => what),
      ['one', 'other'].flatMap((name) =>
        ['is read', 'begins', 'is run', 'ends'].map((what) => `${name} ${what}`),
      ),
    );
  });

  test('fails with a file that cannot be read', (t) => {
    const { status, stdout } = run(t, [well, "import './nowhere.ts';"]);
    assert.equal(status, 1);
    assert.match(stdout, /nowhere\.ts/);
    assert.match(stdout, /orders\/1\.test\.ts/, 'by its name');
  });

  test('fails where a process ends before its files have been run, and names them', (t) => {
    for (const end of ["process.kill(process.pid, 'SIGKILL')", 'process.exit(0)']) {
      const { status, stdout } = run(t, [well, `test('ends all', () => { ${end}; });`, well]);
      assert.equal(status, 1, end);
      assert.match(stdout, /the process ended in \S+orders\/1\.test\.ts/);
      assert.match(stdout, /not run: \S+orders\/2\.test\.ts/);
      assert.doesNotMatch(stdout, /ended.*orders\/0\.test\.ts/);
    }
  });

  test('fails with a fault after the last test, and names the files of its process', (t) => {
    const late = "test('goes well', () => { setTimeout(() => Promise.reject(new Error('too late')), 20); });";
    const { status, stdout } = run(t, [late]);
    assert.equal(status, 1);
    assert.match(stdout, /too late/);
    assert.match(stdout, /after their tests the process failed of \S+orders\/0\.test\.ts/);
  });

  test('fails with a fault that nobody catches, by the name of the test that it came from', (t) => {
    for (const fault of [
      "void Promise.reject(new Error('let go'))",
      "setTimeout(() => { throw new Error('let go'); })",
      "void pause(1).then(() => assert.fail('let go'))",
    ]) {
      const lets = `import { setTimeout as pause } from 'node:timers/promises';
        test('lets go', async () => { ${fault}; await pause(200); });`;
      const { status, stdout, passed, failed } = run(t, [well, lets, well]);
      assert.deepEqual({ status, passed, failed }, { status: 1, passed: 2, failed: 1 }, fault);
      assert.match(stdout, /✖ lets go .*\n(.*\n)?.*let go/, fault);
    }
  });

  test('says what was left out, and why, and which files took longest', (t) => {
    const skips = "test('left out', { skip: 'needs the moon' }, () => {});";
    const { status, stdout } = run(t, [skips, skips, well]);
    assert.equal(status, 0);
    assert.match(stdout, /﹣ 2 skipped: needs the moon/);
    assert.match(stdout, /took longest, in seconds:\n +\d+\.\d {2}\S+orders\/\d\.test\.ts/);
  });

  test('that is broken off ends its processes and leaves nothing behind, even killed', async (t) => {
    /** What has ended may still be listed, until its parent looks. */
    const isThere = (pid = '') => {
      const file = `/proc/${pid}/stat`;
      return existsSync(file) && !readFileSync(file, 'utf8').includes(') Z ');
    };
    const waits = `import { tmpdir } from 'node:os';
      process.on('SIGTERM', () => {});
      const answered = setInterval(() => {}, 1_000);
      test('waits', () => new Promise(() => console.log(\`at \${process.pid} in \${tmpdir()}.\`)));`;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      const child = spawn(process.execPath, [program, ...made(t, [waits])], { env });
      const ended = once(child, 'exit');
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += chunk;
      });
      while (!/ in \S+\./.test(said)) await once(child.stdout, 'data');
      const [, pid, folder = ''] = /at (\d+) in (\S+)\./.exec(said) ?? [];
      assert.ok(existsSync(folder));
      child.kill(signal);
      const [status] = await ended;
      if (signal !== 'SIGKILL') assert.equal(status, 1);
      while (existsSync(folder) || isThere(pid)) await pause(20);
    }
  });

  test('leaves nothing behind where a server removes its own at the same time', (t) => {
    const serves = `import { spawn } from 'node:child_process';
      import { mkdirSync, writeFileSync } from 'node:fs';
      import { tmpdir } from 'node:os';
      test('serves', (t) => {
        for (let at = 0; at < 6_000; at++) {
          const folder = tmpdir() + '/server/' + (at % 600);
          mkdirSync(folder, { recursive: true });
          writeFileSync(folder + '/' + at, '');
        }
        const keeper = spawn('sh', ['-c', 'cat >/dev/null; for each in "$1"/*; do rm -rf "$each"; done', 'sh', tmpdir() + '/server'],
          { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
        keeper.unref();
        keeper.stdin.unref();
        t.diagnostic('in ' + tmpdir());
      });`;
    for (let round = 0; round < 2; round++) {
      const [, folder = ''] = /in (\S+)/.exec(run(t, [serves]).stdout) ?? [];
      assert.match(folder, /fillpath-suite-/);
      assert.ok(!existsSync(folder));
    }
  });

  test('leaves nothing behind, and gives its files a folder of their own', (t) => {
    const told = "import { tmpdir } from 'node:os';\ntest('told', (t) => t.diagnostic('in ' + tmpdir()));";
    const [, folder] = /in (\S+)/.exec(run(t, [told]).stdout) ?? [];
    assert.ok(folder && folder !== tmpdir());
    assert.deepEqual(globSync(folder), []);
  });
});

describe('What a change touches', () => {
  const sources = new Map(
    Object.entries({
      'src/domain/price.ts': '',
      'src/app/orders/halt.ts': "import { price } from '../../domain/price.ts';",
      'src/main.ts': "import { halt } from './app/orders/halt.ts';",
      'test/world.ts': "import { open } from '../src/main.ts';",
      'test/domain/rounding.test.ts': "import { price } from '../../src/domain/price.ts';",
      'test/domain/types.test.ts': "import type { Price } from '../../src/domain/price.ts';",
      'test/orders/halt.test.ts': "import { openWorld } from '../world.ts';",
      'test/orders/story.test.ts': "import { openWorld } from '../world.ts';",
      'test/notify/mail.test.ts': "import { openWorld } from '../world.ts';",
      'test/cluster/distributed.test.ts': "await onRealServers(['orders/halt']);",
      'test/cli/program.test.ts': "spawn('node', ['src/main.ts']);",
      'test/documents.test.ts': "read('README.md');",
      'README.md': '',
    }),
  );

  test('its namesakes, then who uses a part with it, then its subject; the rest of the service is far', () => {
    assert.deepEqual(touched(sources, ['src/app/orders/halt.ts']), {
      near: ['test/orders/halt.test.ts', 'test/orders/story.test.ts'],
      far: ['test/cli/program.test.ts', 'test/cluster/distributed.test.ts', 'test/notify/mail.test.ts'],
    });
    const { near, far } = touched(sources, ['src/domain/price.ts']);
    assert.deepEqual(near, ['test/domain/rounding.test.ts']);
    assert.equal(far.length, 5);
  });

  test('a changed test itself, and where it runs once more', () => {
    assert.deepEqual(touched(sources, ['test/orders/halt.test.ts']), {
      near: ['test/orders/halt.test.ts', 'test/cluster/distributed.test.ts'],
      far: [],
    });
  });

  test('what only its types are used by is left to the compiler, and a document has its readers', () => {
    assert.ok(!touched(sources, ['src/domain/price.ts']).near.includes('test/domain/types.test.ts'));
    assert.deepEqual(touched(sources, ['README.md']).near, ['test/documents.test.ts']);
  });

  test('of two changes each has its own', () => {
    const { near } = touched(sources, ['README.md', 'src/domain/price.ts']);
    assert.deepEqual(near, ['test/documents.test.ts', 'test/domain/rounding.test.ts']);
  });
});
