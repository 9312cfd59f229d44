// STYLE's rules about who may import whom, held by reading the sources. To allow something new, change a row of
// MAY_IMPORT or a line of the lists below, and say why beside it.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, test } from 'node:test';

/** The interfaces that the inside knows the outside by. Everything else in these folders is an adapter. */
const PORTS = new Set([
  'broker/broker.ts',
  'broker/paper/ledger.ts',
  'data/engine/db.ts',
  'mail/mailer.ts',
  'notify/channel.ts',
  'store/store.ts',
  'worker/orders.ts',
  'worker/protections.ts',
]);
const ADAPTERS = new Set(['data/engine/sqlite.ts', 'data/engine/postgres.ts']);
const isAdapter = (file: string) =>
  ADAPTERS.has(file) ||
  (['broker', 'mail', 'notify', 'store', 'telemetry'].includes(folderOf(file)) && !PORTS.has(file));

interface Import {
  /** A path under src for our own, else the name of a package or what lies outside src. */
  readonly target: string;
  readonly own: boolean;
  readonly typeOnly: boolean;
}

/** For each folder what it may import besides itself; the words are for the message. */
const MAY_IMPORT: Record<string, { readonly words: string; readonly allows: (imported: Import) => boolean }> =
  {
    domain: {
      words: 'nothing but domain, node:crypto and big.js',
      allows: ({ target, own }) => !own && ['node:crypto', 'big.js'].includes(target),
    },
    data: {
      words: 'domain, and types of ports',
      allows: ({ target, own, typeOnly }) =>
        !own || folderOf(target) === 'domain' || (typeOnly && PORTS.has(target)),
    },
    store: { words: 'domain', allows: ({ target, own }) => !own || folderOf(target) === 'domain' },
    broker: { words: 'domain', allows: ({ target, own }) => !own || folderOf(target) === 'domain' },
    mail: { words: 'domain', allows: ({ target, own }) => !own || folderOf(target) === 'domain' },
    // Who counts or traces knows the port in domain, and nobody but the roles knows Prometheus or OpenTelemetry.
    telemetry: { words: 'domain', allows: ({ target, own }) => !own || folderOf(target) === 'domain' },
    notify: { words: 'domain', allows: ({ target, own }) => !own || folderOf(target) === 'domain' },
    worker: {
      words: 'domain, the ports of broker and store, and types of data',
      allows: ({ target, own, typeOnly }) =>
        !own ||
        folderOf(target) === 'domain' ||
        target === 'broker/broker.ts' ||
        target === 'store/store.ts' ||
        (typeOnly && folderOf(target) === 'data'),
    },
    app: {
      words: 'domain, data without its adapters, the ways to the workers (mailbox, pool, hosts) and ports',
      allows: ({ target, own }) =>
        !own ||
        ['domain', 'data'].includes(folderOf(target)) ||
        target === 'worker/host/mailbox.ts' ||
        target === 'worker/host/pool.ts' ||
        target === 'worker/host/hosts.ts' ||
        PORTS.has(target),
    },
    http: {
      words: 'app, domain and types of config/config.ts, never data',
      allows: ({ target, own, typeOnly }) =>
        !own || ['app', 'domain'].includes(folderOf(target)) || (typeOnly && target === 'config/config.ts'),
    },
    config: {
      words: 'domain and app',
      allows: ({ target, own }) => !own || ['domain', 'app'].includes(folderOf(target)),
    },
    // It plays through the API as a stranger would: what its pages show must have happened.
    demo: { words: 'nothing of ours', allows: ({ own }) => !own },
    // Commands do what routes do, at the machine: they open what a role opens, and read what no route shows.
    cli: {
      words: 'app, domain, data, config, roles and what http writes, never an adapter',
      allows: ({ target, own }) =>
        !own || ['app', 'domain', 'data', 'config', 'roles', 'http'].includes(folderOf(target)),
    },
    // The composition root's rooms: whoever puts a role together may know everybody.
    roles: { words: 'anything', allows: () => true },
  };

/** What the domain does without: waiting, the clock, chance and the environment. */
const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/\bawait\b/, 'awaits'],
  [/\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|\bperformance\s*\.\s*now\b/, 'reads the clock'],
  [/\bMath\s*\.\s*random\b|\brandom(UUID|UUIDv7|Bytes|Int|Fill|FillSync)\b/, 'uses chance'],
];

