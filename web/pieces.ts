// Of what files the pages consist. Each page is a piece of its own, loaded when it is first opened. What several pages use,
// esbuild would make a piece of for every set of pages that shares it: dozens, of some hundred bytes each, and the head of
// each answer weighs more. So the small ones are put together: those that pages outside need into one piece, those that the
// frame inside needs, or the pages that most people open first, into another, and the rest into a third. The styles of all are
// one file.

import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { BuildOptions, Loader, Metafile, Plugin } from 'esbuild';

type Esbuild = typeof import('esbuild');

const ENTRY = 'main.tsx';
/** Who comes to these is not logged in, and needs nothing of what is inside. */
const OUTSIDE = /^(?:main\.tsx$|pages\/(?:enter|landing)\/)/;
/** Those inside that are opened first: they do without what only others need. */
const FIRST = /^(?:parts\/frame\.tsx|pages\/(?:today\/today|signals\/signals)\.tsx)$/;
/** What is larger, and shared by a few pages only, stays theirs. In bytes. */
const SMALL = 10_000;

type Group = 'everywhere' | 'inside' | 'further';
type Groups = Readonly<Record<Group, readonly string[]>>;

export interface Pieces {
  /** Scripts and fonts. */
  readonly files: readonly { readonly name: string; readonly contents: Uint8Array }[];
  readonly styles: string;
  /** The script of the document, and what it imports at once. */
  readonly main: string;
  readonly withMain: readonly string[];
}

const options = (web: string, dist: string): BuildOptions & { metafile: true; write: false } => ({
  absWorkingDir: web,
  entryPoints: [ENTRY],
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2023', 'chrome120', 'firefox121', 'safari17'],
  jsx: 'automatic',
  minify: true,
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  loader: { '.woff2': 'file', '.svg': 'file' },
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  publicPath: '/static',
  outdir: dist,
  metafile: true,
  write: false,
  logLevel: 'warning',
  // Of packages without side effects: what nobody uses is left out, as it should be.
  logOverride: { 'ignored-bare-import': 'silent' },
});

export async function makePieces(esbuild: Esbuild, web: string, dist: string): Promise<Pieces> {
  const apart = await esbuild.build(options(web, dist));
  const plugins = [together(groupsOf(apart.metafile), entriesOf(apart.metafile))];
  const { outputFiles, metafile } = await esbuild.build({ ...options(web, dist), plugins });

  const files = outputFiles.map(({ path, contents, text }) => ({ name: basename(path), contents, text }));
  const main = files.find(({ name }) => metafile.outputs[`dist/${name}`]?.entryPoint === ENTRY);
  if (!main) throw new Error('the entry is missing from what was built');
  const { imports = [], cssBundle = '' } = metafile.outputs[`dist/${main.name}`] ?? {};
  return {
    files: files.filter(({ name }) => !name.endsWith('.css')),
    // Those of all pages, because it knows all pages; each page has its own once more, which nobody needs.
    styles: files.find(({ name }) => name === basename(cssBundle))?.text ?? '',
    main: main.name,
    withMain: imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
  };
}

const entriesOf = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);

/** The sources of the small pieces that are nobody's own. */
function groupsOf({ outputs }: Metafile): Groups {
  const reachedFrom = (entries: RegExp): ReadonlySet<string> => {
    const reached = new Set<string>();
    const reach = (name: string) => {
      if (reached.has(name)) return;
      reached.add(name);
      for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') reach(path);
    };
    for (const [name, { entryPoint }] of Object.entries(outputs))
      if (entries.test(entryPoint ?? '')) reach(name);
    return reached;
  };
  const reachedOutside = reachedFrom(OUTSIDE);
  const reachedFirst = reachedFrom(FIRST);

  const groups: Record<Group, string[]> = { everywhere: [], inside: [], further: [] };
  for (const [name, { entryPoint, bytes, inputs }] of Object.entries(outputs)) {
    if (!name.endsWith('.js') || entryPoint !== undefined) continue;
    if (reachedOutside.has(name)) groups.everywhere.push(...Object.keys(inputs));
    else if (bytes < SMALL)
      groups[reachedFirst.has(name) ? 'inside' : 'further'].push(...Object.keys(inputs));
  }
  return groups;
}

/** Has every page import the whole of its group, so that the same set of pages shares all of it. */
function together(sources: Groups, entries: readonly string[]): Plugin {
  return {
    name: 'together',
    setup(build) {
      const web = build.initialOptions.absWorkingDir ?? '';
      const pathOf = (source: string) => join(web, source);
      const groupsFor = new Map(
        entries.map((entry) => [
          pathOf(entry),
          OUTSIDE.test(entry)
            ? ['everywhere']
            : FIRST.test(entry)
              ? ['everywhere', 'inside']
              : ['everywhere', 'inside', 'further'],
        ]),
      );
      build.onResolve({ filter: /^together:/ }, ({ path }) => ({ path, namespace: 'together' }));
      build.onLoad({ filter: /.*/, namespace: 'together' }, ({ path }) => ({
        contents: sources[path.replace('together:', '') as Group]
          .map((source) => `import ${JSON.stringify(pathOf(source))};`)
          .join('\n'),
        resolveDir: web,
      }));
      build.onLoad({ filter: /\.[jt]sx?$/ }, async ({ path }) => {
        const groups = groupsFor.get(path);
        if (!groups) return null;
        // At its end: the order of the imports is that of the styles.
        const imports = groups.map((group) => `import 'together:${group}';`);
        const contents = [await readFile(path, 'utf8'), ...imports].join('\n');
        return { contents, loader: extname(path).slice(1) as Loader };
      });
    },
  };
}
