// What the security page asks for.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { type Attack, firstMidnight } from './attacks.ts';

const PAGE = 200;
/** More are not counted one by one: the page says so, and the CSV has them all. */
const MOST_PAGES = 5;

/** The attempts of the last days. `isAll` false: there are more than were read. */
export const attacks = queryOptions({
  queryKey: ['attacks'],
  async queryFn() {
    const since = firstMidnight(serverNow());
    const found: Attack[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const { items, next_cursor }: Schemas['SecurityAttackPage'] = await read(
        api.GET('/settings/security-attacks', {
          params: { query: { limit: PAGE, ...(cursor ? { cursor } : {}) } },
        }),
      );
      const recent = items.filter(({ created_at }) => Date.parse(created_at) >= since);
      found.push(...recent);
      cursor = next_cursor;
      if (cursor === null || recent.length < items.length) return { found, isAll: true };
    }
    return { found, isAll: false };
  },
  refetchInterval: 30_000,
});

async function everyPage<T>(
  ask: (cursor: string | null) => Promise<{ items: readonly T[]; next_cursor: string | null }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ask>> = await ask(cursor);
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

const pageAt = (cursor: string | null) => ({
  params: { query: { limit: PAGE, ...(cursor ? { cursor } : {}) } },
});

export const allowedIps = queryOptions({
  queryKey: ['allowed-ips'],
  queryFn: () => everyPage((cursor) => read(api.GET('/settings/allowed-ips', pageAt(cursor)))),
});

export const apiKeys = queryOptions({
  queryKey: ['api-keys'],
  queryFn: () => everyPage((cursor) => read(api.GET('/settings/api-keys', pageAt(cursor)))),
});

export const sessions = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => everyPage((cursor) => read(api.GET('/auth/sessions', pageAt(cursor)))),
});

/** What a thief may have seen, and what is left to replace. */
export const afterTheft = queryOptions({
  queryKey: ['after-theft'],
  queryFn: () => read(api.GET('/settings/after-theft')),
});

/** A glance first; who wants more wants many. */
const AUDIT_GLANCE = 10;
const AUDIT_PAGE = 50;

export const auditLog = (action: string) =>
  infiniteQueryOptions({
    queryKey: ['audit-log', action],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/settings/audit-log', {
          params: {
            query: {
              limit: pageParam ? AUDIT_PAGE : AUDIT_GLANCE,
              ...(action ? { action } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
