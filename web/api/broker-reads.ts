// What is asked of brokers, through the worker: slow, and for as long as a broker hangs no answer at all. A browser keeps
// few connections to one host; these questions never take them all, so that the kill switch and the rest of the pages do
// not wait behind a broker.

import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import { openGate } from './gate.ts';

/** Of the six that a browser has for one host, one of which is the event stream's. */
const MOST_AT_ONCE = 3;
const through = openGate(MOST_AT_ONCE);

/** Silence was waited for already, by the service: the next round asks again. */
const ASKED_OF_BROKERS = { retry: false } as const;

export const positions = (id: string, { simulation = false } = {}) =>
  queryOptions({
    queryKey: ['positions', id, simulation ? 'simulated' : 'real'],
    queryFn: ({ signal }) =>
      through(signal, () => {
        const asked = { params: { path: { id } }, signal };
        return read(
          simulation
            ? api.GET('/trading/accounts/{id}/simulation/positions', asked)
            : api.GET('/trading/accounts/{id}/positions', asked),
        );
      }),
    ...ASKED_OF_BROKERS,
  });

export const balance = (id: string) =>
  queryOptions({
    queryKey: ['balance', id],
    queryFn: ({ signal }) =>
      through(signal, () =>
        read(api.GET('/trading/accounts/{id}/balance', { params: { path: { id } }, signal })),
      ),
    ...ASKED_OF_BROKERS,
  });

/** Whoever sent them. */
export const openOrders = (id: string) =>
  queryOptions({
    queryKey: ['open-orders', id],
    queryFn: ({ signal }) =>
      through(signal, () =>
        read(api.GET('/trading/accounts/{id}/open-orders', { params: { path: { id } }, signal })),
      ),
    ...ASKED_OF_BROKERS,
  });

/** What can be traded under a name like this, the likeliest first. Of a few pages' worth those that the account knows are picked. */
export const symbols = (id: string, q: string) =>
  queryOptions({
    queryKey: ['symbols', id, q],
    queryFn: ({ signal }) =>
      through(signal, () =>
        read(
          api.GET('/trading/accounts/{id}/symbols', {
            params: { path: { id }, query: { limit: 50, ...(q ? { q } : {}) } },
            signal,
          }),
        ),
      ),
    staleTime: 60_000,
    ...ASKED_OF_BROKERS,
  });

/** By its exact symbol; null: the account's broker does not list it. */
export const instrumentOf = (id: string, symbol: string) =>
  queryOptions({
    queryKey: ['symbols', id, 'exactly', symbol],
    queryFn: ({ signal }) =>
      through(signal, async () => {
        const { items } = await read(
          api.GET('/trading/accounts/{id}/symbols', {
            params: { path: { id }, query: { q: symbol } },
            signal,
          }),
        );
        return items.find((instrument) => instrument.symbol === symbol) ?? null;
      }),
    staleTime: Number.POSITIVE_INFINITY,
    ...ASKED_OF_BROKERS,
  });

/** The price of now, between what it sells and buys at: for what is not held. */
export const priceNow = (id: string, symbol: string, { simulation }: { readonly simulation: boolean }) =>
  queryOptions({
    queryKey: ['prices', id, symbol, simulation],
    queryFn: ({ signal }) =>
      through(signal, async () => {
        const params = { path: { id }, query: { symbol, simulation } };
        const { bid, ask } = await read(api.GET('/trading/accounts/{id}/quote', { params, signal }));
        return (bid + ask) / 2;
      }),
    ...ASKED_OF_BROKERS,
  });

/** What it was traded at; `to` null: until now. What is over does not change. */
export const candles = (
  id: string,
  asked: {
    readonly symbol: string;
    readonly interval: Schemas['Candles']['interval'];
    readonly from: number;
    readonly to: number | null;
  },
) =>
  queryOptions({
    queryKey: ['candles', id, asked],
    queryFn: ({ signal }) =>
      through(signal, () => {
        const { symbol, interval } = asked;
        const from = new Date(asked.from).toISOString();
        const to = asked.to === null ? {} : { to: new Date(asked.to).toISOString() };
        const params = { path: { id }, query: { symbol, interval, from, ...to } };
        return read(api.GET('/trading/accounts/{id}/candles', { params, signal }));
      }),
    staleTime: asked.to === null ? 10_000 : 3_600_000,
    ...ASKED_OF_BROKERS,
  });

/** Makes way: whatever brokers have not answered yet is asked again later. */
export async function leaveOffAsking(client: QueryClient): Promise<void> {
  await Promise.all([
    client.cancelQueries({ queryKey: ['positions'] }),
    client.cancelQueries({ queryKey: ['balance'] }),
    client.cancelQueries({ queryKey: ['open-orders'] }),
    client.cancelQueries({ queryKey: ['symbols'] }),
    client.cancelQueries({ queryKey: ['prices'] }),
    client.cancelQueries({ queryKey: ['candles'] }),
  ]);
}
