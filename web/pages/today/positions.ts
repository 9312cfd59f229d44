// What the brokers hold, asked through the workers: slowly, a few accounts at a time, and never in the way of the page.

import { queryOptions } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';

const AT_A_TIME = 3;
let underWay = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  if (underWay >= AT_A_TIME) await new Promise<void>((resolve) => waiting.push(resolve));
  underWay++;
  try {
    return await ask();
  } finally {
    underWay--;
    waiting.shift()?.();
  }
}

export const positionsNow = (id: string) =>
  queryOptions({
    queryKey: ['positions', 'today', id],
    queryFn: () =>
      inTurn(() => read(api.GET('/trading/accounts/{id}/positions', { params: { path: { id } } }))),
    staleTime: 30_000,
    // A broker that does not answer is not known; it is asked again with the next order, or the next minute.
    retry: false,
    refetchInterval: 60_000,
  });
