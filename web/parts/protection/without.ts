// What is held without a stop: what should have one and has none, and what nobody asked one for. Apart from what is at risk to
// the stops, and never added to it.

import { useQueries } from '@tanstack/react-query';
import { instrumentOf } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { type Sum, sumsByCurrency } from '../sums.ts';
import { worthOf } from './money.ts';
import { isBare } from './shapes.ts';

/** Of one account. */
export interface HeldBook {
  readonly account: { readonly id: string };
  readonly currency: string | null;
  readonly positions?: readonly Schemas['Position'][] | undefined;
}

/** By currency; a position whose worth is not known is in none of them. */
export function useWithout(books: readonly HeldBook[]): {
  readonly missing: readonly Sum[];
  readonly unasked: readonly Sum[];
  readonly isLoading: boolean;
} {
  const bare = books.flatMap(({ account, currency, positions = [] }) =>
    positions
      .filter(({ quantity, tradable }) => quantity !== 0 && tradable)
      .flatMap((position) => {
        const { protection } = position;
        const isMissing = isBare(protection);
        const hasNone = isMissing || !protection || protection.stop_loss === null;
        return hasNone ? [{ account, currency, position, isMissing }] : [];
      }),
  );
  const instruments = useQueries({
    queries: bare.map(({ account, position }) => instrumentOf(account.id, position.symbol)),
  });
  const worths = bare.map(({ currency, position, isMissing }, index) => ({
    isMissing,
    currency,
    value: worthOf(position, instruments[index]?.data?.contract_size ?? null),
  }));
  return {
    missing: sumsByCurrency(worths.filter(({ isMissing }) => isMissing)),
    unasked: sumsByCurrency(worths.filter(({ isMissing }) => !isMissing)),
    isLoading: instruments.some((asked) => asked.isLoading),
  };
}
