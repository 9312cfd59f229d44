// What changes a group, and how the page knows at once.

import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { groups } from '../../api/queries.ts';
import type { paths } from '../../api/schema.ts';

export type Group = Schemas['Group'];
export type Member = Group['members'][number];
export type Change = paths['/trading/groups/{id}']['patch']['requestBody']['content']['application/json'];

export const of = (id: string) => ({ params: { path: { id } } });

export function keep(client: QueryClient, answer: Group): void {
  client.setQueryData(groups.queryKey, (all) =>
    all?.map((group) => (group.id === answer.id ? { ...group, ...answer } : group)),
  );
}

export function useChange({ id }: Group) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => read(api.PATCH('/trading/groups/{id}', { ...of(id), body: change })),
    onSuccess: (changed) => keep(client, changed),
  });
}

/** Each look at the secret is in the audit log: it is asked for when it is wanted, and not kept. */
export const useSecret = ({ id }: Pick<Group, 'id'>) =>
  useMutation({
    mutationFn: async () =>
      (await read(api.GET('/trading/groups/{id}/webhook-secret', of(id)))).webhook_secret,
    gcTime: 0,
  });
