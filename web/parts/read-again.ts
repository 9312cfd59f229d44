import { type QueryKey, useQueryClient } from '@tanstack/react-query';

/** After a change: what it changed, and the audit log, which has a new entry whatever became of it. */
export function useReadAgain(): (...changed: readonly QueryKey[]) => Promise<unknown> {
  const queries = useQueryClient();
  return (...changed) =>
    Promise.all([...changed, ['audit-log']].map((queryKey) => queries.invalidateQueries({ queryKey })));
}
