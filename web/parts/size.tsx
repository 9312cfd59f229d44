// A quantity in a row, with what it counts where that is no unit of the symbol.

import { Figure } from './figures.tsx';
import { countedInWords, countedShortly, type QuantityType } from './sizes.ts';

interface SizeProps {
  /** Closing and reporting have none of their own. */
  readonly quantity: number | null;
  readonly counts?: QuantityType;
}

export function Size({ quantity, counts = 'units' }: SizeProps) {
  if (!quantity) return null;
  if (counts === 'units') return <Figure value={quantity} />;
  // Some columns are cut off at their beginning, and read from the right for it.
  return <bdi title={countedInWords(quantity, counts)}>{countedShortly(quantity, counts)}</bdi>;
}