/**
 * Whoever reads on and on in the thread that trades keeps everybody waiting, unless each step takes its turn: so what is read
 * step by step or page by page is read by `inSteps`. These loop by themselves, so many times, because they read no list.
 */
const LOOPS: Readonly<Record<string, readonly [times: number, why: string]>> = {
  'data/engine/steps.ts': [1, 'it is the loop'],
  'data/engine/postgres-scripts.ts': [1, 'waits for a lock'],
  'data/engine/migrate.ts': [1, 'waits for others who migrate'],
  'data/orders/for-workers.ts': [1, 'tries again what somebody else has changed'],
  'app/audit/chain.ts': [1, 'begins anew where the log was pruned meanwhile; it walks in steps'],
  'app/operation/admin.ts': [1, 'tries again what somebody else has changed'],
  'app/operation/retention.ts': [1, 'pauses after each unit'],
  'app/orders/fate.ts': [1, 'waits for the database'],
  'app/orders/hear-fills.ts': [1, 'waits for words of brokers'],
  'app/orders/hear-word.ts': [1, 'tries again what somebody else has changed'],
  'app/orders/once.ts': [1, 'waits for who decides'],
  'app/orders/place-order.ts': [1, 'waits for a worker'],
  'app/orders/settle-order.ts': [1, 'tries again what somebody else has changed'],
  'app/orders/strategy.ts': [2, 'tries again what somebody else has changed'],
  'app/trial/desk.ts': [2, 'waits for a broker, for so long'],
  'app/trial/stopping.ts': [2, 'asks a broker again that is busy, for so long'],
  'http/client-ip.ts': [1, 'goes along a header'],
  'cli/doctor/machine.ts': [1, 'goes up from a folder'],
  'cli/orders.ts': [2, 'asks the API, where each request has its turn; and connects again'],
  'roles/message-key.ts': [1, 'waits for a key'],
};
const LOOPING = new Set(['data', 'app', 'http', 'cli', 'roles']);
/** Without an end of its own, or one that waits for what it goes on with. */
const LOOP =
  /\bfor\s*\([^;(){}]*;\s*;|\bwhile\s*\(|\bdo\s*\{|\bfor\s*\(\s*let\b[^;{}]*;[^;{}]*;[^;{}]*\bawait\b/g;

const MAX_LINES = 400;

type Sources = ReadonlyMap<string, string>;

const folderOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

/** Every breach, as "file: what it does, and the rule". */
function breaches(sources: Sources): string[] {
  const found: string[] = [];
  const scanned = new Map([...sources].map(([file, source]) => [file, scan(file, source)]));

  for (const [file, { code, imports, onlyReexports }] of scanned) {
    const report = (text: string) => found.push(`src/${file}: ${text}`);
    const folder = folderOf(file);
    const rule = MAY_IMPORT[folder];
    if (folder !== '' && !rule) report(`the folder ${folder} has no row in MAY_IMPORT`);
    for (const imported of imports) {
      const { target, own, typeOnly } = imported;
      if (own && !sources.has(target)) report(`imports ${target}, which does not exist`);
      const inside = own && folder !== '' && folderOf(target) === folder;
      if (rule && !inside && !rule.allows(imported))
        report(`imports ${typeOnly ? 'types of ' : ''}${target}; ${folder} may import ${rule.words}`);
      if (own && isAdapter(target) && !inside && folder !== 'roles')
        report(`names the adapter ${target}; only roles do`);
      if (own && target === 'main.ts' && folder !== '') report('imports main.ts; nothing inside may know it');
    }
    if (folder === 'domain')
      for (const [pattern, does] of IMPURE)
        if (pattern.test(code)) report(`${does} (${code.match(pattern)?.[0]}); the domain is pure`);
    const readsEnv = /\bprocess\s*\.\s*env\b/.test(code) || /\benv\b[^;]*\bfrom\s*'node:process'/.test(code);
    if (readsEnv && file !== 'main.ts' && file !== 'config/config.ts')
      report('reads process.env; only main.ts passes it on, to config/config.ts');
    const loops = LOOPING.has(folder) ? [...code.matchAll(LOOP)].length : 0;
    if (loops > (LOOPS[file]?.[0] ?? 0))
      report('loops by itself; what is read step by step or page by page is read by inSteps');
    if (onlyReexports) report('only re-exports; import from where the thing is');
    const lines = (sources.get(file) ?? '').trimEnd().split('\n').length;
    if (lines > MAX_LINES) report(`has ${lines} lines; above ${MAX_LINES} it wants to be two files`);
  }
  for (const cycle of cycles(scanned))
    found.push(`src/${cycle[0]}: is part of an import cycle: ${cycle.join(' → ')}`);
  return found;
}

interface Scanned {
  /** Without comments, and with every text emptied, except the names of modules. */
  readonly code: string;
  readonly imports: readonly Import[];
  readonly onlyReexports: boolean;
}

/** What stands between the word import or export and the module's name: names, braces and commas. */
const STATIC =
  /\b(?:import|export)\b(?<names>[\w\s$*{},]*?)(?:\bfrom\s*)?'(?<module>[^'\n]+)'\s*(?:with\s*\{[^}]*\})?/g;
const DYNAMIC = /\bimport\s*\(\s*'(?<module>[^'\n]+)'/g;

function scan(file: string, source: string): Scanned {
  const code = withoutCommentsAndTexts(source);
  const imports: Import[] = [];
  const add = (module = '', typeOnly: boolean) => {
    const target = module.startsWith('.') ? posix.join(posix.dirname(file), module) : module;
    // What lies outside src, such as package.json, is a stranger too.
    imports.push({ target, own: module.startsWith('.') && !target.startsWith('..'), typeOnly });
  };
  for (const { groups } of code.matchAll(STATIC)) add(groups?.module, isTypeOnly(groups?.names ?? ''));
  for (const { groups } of code.matchAll(DYNAMIC)) add(groups?.module, false);
  const rest = code.replace(STATIC, '').replace(/\bexport\s+(type\s+)?\{[^}]*\}/g, '');
  const exports = /\bexport\b/.test(code);
  return { code, imports, onlyReexports: exports && /^[\s;]*$/.test(rest) };
}

