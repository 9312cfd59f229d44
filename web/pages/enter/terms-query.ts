import { queryOptions } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';

/** Null: none are published. */
export const publishedTerms = queryOptions({
  queryKey: ['terms'],
  queryFn: () =>
    read(api.GET('/public/terms')).catch((fault) => {
      if (fault instanceof Problem && fault.status === 404) return null;
      throw fault;
    }),
  staleTime: 600_000,
});
