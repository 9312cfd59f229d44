// Each account's books, each by itself: a broker that hangs holds up nobody else's. What is asked of one account is asked one
// after the other, positions first, since its worker answers in that order anyway.

import { queryOptions, useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { balance, positions } from '../../api/broker-reads.ts';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts as accountsOf } from '../../api/queries.ts';
import { unrealWord } from '../../parts/numbers.ts';
import { type Guarded, isUnsettled } from '../../parts/protection/shapes.ts';
import { isUnasked } from './fault.ts';

/** Prices move without any order of ours. */
const LOOK_AGAIN_MS = 15_000;
/** While a stop is on its way, or is missing, somebody watches. */
const UNSETTLED_MS = 3_000;

const lookAgain = ({
  state,
}: {
  readonly state: { readonly data?: { readonly items: readonly Guarded[] } | undefined };
}): number => (state.data?.items.some(isUnsettled) ? UNSETTLED_MS : LOOK_AGAIN_MS);

export type Held = Schemas['Position'] & { readonly isHalted: boolean };

export interface Book {
  readonly account: Schemas['Account'];
  readonly simulation: boolean;
  /** Undefined: not read yet. */
  readonly positions: readonly Held[] | undefined;
  /** Why it could not be read, or not again. */
  readonly fault: unknown;
  /** Epoch milliseconds by the service's clock; null: never. */
  readonly readAt: number | null;
  readonly isReading: boolean;
  readonly balance: Schemas['Balance'] | undefined;
  readonly currency: string | null;
  /** Of today, by symbol. */
  readonly realised: ReadonlyMap<string, number>;
  again(): void;
}

/** What its money is, where it is none. */
export const wordOf = ({ account, simulation }: Pick<Book, 'account' | 'simulation'>): string | null =>
  unrealWord({ simulation, broker_name: account.broker, environment: account.environment });

const localMidnight = (): string => {
  const day = new Date(serverNow());
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
};

const realisedToday = (id: string, simulation: boolean, from: string) =>
  queryOptions({
    queryKey: ['performance', 'today', id, simulation, from],
    // Without an Accept of its own it answers JSON.
    queryFn: async () =>
      (await read(
        api.GET('/trading/performance', { params: { query: { trading_account_id: id, simulation, from } } }),
      )) as Schemas['Performance'],
    staleTime: 60_000,
  });

/** Accounts, each time that one of them could not be asked about: its credentials may have been refused. */
function useReadAgain(isDue: boolean, since: string): void {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another fault is another reason
  useEffect(() => {
    if (isDue) void client.invalidateQueries({ queryKey: accountsOf.queryKey });
  }, [client, isDue, since]);
}

/** Books of all accounts, then the simulated books that hold something. */
export function useBooks(accounts: readonly Schemas['Account'][]): {
  readonly real: readonly Book[];
  readonly simulated: readonly Book[];
  /** Something of them is asked for, for the first time. */
  readonly isLoading: boolean;
} {
  const from = localMidnight();
  const held = useQueries({
    queries: accounts.map(({ id }) => ({ ...positions(id), refetchInterval: lookAgain })),
  });
  useReadAgain(
    accounts.some((account, index) => !account.credentials_refused && isUnasked(held[index]?.error ?? null)),
    held.map(({ errorUpdatedAt }) => errorUpdatedAt).join(),
  );
  const isSettled = (index: number) => held[index]?.isPending === false;
  const money = useQueries({
    queries: accounts.map(({ id }, index) => ({
      ...balance(id),
      enabled: isSettled(index),
      refetchInterval: LOOK_AGAIN_MS,
    })),
  });
  const rehearsed = useQueries({
    queries: accounts.map(({ id }, index) => ({
      ...positions(id, { simulation: true }),
      enabled: isSettled(index),
    })),
  });
  const hasItems = (index: number) => (rehearsed[index]?.data?.items.length ?? 0) > 0;
  const earned = useQueries({ queries: accounts.map(({ id }) => realisedToday(id, false, from)) });
  const pretended = useQueries({
    queries: accounts.map(({ id }, index) => ({
      ...realisedToday(id, true, from),
      enabled: hasItems(index),
    })),
  });

  const bookOf = (
    account: Schemas['Account'],
    simulation: boolean,
    index: number,
    asked = simulation ? rehearsed[index] : held[index],
    performance = (simulation ? pretended : earned)[index]?.data,
  ): Book => ({
    account,
    simulation,
    positions: asked?.data?.items.map((position) => ({ ...position, isHalted: account.halted })),
    fault: asked?.error ?? null,
    readAt: asked?.dataUpdatedAt ? asked.dataUpdatedAt + serverNow() - Date.now() : null,
    isReading: asked?.isPending ?? true,
    balance: simulation ? undefined : money[index]?.data,
    currency: performance?.currency ?? money[index]?.data?.currency ?? null,
    realised: new Map(
      (performance?.symbols ?? []).flatMap(({ symbol, realised }) =>
        realised === null ? [] : [[symbol, realised] as const],
      ),
    ),
    again: () => void asked?.refetch(),
  });
  return {
    real: accounts.map((account, index) => bookOf(account, false, index)),
    simulated: accounts.flatMap((account, index) => (hasItems(index) ? [bookOf(account, true, index)] : [])),
    isLoading: [held, money, rehearsed, earned, pretended].flat().some((asked) => asked.isLoading),
  };
}
