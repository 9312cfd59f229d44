// What the accounts hold, as far as their brokers answer: asked once, for all of the page.

import { useQueries } from '@tanstack/react-query';
import { balance, positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { isUnsettled } from '../../parts/protection/shapes.ts';

type AccountToday = Schemas['AccountToday'];

/** Prices move without any order. */
const ASK_MS = 60_000;
/** A stop is on its way, or is missing. */
const UNSETTLED_MS = 3_000;

interface Positions {
  readonly items: readonly Schemas['Position'][];
}

export interface HeldBy {
  readonly account: AccountToday;
  readonly currency: string;
  /** Undefined: not read. */
  readonly positions: readonly Schemas['Position'][] | undefined;
  readonly isSilent: boolean;
  readonly isAsking: boolean;
}

export function useHeld({ accounts }: Pick<Schemas['Overview'], 'accounts'>): readonly HeldBy[] {
  const asked = accounts.filter(({ credentials }) => credentials === 'verified');
  const answers = useQueries({
    queries: asked.map(({ id }) => ({
      ...positions(id),
      refetchInterval: ({ state }: { readonly state: { readonly data?: Positions | undefined } }) =>
        state.data?.items.some(isUnsettled) ? UNSETTLED_MS : ASK_MS,
    })),
  });
  return asked.map((account, place) => ({
    account,
    currency: account.currency,
    positions: answers[place]?.data?.items,
    isSilent: answers[place]?.isError ?? false,
    isAsking: answers[place]?.isPending ?? true,
  }));
}

/** Of accounts whose stops are known, by id; who has none is not asked. */
export function useEquities(
  books: readonly { readonly account: AccountToday }[],
): ReadonlyMap<string, number> {
  const answers = useQueries({
    queries: books.map(({ account }) => ({ ...balance(account.id), staleTime: ASK_MS })),
  });
  return new Map(
    books.flatMap(({ account }, place) => {
      const equity = answers[place]?.data?.equity;
      return equity === undefined ? [] : [[account.id, equity] as const];
    }),
  );
}
