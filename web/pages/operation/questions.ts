// What the page asks, every five seconds while somebody looks at it.

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { heard } from '../../api/clock.ts';
import { Problem, reached } from '../../api/problem.ts';

const EVERY_MS = 5_000;
/** Users change seldom, and all pages of them that were opened are read again. */
const USERS_EVERY_MS = 30_000;
const PAGE = 20;

export const health = queryOptions({
  queryKey: ['health'],
  /** A service that is down answers 503 with the same document: it is no problem of this request. */
  async queryFn(): Promise<Schemas['Health']> {
    const response = await reached(fetch('/health'));
    heard(response.headers.get('date'));
    const document = await response.json().catch(() => ({}));
    if ('database' in document) return document;
    throw new Problem(document, response.status, response.headers.get('retry-after'));
  },
  refetchInterval: EVERY_MS,
});

export const queues = queryOptions({
  queryKey: ['deployment', 'queues'],
  queryFn: () => read(api.GET('/deployment/queues')),
  refetchInterval: EVERY_MS,
});

const paged = (cursor: string | null) => ({ limit: PAGE, ...(cursor ? { cursor } : {}) });
const following = {
  initialPageParam: null as string | null,
  getNextPageParam: (page: { readonly next_cursor: string | null }) => page.next_cursor,
};

export const workers = infiniteQueryOptions({
  queryKey: ['deployment', 'workers'],
  queryFn: ({ pageParam }) => read(api.GET('/deployment/workers', { params: { query: paged(pageParam) } })),
  ...following,
  refetchInterval: EVERY_MS,
});

export const deadLetters = infiniteQueryOptions({
  queryKey: ['deployment', 'dead-letters'],
  queryFn: ({ pageParam }) =>
    read(api.GET('/deployment/dead-letters', { params: { query: paged(pageParam) } })),
  ...following,
  refetchInterval: EVERY_MS,
});

/** They change seldom, and nobody waits for them. */
export const unreadableReplies = queryOptions({
  queryKey: ['deployment', 'unreadable-replies'],
  queryFn: () => read(api.GET('/deployment/unreadable-replies')),
  refetchInterval: USERS_EVERY_MS,
});

export const users = (email: string) =>
  infiniteQueryOptions({
    queryKey: ['deployment', 'users', 'list', email],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/deployment/users', {
          params: { query: { ...paged(pageParam), ...(email ? { email } : {}) } },
        }),
      ),
    ...following,
    refetchInterval: USERS_EVERY_MS,
  });

export const user = (id: string) =>
  queryOptions({
    queryKey: ['deployment', 'users', 'one', id],
    queryFn: () => read(api.GET('/deployment/users/{id}', { params: { path: { id } } })),
  });

/** One after the other: a list of workers is not to be twenty questions at once. */
let last: Promise<unknown> = Promise.resolve();
function inTurn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = last.then(ask);
  last = answer.catch(() => {});
  return answer;
}

export const emailOf = (id: string) =>
  queryOptions({
    queryKey: ['emails', id],
    queryFn: () =>
      inTurn(async () => {
        const { email } = await read(api.GET('/deployment/users/{id}', { params: { path: { id } } }));
        return email;
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const plans = queryOptions({
  queryKey: ['plans'],
  queryFn: () => read(api.GET('/public/plans')),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Null: none are published. */
export const terms = queryOptions({
  queryKey: ['terms'],
  queryFn: () =>
    read(api.GET('/public/terms')).catch((fault) => {
      if (fault instanceof Problem && fault.status === 404) return null;
      throw fault;
    }),
});
