// By symbol: who earned most stands first, and a bar says how much, from a zero that all of them share.

import type { components } from '../../api/schema.ts';
import { figure, money } from '../../parts/numbers.ts';
import type { Sheet } from './sheets.ts';

export type SymbolTotals = components['schemas']['Performance']['symbols'][number];

export interface AmountBar {
  /** In percent of the cell. */
  readonly zero: number;
  readonly left: number;
  readonly width: number;
}

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

export function amountBars(symbols: readonly SymbolTotals[]): (AmountBar | null)[] {
  const amounts = symbols.map(({ realised }) => realised ?? 0);
  const low = Math.min(0, ...amounts);
  const high = Math.max(0, ...amounts);
  const width = high - low;
  if (width === 0) return symbols.map(() => null);
  const percent = (amount: number) => Math.round(((amount - low) / width) * 1000) / 10;
  const zero = percent(0);
  return amounts.map((amount) => {
    const end = percent(amount);
    return { zero, left: Math.min(zero, end), width: Math.round(Math.abs(end - zero) * 10) / 10 };
  });
}

const NO_FILL = 'no fill';

export function symbolSheet(symbols: readonly SymbolTotals[], currency: string | null): Sheet<SymbolTotals> {
  const column = (head: string, field: 'orders' | 'volume') => ({
    head,
    field,
    value: (row: SymbolTotals) => row[field],
    said: (row: SymbolTotals) => figure(row[field]),
  });
  return {
    name: 'symbols',
    rows: symbols,
    columns: [
      { head: 'Symbol', field: 'symbol', value: ({ symbol }) => symbol, said: ({ symbol }) => symbol },
      {
        head: currency ? `Realised, ${currency}` : 'Realised',
        field: 'realised',
        value: ({ realised }) => realised,
        said: ({ realised, volume }) => (realised === null ? null : volume === 0 ? NO_FILL : money(realised)),
      },
      column('Orders', 'orders'),
      column('Volume', 'volume'),
    ],
  };
}
