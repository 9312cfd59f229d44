// A build that is wrong on purpose has to be wrong: once the sources have moved on from under it, it would be a good one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BREAK_NAMES, brokenSources } from '../../chaos/breaks.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('a build that is wrong on purpose', () => {
  for (const name of BREAK_NAMES)
    it(`breaks what is there, and still runs: ${name}`, () => {
      const sources = brokenSources(name);
      assert.notEqual(sources.size, 0);
      for (const [file, broken] of sources) {
        assert.notEqual(broken, readFileSync(join(ROOT, file), 'utf8'));
        // One that cannot even be read would be found for another reason.
        stripTypeScriptTypes(broken);
      }
    });

  it('is told of in docs/architecture/chaos.md', () => {
    const text = readFileSync(join(ROOT, 'docs', 'architecture', 'chaos.md'), 'utf8');
    for (const name of BREAK_NAMES) assert.ok(text.includes(`\`${name}\``), name);
  });

  it('has a name that is known', () => {
    assert.throws(() => brokenSources('nothing'), /--break takes one of compare-and-set, /);
  });
});
