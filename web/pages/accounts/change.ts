// What changes an account, and how the page knows at once.

import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { accounts, overview, ownSession } from '../../api/queries.ts';
import type { paths } from '../../api/schema.ts';
import { sealCredentials } from './seal.ts';
import type { Account } from './words.ts';

export type Change = paths['/trading/accounts/{id}']['patch']['requestBody']['content']['application/json'];

export const of = (id: string) => ({ params: { path: { id } } });

/** The account as an answer has it, in the list that all pages share. */
export function keep(client: QueryClient, { id }: Account, answer: Account): void {
  client.setQueryData(accounts.queryKey, (all) =>
    all?.map((account) => (account.id === id ? { ...account, ...answer } : account)),
  );
  void client.invalidateQueries({ queryKey: ['overview'] });
}

export function useChange(account: Account) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) =>
      read(api.PATCH('/trading/accounts/{id}', { ...of(account.id), body: change })),
    onSuccess: (changed) => keep(client, account, changed),
  });
}

/** How it stands today, and since when. */
export const useToday = ({ id }: Account): Schemas['AccountToday'] | undefined =>
  useQuery(overview).data?.accounts.find((account) => account.id === id);

/** Each look at the secret is in the audit log: it is asked for when it is wanted, and not kept. */
export const useSecret = (account: Account) =>
  useMutation({
    mutationFn: async () =>
      (await read(api.GET('/trading/accounts/{id}/webhook-secret', of(account.id)))).webhook_secret,
    gcTime: 0,
  });

/** What the last verification in this tab warned of. */
const warningsOf = (id: string) =>
  queryOptions<readonly string[]>({
    queryKey: ['verified', id],
    queryFn: () => [],
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
    staleTime: Number.POSITIVE_INFINITY,
  });
/** Of the last verification in this tab, else what is known of the key from an earlier one. */
export function useWarnings({ id }: Account): readonly string[] {
  const fresh = useQuery(warningsOf(id)).data;
  const { data } = useQuery(overview);
  const known = data?.todo.find(
    ({ kind, trading_account_id }) => kind === 'key_can_withdraw' && trading_account_id === id,
  );
  return fresh ?? (known ? [known.detail] : []);
}

export function useVerify(account: Account) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => verify(client, account),
    // Whatever the broker said, the account may stand otherwise than before.
    onSettled: () => client.invalidateQueries({ queryKey: accounts.queryKey }),
  });
}

async function verify(client: QueryClient, account: Account): Promise<void> {
  const { warnings, ...verified } = await read(api.POST('/trading/accounts/{id}/verify', of(account.id)));
  keep(client, account, verified);
  client.setQueryData(warningsOf(account.id).queryKey, warnings);
}

/** Seals, stores and verifies. `onStored` is called once the values are no longer needed here. */
export function useCredentials() {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(given: {
      readonly account: Account;
      readonly form: HTMLFormElement;
      readonly onStored?: () => void;
    }) {
      const { account, form } = given;
      const [key, { user }] = await Promise.all([
        read(api.GET('/auth/public-key')),
        client.ensureQueryData(ownSession),
      ]);
      const sealed = await sealCredentials(key, {
        userId: user.id,
        accountId: account.id,
        credentials: valuesIn(form),
      });
      keep(
        client,
        account,
        await read(api.PUT('/trading/accounts/{id}/credentials', { ...of(account.id), body: { sealed } })),
      );
      form.reset();
      given.onStored?.();
      await verify(client, account);
    },
    onSettled: () => client.invalidateQueries({ queryKey: accounts.queryKey }),
    gcTime: 0,
  });
}

/** From the fields themselves: no state of ours ever holds them. An empty one that may be left out is left out. */
function valuesIn(form: HTMLFormElement): Record<string, string> {
  const values: Record<string, string> = {};
  for (const input of form.querySelectorAll<HTMLInputElement>('input[data-credential]'))
    if (input.value.trim() !== '') values[input.name] = input.value.trim();
  return values;
}
