import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

const DOCUMENTS = globSync(['*.md', 'deploy/**/*.md', 'docs/**/*.md']).sort();
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** A document's own prose: what stands in code blocks is somebody else's text. */
const proseOf = (path: string): string => readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '');

/** As a heading's text becomes its anchor where these files are read. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/`|\*/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

function anchorsOf(path: string): Set<string> {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading ?? ''));
  const named = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name]) => name ?? '');
  return new Set([...headings, ...named]);
}

describe('The documents', () => {
  it('lead to files and headings that exist', () => {
    const dead = DOCUMENTS.flatMap((path) =>
      [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target ?? '')
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const [file = '', anchor] = target.split('#');
          const found = file === '' ? path : join(dirname(path), file);
          if (!existsSync(found)) return true;
          return anchor !== undefined && found.endsWith('.md') && !anchorsOf(found).has(anchor);
        })
        .map((target) => `${path}: ${target}`),
    );
    assert.deepEqual(dead, []);
  });

  it('name only npm scripts that there are', () => {
    const unknown = DOCUMENTS.filter((path) => path !== 'CHANGELOG.md').flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/npm run (?:--silent )?([\w:-]+)/g)]
        .map(([, script]) => script ?? '')
        .filter((script) => !(script in scripts))
        .map((script) => `${path}: npm run ${script}`),
    );
    assert.deepEqual(unknown, []);
  });

  it('name only sources that there are', () => {
    const sources = globSync(['{src,web,test,chaos,bench,checks}/**/*.{ts,tsx}'], {
      exclude: (name) => name === 'dist',
    }).map((path) => `/${path.replaceAll('\\', '/')}`);
    const named = DOCUMENTS.filter((path) => path !== 'CHANGELOG.md').flatMap((path) =>
      [...proseOf(path).matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name]) => ({ path, name: name ?? '' })),
    );
    assert.ok(named.length > 100);
    const unknown = named.filter(({ name }) => !sources.some((source) => source.endsWith(`/${name}`)));
    assert.deepEqual(unknown, []);
  });

  it('are found by who begins with README.md', () => {
    const found = new Set(['README.md']);
    for (const path of found)
      for (const [, target = ''] of proseOf(path).matchAll(/\]\(([^)\s#]+\.md)(?:#[^)\s]*)?\)/g))
        if (!/^[a-z]+:/.test(target)) found.add(join(dirname(path), target));
    assert.deepEqual(
      DOCUMENTS.filter((path) => !found.has(path)),
      [],
    );
  });

  it('are short where everybody begins', () => {
    const sizes = { 'ARCHITECTURE.md': 15_000, 'OPERATIONS.md': 4_000 };
    for (const [path, most] of Object.entries(sizes)) assert.ok(statSync(path).size < most, path);
  });
});
