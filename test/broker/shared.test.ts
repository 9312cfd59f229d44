import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { createShared } from '../../src/broker/shared.ts';
import { didYouMean, nearest } from '../../src/domain/nearest.ts';

const { signal } = new AbortController();
const options = { signal, maxAgeMs: 1_000 };

describe('what accounts share', () => {
  it('is loaded once, however many ask at once, and again when it is too old for who asks', async () => {
    let now = 0;
    let loads = 0;
    const shared = createShared<number>(() => now);
    const get = (maxAgeMs = 1_000) => shared.get('a', async () => ++loads, { signal, maxAgeMs });
    assert.deepEqual(await Promise.all([get(), get(), get()]), [1, 1, 1]);
    now = 1_000;
    assert.equal(await get(), 1);
    assert.equal(await get(999), 2);
    now = 2_001;
    assert.equal(await get(), 3);
    assert.equal(await shared.get('b', async () => 7, options), 7);
  });

  it('is good until the next has come, for whoever takes an older one: also where that cannot be loaded', async () => {
    let now = 0;
    const shared = createShared<string>(() => now);
    const next = Promise.withResolvers<string>();
    const get = (load: () => Promise<string>) => shared.get('a', load, { ...options, orOlder: true });
    assert.equal(await get(async () => 'old'), 'old');
    now = 1_001;
    assert.equal(await get(() => Promise.reject(new BrokerUnavailable('down'))), 'old');
    // What failed is over by then.
    await new Promise(setImmediate);
    assert.equal(await get(() => next.promise), 'old');
    assert.equal(await get(() => assert.fail('it is under way')), 'old');
    next.resolve('new');
    await new Promise(setImmediate);
    assert.equal(await get(() => assert.fail('it is there')), 'new');
  });

  it('is not refused to one for what another’s keys are', async () => {
    const shared = createShared<string>();
    const refused = shared.get('a', () => Promise.reject(new CredentialsRejected('not yours')), options);
    const asked = shared.get('a', async () => 'the list', options);
    await assert.rejects(refused, CredentialsRejected);
    assert.equal(await asked, 'the list');
  });

  it('that cannot be loaded is asked for once, however many wait for it', async () => {
    const shared = createShared<string>();
    let loads = 0;
    const failure = new BrokerUnavailable('down');
    const get = () =>
      shared.get(
        'a',
        async () => {
          loads++;
          throw failure;
        },
        options,
      );
    const results = await Promise.allSettled([get(), get(), get()]);
    assert.ok(results.every((result) => result.status === 'rejected' && result.reason === failure));
    assert.equal(loads, 1);
    await assert.rejects(get(), failure);
    assert.equal(loads, 2, 'who asks later is not told of it');
  });

  it('goes on loading for the others when one has lost patience', async () => {
    const shared = createShared<string>();
    const list = Promise.withResolvers<string>();
    const impatient = new AbortController();
    const left = shared.get('a', () => list.promise, { ...options, signal: impatient.signal });
    const stayed = shared.get('a', () => assert.fail('it is under way'), options);
    impatient.abort();
    await assert.rejects(left, BrokerUnavailable);
    list.resolve('the list');
    assert.equal(await stayed, 'the list');
  });
});

describe('the nearest names', () => {
  const names = ['AAPL', 'AMZN', 'MSFT', 'TXF1!', 'TXF2!', '2330', 'A'];
  for (const [wanted, near] of [
    ['AAPLE', ['AAPL']],
    ['APPL', ['AAPL']],
    ['aalp', ['AAPL']],
    ['TXG1!', ['TXF1!', 'TXF2!']],
    ['2331', ['2330']],
    ['ZZZZZZ', []],
    ['B', ['A']],
  ] as const)
    it(`to ${wanted} are ${near.join(', ') || 'none'}`, () => assert.deepEqual(nearest(wanted, names), near));

  it('are offered in a sentence', () => {
    assert.equal(didYouMean([]), '');
    assert.equal(didYouMean(['A', 'B', 'C']), ' Did you mean A, B or C?');
  });
});