/** `type { A }` and `{ type A, type B }`, but not `{ type A, B }`, `A` or a bare import. */
function isTypeOnly(names: string): boolean {
  if (/^\s*type\b\s*[^\s,]/.test(names)) return true;
  const braces = /^\s*\{(?<list>[^}]*)\}\s*$/.exec(names)?.groups?.list;
  const list = (braces ?? '').split(',').filter((name) => name.trim() !== '');
  return list.length > 0 && list.every((name) => /^\s*type\s+/.test(name));
}

/** A `/` after one of these begins a regular expression, not a division. */
const BEFORE_REGEX = /(?:^|[=(,:;[!&|?{}+\-*%<>~^]|\b(?:return|typeof|case|of|in))\s*$/;

/**
 * Blanks comments, regular expressions and texts, but keeps what stands in a template's ${…}, and a module's name:
 * a plain text after `from`, `import` or `import(`.
 */
function withoutCommentsAndTexts(source: string): string {
  let code = '';
  let at = 0;
  // The depths of braces at which an enclosing template goes on.
  const templates: number[] = [];
  let depth = 0;
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? (source[at] as string);
    at += text.length;
    return text;
  };
  const template = () => {
    const text = skip(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y);
    if (text.endsWith('${')) templates.push(depth++);
    code += text.endsWith('${') ? '` + (' : '`';
  };
  while (at < source.length) {
    const two = source.slice(at, at + 2);
    const one = source[at] as string;
    if (two === '//') skip(/\/\/[^\n]*/y);
    else if (two === '/*') {
      skip(/\/\*[\s\S]*?(?:\*\/|$)/y);
      code += ' ';
    } else if (one === "'" || one === '"') {
      const text = skip(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y);
      code += /\b(?:from|import)\s*\(?\s*$/.test(code.slice(-80)) ? `'${text.slice(1, -1)}'` : "''";
    } else if (one === '`') {
      at++;
      template();
    } else if (one === '}' && templates.at(-1) === depth - 1) {
      at++;
      depth = templates.pop() ?? 0;
      code += ')';
      template();
    } else if (one === '/' && BEFORE_REGEX.test(code.slice(-80))) {
      skip(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y);
      code += 'REGEX';
    } else {
      if (one === '{') depth++;
      if (one === '}') depth--;
      code += one;
      at++;
    }
  }
  return code;
}

/** One cycle for each file that closes one; types count, since a reader has to follow them too. */
function cycles(scanned: ReadonlyMap<string, Scanned>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) return void found.push([...path.slice(path.indexOf(file)), file]);
    if (done.has(file)) return;
    for (const { target, own } of scanned.get(file)?.imports ?? []) if (own) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of scanned.keys()) visit(file, []);
  return found;
}

