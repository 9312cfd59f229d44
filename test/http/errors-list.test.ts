// ERRORS.md and /docs/errors are made from the tables in code, and stay what they say. Every error leads there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { DENIALS } from '../../src/domain/denials.ts';
import { REJECTION_CODES } from '../../src/domain/orders/order.ts';
import { REJECTIONS } from '../../src/domain/orders/rejection.ts';
import { errorsList, errorsPage } from '../../src/http/docs/errors-list.ts';
import { FAILURES } from '../../src/http/docs/openapi-errors.ts';
import { openWorld, type Problem } from '../world.ts';

const fileOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const anchorsIn = (text: string) => [...text.matchAll(/<(?:a|div) id="([^"]+)"/g)].map(([, id]) => id);

test('ERRORS.md is what the code says', () => {
  assert.equal(
    fileOf('ERRORS.md'),
    errorsList(),
    'write it anew: npm run --silent cli -- errors > ERRORS.md',
  );
});

test('every denial and every rejection has its place in the list and on the page, each one place', () => {
  const places = [
    ...Object.keys(DENIALS),
    'internal_error',
    ...REJECTION_CODES.map((code) => `rejection-${code}`),
  ];
  const [inList, onPage] = [anchorsIn(errorsList()), anchorsIn(errorsPage({ version: '1' }))];
  assert.deepEqual(onPage, inList);
  assert.equal(new Set(inList).size, inList.length);
  for (const place of places) assert.ok(inList.includes(place), place);
});

test('every denial and every rejection says what happened and what to do, as whole sentences', () => {
  for (const { name, title, detail, advice } of FAILURES) {
    assert.match(title, /^[A-Z][^.]{4,79}$/, `${name}: a title is short, and has no full stop`);
    assert.match(advice, /^[A-Z].{10,}\.$/s, name);
    assert.ok(detail.length >= 15, name);
  }
  for (const [code, { meaning, advice }] of Object.entries(REJECTIONS))
    for (const text of [meaning, advice]) assert.match(text, /^[A-Z].{10,}\.$/s, code);
});

test('what the edge answers by itself has its place too, and its advice', () => {
  const anchors = anchorsIn(errorsList());
  const conf = ['fillpath', 'own-answers', 'rules-answers']
    .map((name) => fileOf(`deploy/edge/${name}.conf`))
    .join('\n');
  const answers = [...conf.matchAll(/return \d{3} '(\{.*\})';/g)].map(
    ([, text = '']) => JSON.parse(text) as Problem,
  );
  assert.ok(answers.length >= 10);
  const mapped = [...(/map \$refusal \$refusal_code \{([^}]*)\}/.exec(conf)?.[1] ?? '').matchAll(/(\w+);/g)];
  for (const [, code = ''] of mapped) assert.ok(anchors.includes(code), code);
  for (const { type, code, detail, advice } of answers) {
    assert.equal(type, `/docs/errors#${code}`);
    assert.ok(code === '$refusal_code' || anchors.includes(code), code);
    assert.ok(detail && advice);
  }
});

describe('the type of a problem', () => {
  test('is the address of a page of the service that explains it, at its code', async (t) => {
    const world = await openWorld(t, { env: { BASE_URL: 'https://desk.example.com/' } });
    const { body } = await world.request<Problem>({ method: 'GET', url: '/trading/orders' });
    assert.equal(body.type, 'https://desk.example.com/docs/errors#unauthenticated');
    assert.ok(body.advice.startsWith('Log in'));
    const { pathname, hash } = new URL(body.type);
    const page = await world.request<string>({ method: 'GET', url: pathname });
    assert.equal(page.status, 200);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.ok(anchorsIn(String(page.body)).includes(hash.slice(1)));
    assert.doesNotMatch(String(page.body), /<script|style="/);
  });
});
