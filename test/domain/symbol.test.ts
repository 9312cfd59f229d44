import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalSymbol,
  isAllowedSymbol,
  type PlatformSymbol,
  readSymbol,
} from '../../src/domain/signals/symbol.ts';

describe('A symbol as the charting platform writes it', () => {
  // biome-ignore format: a table, one row a line
  const spellings: [string, string | null, boolean, string, PlatformSymbol['market']][] = [
    ['BINANCE:BTCUSDT.P', 'BINANCE', false, 'BTCUSDT', { kind: 'perpetual' }],
    ['BTCUSDT', null, false, 'BTCUSDT', { kind: 'spot' }],
    ['NASDAQ:BRK.B', 'NASDAQ', false, 'BRK.B', { kind: 'spot' }],
    ['CME_MINI:ES1!', 'CME_MINI', false, 'ES', { kind: 'continuous', month: 1 }],
    ['CME_MINI_DL:ES2!', 'CME_MINI', true, 'ES', { kind: 'continuous', month: 2 }],
    ['taifex_dly:txf1!', 'TAIFEX', true, 'TXF', { kind: 'continuous', month: 1 }],
    ['M2K1!', null, false, 'M2K', { kind: 'continuous', month: 1 }],
    ['1!', null, false, '1!', { kind: 'spot' }],
    ['ESZ2026', null, false, 'ESZ2026', { kind: 'spot' }],
  ];
  for (const [spelling, exchange, isDelayed, ticker, market] of spellings)
    test(`${spelling} is ${ticker}, ${market.kind}`, () => {
      assert.deepEqual(readSymbol(spelling), { exchange, isDelayed, ticker, market });
    });

  test('is read into the parts that it was written from, in any case', () => {
    const letters = (min: number) => fc.stringMatching(new RegExp(`^[A-Z][A-Z0-9]{${min},8}$`));
    const parts = fc.record({
      exchange: fc.option(fc.oneof(letters(1), fc.constant('CME_MINI'))),
      delayed: fc.constantFrom('', '_DL', '_DLY'),
      ticker: letters(0),
      market: fc.oneof(
        fc.constantFrom({ kind: 'spot' } as const, { kind: 'perpetual' } as const),
        fc.integer({ min: 1, max: 9 }).map((month) => ({ kind: 'continuous', month }) as const),
      ),
      isLower: fc.boolean(),
    });
    fc.assert(
      fc.property(parts, ({ exchange, delayed, ticker, market, isLower }) => {
        const end = { spot: '', perpetual: '.P', continuous: 'month' in market ? `${market.month}!` : '' };
        const written = `${exchange === null ? '' : `${exchange}${delayed}:`}${ticker}${end[market.kind]}`;
        assert.deepEqual(readSymbol(isLower ? written.toLowerCase() : written), {
          exchange,
          isDelayed: exchange !== null && delayed !== '',
          ticker,
          market,
        });
      }),
    );
  });

  test('whatever it is, on paper it is the name without any exchange and any .P, in upper case', () => {
    const pieces = fc.constantFrom('A', 'b', '.P', '.p', ':', '1!', '_DL', '_DLY:', 'ß', 'é', '\n', '1', '!');
    const anything = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(pieces).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(anything, (symbol) => {
        const name = symbol
          .toUpperCase()
          .replace(/^[^:]*:/, '')
          .replace(/\.P$/, '');
        assert.equal(canonicalSymbol('paper', symbol), name);
      }),
    );
  });

  test('is on the list under any of its spellings', () => {
    const allowed = ['BINANCE:BTCUSDT.P', 'TXF1!'];
    for (const symbol of ['btcusdt', 'BYBIT:BTCUSDT', 'TAIFEX_DLY:TXF1!'])
      assert.ok(isAllowedSymbol('paper', allowed, symbol), symbol);
    for (const symbol of ['BTCUSD', 'TXF2!', 'TXF'])
      assert.ok(!isAllowedSymbol('paper', allowed, symbol), symbol);
  });
});