const root = new URL('../', import.meta.url);
const isBuilt = (name: string): boolean => name.startsWith('dist');

describe('the sources', () => {
  test('keep the rules of the house', () => {
    const files = globSync('**/*.ts', { cwd: new URL('src/', root) }).map((file) =>
      file.replaceAll('\\', '/'),
    );
    assert.ok(files.length > 0);
    const sources = new Map(
      files.toSorted().map((file) => [file, readFileSync(new URL(`src/${file}`, root), 'utf8')]),
    );
    const found = breaches(sources);
    assert.ok(found.length === 0, `\n${found.join('\n')}\n`);
  });

  test('of the pages know nothing of the service but its description, and no page knows another', () => {
    const web = new URL('web/', root);
    const isTool = (file: string) => ['build.ts', 'api/generate.ts'].includes(file);
    const found = globSync('**/*.{ts,tsx}', { cwd: web, exclude: isBuilt })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => !isTool(file))
      .flatMap((file) => {
        const source = readFileSync(new URL(file, web), 'utf8');
        const targets = [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) =>
          posix.join(posix.dirname(file), path),
        );
        const page = /^pages\/[^/]+\//.exec(file)?.[0];
        const lines = source.trimEnd().split('\n').length;
        return [
          ...targets
            .filter((target) => target.startsWith('..'))
            .map((target) => `${file}: imports ${target}`),
          ...(page
            ? targets.filter((target) => target.startsWith('pages/') && !target.startsWith(page))
            : []
          ).map((target) => `${file}: imports ${target}; what two pages use belongs into parts`),
          ...(lines > MAX_LINES && file !== 'api/schema.ts' ? [`${file}: has ${lines} lines`] : []),
        ];
      });
    assert.deepEqual(found, []);
  });

  test('of the pages, of chaos, of the benches and of the tests import nothing in circles either', () => {
    const files = ['web', 'chaos', 'bench', 'test']
      .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude: isBuilt }))
      .map((file) => file.replaceAll('\\', '/'));
    const scanned = files
      .toSorted()
      .map((file) => [file, scan(file, readFileSync(new URL(file, root), 'utf8'))] as const);
    const found = cycles(new Map(scanned)).map((cycle) => [...new Set(cycle)].toSorted().join(' '));
    assert.deepEqual([...new Set(found)].toSorted(), []);
  });

  test('depend on nothing that ARCHITECTURE.md does not give a reason for', () => {
    const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    const names = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
    const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
    // Whole names only: "pg" is not named by a line about pg-boss.
    const isNamed = (name: string) =>
      text.split(/[^\w@/.-]+/).some((word) => word.replace(/[.]+$/, '') === name);
    const missing = names.filter((name) => !isNamed(name));
    assert.deepEqual(missing, [], `ARCHITECTURE.md has no line for ${missing.join(', ')}`);
  });
});

