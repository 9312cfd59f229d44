// The webhook secret of an account. Every look at it is in the audit log, so it is asked for once.

import { queryOptions } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';

export const secretKey = (id: string) => ['webhook-secret', id];

export const webhookSecret = (id: string) =>
  queryOptions({
    queryKey: secretKey(id),
    queryFn: () => read(api.GET('/trading/accounts/{id}/webhook-secret', { params: { path: { id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
