// A paper account in one click.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, read } from '../../api/client.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { secretKey } from './secret.ts';

export function PaperAccountButton({
  className,
  children,
}: {
  readonly className: string;
  readonly children: string;
}) {
  const queries = useQueryClient();
  const open = useMutation({
    mutationFn: () => read(api.POST('/trading/accounts', { body: { name: 'Paper', broker: 'paper' } })),
    async onSuccess({ id, webhook_secret }) {
      // It comes with its secret: nobody has to ask for it again.
      queries.setQueryData(secretKey(id), { webhook_secret });
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['accounts'] }),
        queries.invalidateQueries({ queryKey: ['overview'] }),
      ]);
    },
  });
  return (
    <>
      <button type="button" className={className} disabled={open.isPending} onClick={() => open.mutate()}>
        {open.isPending ? 'Opening…' : children}
      </button>
      {open.error && <ProblemNote fault={open.error} />}
    </>
  );
}
