// node web/build.ts: builds the pages into web/dist, where they are missing or older than what they are made of.
// `npm start` and `npm test` begin with it (not as scripts before them: .npmrc lets none run). With nothing to build it costs
// the reading of some file times.
//
// web/pieces.ts says of what files they consist. No script or style stands in the document: the policy forbids it.

import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { makePieces } from './pieces.ts';

const WEB = import.meta.dirname;
const DIST = join(WEB, 'dist');
/** Written last, with the names of what was built: a build that was cut off counts for nothing. */
const STAMP = '.built';
const DOCUMENT = 'index.html';
const COMPRESSIBLE = /\.(?:html|js|css|svg)$/;

function isStale(): boolean {
  const stamp = join(DIST, STAMP);
  if (!existsSync(stamp)) return true;
  const built = statSync(stamp).mtimeMs;
  const sources = globSync('**/*', { cwd: WEB, exclude: (name) => name.startsWith('dist') });
  return [...sources, '../package-lock.json'].some((file) => statSync(join(WEB, file)).mtimeMs > built);
}

async function build(): Promise<void> {
  const started = performance.now();
  const esbuild = await import('esbuild').catch(() => null);
  if (!esbuild) {
    console.warn('The pages are not built: esbuild is not installed here (npm ci --include=dev).');
    return;
  }
  const { files, styles, main, withMain } = await makePieces(esbuild, WEB, DIST);

  // Beside it first: who serves the old pages meanwhile is not disturbed, and two builds at once do not mix.
  const beside = join(WEB, `dist-${process.pid}`);
  mkdirSync(beside);
  const write = (name: string, content: Uint8Array | string) => writeFileSync(join(beside, name), content);
  for (const { name, contents } of files) write(name, contents);
  const style = hashed('style', '.css', styles);
  write(style, styles);
  const icon = readFileSync(join(WEB, 'theme/icon.svg'), 'utf8');
  const iconName = hashed('icon', '.svg', icon);
  write(iconName, icon);

  const document = readFileSync(join(WEB, DOCUMENT), 'utf8')
    .replace('./theme/icon.svg', `/static/${iconName}`)
    .replace('./theme/base.css', `/static/${style}`)
    .replace('./main.tsx', `/static/${main}`)
    .replace('</head>', `${withMain.map(preloaded).join('')}</head>`);
  write(DOCUMENT, document);

  for (const file of readdirSync(beside)) if (COMPRESSIBLE.test(file)) compress(join(beside, file));
  const names = readdirSync(beside);
  for (const name of builtBefore().filter((known) => !names.includes(known)))
    copyFileSync(join(DIST, name), join(beside, name));
  write(STAMP, names.join('\n'));
  rmSync(DIST, { recursive: true, force: true });
  renameSync(beside, DIST);
  await esbuild.stop();
  console.log(`The pages are built, in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** The files of the last build, and of none before it: a page that is open in a browser asks for its own pieces. */
function builtBefore(): string[] {
  const stamp = join(DIST, STAMP);
  if (!existsSync(stamp)) return [];
  return readFileSync(stamp, 'utf8')
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith(DOCUMENT));
}

const hashed = (name: string, extension: string, text: string): string =>
  `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}${extension}`;

/** So that it is asked for at once, and not only when the script that imports it is there. */
const preloaded = (name: string): string => `  <link rel="modulepreload" href="/static/${name}">\n  `;

/** Once, at the highest level, instead of for every reader. */
function compress(file: string): void {
  const text = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(text, { params: { [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } }),
  );
}

if (isStale()) await build();
