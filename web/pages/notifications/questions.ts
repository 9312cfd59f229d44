// What the notifications' page asks for.

import { queryOptions } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';

export const destinations = queryOptions({
  queryKey: ['notifications'],
  queryFn: async () => (await read(api.GET('/settings/notifications'))).items,
  refetchInterval: 15_000,
});

const GLANCE = 10;

export const deliveries = (id: string) =>
  queryOptions({
    queryKey: ['notifications', 'deliveries', id],
    queryFn: async () =>
      (
        await read(
          api.GET('/settings/notifications/{id}/deliveries', {
            params: { path: { id }, query: { limit: GLANCE } },
          }),
        )
      ).items,
  });
