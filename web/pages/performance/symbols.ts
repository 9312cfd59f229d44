// By symbol: who earned most stands first.

import type { components } from '../../api/schema.ts';
import { money } from '../../parts/numbers.ts';
import { figureColumn, inHead, type Sheet } from './sheets.ts';

export type SymbolTotals = components['schemas']['Performance']['symbols'][number];

/** What was never filled has earned nothing and lost nothing: it comes last, behind what is not known, and shows no figure. */
export const inOrder = (symbols: readonly SymbolTotals[]): SymbolTotals[] =>
  symbols.toSorted(
    (a, b) =>
      Number(b.volume > 0) - Number(a.volume > 0) ||
      Number(b.realised !== null) - Number(a.realised !== null) ||
      (b.realised ?? 0) - (a.realised ?? 0) ||
      b.orders - a.orders ||
      a.symbol.localeCompare(b.symbol),
  );

const NO_FILL = 'no fill';

export function symbolSheet(symbols: readonly SymbolTotals[], currency: string | null): Sheet<SymbolTotals> {
  return {
    name: 'symbols',
    rows: symbols,
    columns: [
      { head: 'Symbol', field: 'symbol', value: ({ symbol }) => symbol, said: ({ symbol }) => symbol },
      {
        head: inHead('Realised', currency),
        field: 'realised',
        value: ({ realised }) => realised,
        said: ({ realised, volume }) => (realised === null ? null : volume === 0 ? NO_FILL : money(realised)),
      },
      figureColumn('Orders', 'orders'),
      figureColumn('Volume, units', 'volume'),
    ],
  };
}