describe('the rules', () => {
  const domain = { 'domain/a.ts': 'export const a = 1;' };
  const check = (files: Record<string, string>) => breaches(new Map(Object.entries({ ...domain, ...files })));

  const kept: Record<string, Record<string, string>> = {
    'data knows a port by its type': {
      'data/x.ts': "import type { Ledger } from '../broker/paper/ledger.ts';\nimport pg from 'pg';",
      'broker/paper/ledger.ts': 'export interface Ledger {}',
    },
    'app uses data, ports and the mailbox': {
      'app/x.ts': `import { a } from '../domain/a.ts';
        import { type Db } from "../data/engine/db.ts"; import { b } from '../worker/host/mailbox.ts';`,
      'data/engine/db.ts': 'export interface Db {}',
      'worker/host/mailbox.ts': "import { type Db } from '../../data/engine/db.ts';",
    },
    'main.ts reads the environment, and a role names adapters': {
      'main.ts': `import manifest from '../package.json' with { type: 'json' };
        import { wire } from './roles/wire.ts'; readConfig(process.env);`,
      'roles/wire.ts': "const { m } = await import('../store/memory.ts');",
      'store/memory.ts': '',
    },
    'times as arguments, and words in comments and texts, are no clock': {
      'domain/b.ts': `// await Date.now()
        /* new Date() */
        export const b = (ms: number) => new Date(ms).getTime() / Date.parse('Date.now()') / 2; // Math.random()
        const quote = /[/'"\`]/g; const text = \`\${quote} await \${\`Date.now() } \${1}\`} process.env\`;`,
    },
  };
  for (const [name, files] of Object.entries(kept))
    test(`${name}: kept`, () => assert.deepEqual(check(files), []));

  const broken: Record<string, readonly [Record<string, string>, RegExp]> = {
    'domain imports a package': [
      { 'domain/b.ts': "import x from 'node:fs';" },
      /domain may import nothing but/,
    ],
    'domain imports outwards, if only a type': [
      { 'domain/b.ts': "import type { Db } from '../data/engine/db.ts';", 'data/engine/db.ts': '' },
      /src\/domain\/b\.ts: imports types of data\/engine\/db\.ts/,
    ],
    'domain awaits': [{ 'domain/b.ts': 'export const b = async () => await 1;' }, /awaits/],
    'domain reads the clock': [{ 'domain/b.ts': 'const t = new Date( );' }, /reads the clock/],
    'domain reads the clock in a template': [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a source
      { 'domain/b.ts': 'const t = `at ${Date.now()}`;' },
      /reads the clock/,
    ],
    'domain rolls dice': [{ 'domain/b.ts': "import { randomUUID } from 'node:crypto';" }, /uses chance/],
    'anyone reads the environment': [{ 'app/x.ts': 'const { PORT } = process.env;' }, /reads process\.env/],
    'the environment by another name': [
      { 'app/x.ts': "import { env } from 'node:process';" },
      /reads process\.env/,
    ],
    'http imports data': [
      { 'http/x.ts': "import { x } from '../data/orders/orders.ts';", 'data/orders/orders.ts': '' },
      /never data/,
    ],
    'http imports data while nobody looks': [
      { 'http/x.ts': "const x = await import('../data/orders/orders.ts');", 'data/orders/orders.ts': '' },
      /never data/,
    ],
    'http imports more than types of the config': [
      {
        'http/x.ts': "import { type Config, readConfig } from '../config/config.ts';",
        'config/config.ts': '',
      },
      /types of config\/config\.ts/,
    ],
    'worker imports data': [
      { 'worker/x.ts': "import { type A, b } from '../data/orders/orders.ts';", 'data/orders/orders.ts': '' },
      /worker may import/,
    ],
    'app names an adapter': [
      {
        'app/x.ts': "export * from '../data/engine/sqlite.ts'; export const x = 1;",
        'data/engine/sqlite.ts': '',
      },
      /names the adapter data\/engine\/sqlite\.ts/,
    ],
    'the command line names an adapter': [
      { 'cli/x.ts': "import '../store/memory.ts';", 'store/memory.ts': '' },
      /src\/cli\/x\.ts: names the adapter/,
    ],
    'a cycle': [
      { 'app/x.ts': "import './y.ts';", 'app/y.ts': "import type { X } from './x.ts';" },
      /cycle: app\/x\.ts → app\/y\.ts → app\/x\.ts/,
    ],
    'a barrel': [
      {
        'app/index.ts': "// all\nexport * from './x.ts';\nimport { y } from './x.ts';\nexport { y };",
        'app/x.ts': '',
      },
      /only re-exports/,
    ],
    'a file that is too long': [{ 'app/x.ts': 'x;\n'.repeat(401) }, /has 401 lines/],
    'pages that are read without a turn': [
      { 'app/x.ts': 'for (let cursor = null; ; ) cursor = await read(cursor);' },
      /src\/app\/x\.ts: loops by itself/,
    ],
    'pages that are read without a turn while there are some': [
      { 'http/x.ts': 'let page; do { page = await read(page); } while (page);' },
      /src\/http\/x\.ts: loops by itself/,
    ],
    'pages that are read without a turn, one from the other': [
      { 'roles/x.ts': 'for (let page = await read(); page !== null; page = await read(page)) send(page);' },
      /src\/roles\/x\.ts: loops by itself/,
    ],
    'a folder without a rule': [{ 'utils/x.ts': '' }, /no row in MAY_IMPORT/],
    'a file that is not there': [{ 'app/x.ts': "import './gone.ts';" }, /does not exist/],
  };
  for (const [name, [files, message]] of Object.entries(broken))
    test(`${name}: noticed`, () => assert.match(check(files).join('\n'), message));
});
