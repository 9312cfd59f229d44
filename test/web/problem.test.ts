import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRefusal, Problem, problemOf, reached, Unreachable } from '../../web/api/problem.ts';
import { faultAs } from '../../web/pages/positions/fault.ts';

describe('what went wrong', () => {
  test('is the network where fetch itself threw, and a fault of the page anywhere else', async () => {
    const gone = await reached(Promise.reject(new TypeError('Failed to fetch'))).catch(problemOf);
    assert.ok(gone instanceof Unreachable);
    assert.deepEqual([gone.status, gone.code], [0, 'unreachable']);
    assert.equal(problemOf(new TypeError('undefined is not a function')).code, 'page_fault');
  });

  test('is nothing where it was given up on purpose', async () => {
    const left = new DOMException('left', 'AbortError');
    await assert.rejects(reached(Promise.reject(left)), left);
  });

  test('is said once where the detail has the advice in it', () => {
    const advice = 'Log in.';
    assert.equal(new Problem({ detail: 'The session has ended. Log in.', advice }, 401).advice, null);
    assert.equal(new Problem({ detail: 'Request expired', advice }, 401).advice, advice);
    assert.equal(new Problem({ detail: 'No advice came.' }, 500).advice, null);
  });

  test('is tried again where nobody answered or the service failed, and not where it refused', () => {
    assert.equal(isRefusal(new Unreachable()), false);
    assert.equal(isRefusal(new Problem({}, 503)), false);
    assert.equal(isRefusal(new Problem({}, 409)), true);
  });
});

test('a broker that refuses the credentials is not said to be out of reach', () => {
  const title = 'The broker cannot be reached';
  const words = 'Bybit refuses the credentials: API key is invalid (10003).';
  const away = new Problem(
    { title, detail: `${title}: ${words} Try again in a moment.`, code: 'broker_unavailable' },
    503,
  );
  const refused = problemOf(faultAs(away, { credentials_refused: true }));
  assert.deepEqual([refused.title, refused.detail], ['The broker refuses the credentials', words]);
  assert.equal(faultAs(away, { credentials_refused: false }), away);
  const ours = new Problem({ title: 'The database is unavailable', code: 'database_unavailable' }, 503);
  assert.equal(faultAs(ours, { credentials_refused: true }), ours, 'that has nothing to do with it');
});
