// Which instruments are meant by what somebody types, and in which order.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { searchInstruments } from '../../src/domain/instrument-search.ts';

const named = (symbol: string, description: string) => ({ symbol, description });
const inOrder = <T extends { symbol: string }>(listed: readonly T[]): T[] =>
  listed.toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1));
const found = (listed: readonly ReturnType<typeof named>[], query: string) =>
  searchInstruments(inOrder(listed), { query, after: null, limit: 100 }).map(({ symbol }) => symbol);

const COINS = [
  named('ADAUSDT', 'Cardano / Tether'),
  named('BETHUSDT', 'Beacon Ether / Tether'),
  named('ETHFIUSDT', 'Ether.fi / Tether'),
  named('ETHUSDT', 'Ether / Tether'),
  named('ETCUSDT', 'Ethereum Classic / Tether'),
  named('TUSDT', 'Threshold / Tether'),
];

describe('the search for an instrument', () => {
  test('puts the symbol before the name, the beginning before the middle and the shorter first', () => {
    assert.deepEqual(found(COINS, 'eth'), ['ETHUSDT', 'ETHFIUSDT', 'BETHUSDT', 'ETCUSDT']);
  });

  test('does not find a pair by what it is quoted in', () => {
    for (const query of ['USDT', 'SDT', 'Tether', 'teth']) assert.deepEqual(found(COINS, query), [], query);
    assert.deepEqual(found(COINS, 'USD'), []);
    assert.deepEqual(found(COINS, 'ETHUSD'), ['ETHUSDT', 'BETHUSDT']);
    const perpetuals = [
      named('ETHUSDT.P', 'ETH / USDT perpetual'),
      named('SOLUSDT.P', 'SOL / USDT perpetual'),
    ];
    assert.deepEqual(found(perpetuals, 'usdt'), []);
    assert.deepEqual(found(perpetuals, 'sol'), ['SOLUSDT.P']);
  });

  test('finds a share whose symbol or name only looks like a pair', () => {
    const shares = [named('GUSD', 'Gold Fund'), named('AB', 'Alpha / Beta Trust')];
    assert.deepEqual(found(shares, 'usd'), ['GUSD']);
    assert.deepEqual(found(shares, 'beta'), ['AB']);
  });

  test('reads what is typed as an alert may spell it', () => {
    assert.deepEqual(found(COINS, ' BINANCE:ETHUSDT.P '), ['ETHUSDT', 'BETHUSDT']);
    assert.deepEqual(found([named('ETHUSDT.P', 'ETH / USDT perpetual')], 'ethusdt'), ['ETHUSDT.P']);
  });

  test('goes on after a symbol that is not listed any more', () => {
    const listed = inOrder(COINS.filter(({ symbol }) => symbol !== 'ETHFIUSDT'));
    const next = searchInstruments(listed, { query: 'eth', after: 'ETHFIUSDT', limit: 1 });
    assert.deepEqual(next, [named('BETHUSDT', 'Beacon Ether / Tether')]);
  });

  const listings = fc
    .uniqueArray(fc.stringMatching(/^[AB]{1,4}(USDT)?(\.P)?$/), { maxLength: 20 })
    .chain((symbols) =>
      fc.tuple(
        ...symbols.map((symbol) =>
          fc.constantFrom('A / Tether', 'Bab / USDT perpetual', 'B Inc.').map((text) => named(symbol, text)),
        ),
      ),
    );
  const typed = fc.constantFrom('', 'A', 'ab', 'B', 'USDT', 'X:BA', 'T', 'inc');

  test('comes in pages without a gap', () => {
    fc.assert(
      fc.property(listings, typed, fc.integer({ min: 1, max: 5 }), (listed, query, limit) => {
        const list = inOrder(listed);
        const all = searchInstruments(list, { query, after: null, limit: list.length });
        const paged: (typeof all)[number][] = [];
        for (;;) {
          const after = paged.at(-1)?.symbol ?? null;
          const page = searchInstruments(list, { query, after, limit });
          assert.ok(page.length <= limit);
          paged.push(...page);
          if (page.length < limit) break;
        }
        assert.deepEqual(paged, all);
      }),
    );
  });

  test('finds what contains the letters, and nothing else', () => {
    fc.assert(
      fc.property(listings, typed, (listed, query) => {
        const letters = query.toUpperCase().replace(/^.*:/, '');
        for (const { symbol, description } of searchInstruments(inOrder(listed), {
          query,
          after: null,
          limit: 100,
        }))
          assert.ok(`${symbol} ${description}`.toUpperCase().includes(letters), symbol);
        const begins = listed.filter(({ symbol }) => symbol.startsWith(letters)).length;
        assert.ok(
          found(listed, query)
            .slice(0, begins)
            .every((symbol) => symbol.startsWith(letters)),
        );
      }),
    );
  });
});
