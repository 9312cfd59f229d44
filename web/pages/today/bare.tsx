// A position without its stop: it is tried again or set again, or the position is closed.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { positions } from '../../api/broker-reads.ts';
import { api, read } from '../../api/client.ts';
import { useOver } from '../../parts/over.tsx';
import { closeInWords } from './things.ts';
import styles from './things-to-do.module.css';

interface BareProps {
  readonly accountId: string;
  readonly symbol: string;
  /** Which stop is tried again; undefined: that would not help, and another is to be set. */
  readonly protectionId: string | undefined;
  readonly words: string;
  readonly onFault: (fault: unknown) => void;
}

export function Bare({ accountId, symbol, protectionId, words, onFault }: BareProps) {
  const { openTrade, openProtect } = useOver();
  const queries = useQueryClient();
  const { data } = useQuery(positions(accountId));
  const held = data?.items.find((position) => position.symbol === symbol)?.quantity;
  const look = useMutation({
    mutationFn: (id: string) =>
      read(api.POST('/trading/protections/{id}/look', { params: { path: { id } } })),
    onSuccess: () => onFault(null),
    onError: onFault,
    onSettled: () => queries.invalidateQueries({ queryKey: ['overview'] }),
  });
  return (
    <span className={styles.does}>
      <button
        type="button"
        className="button"
        disabled={look.isPending}
        onClick={() =>
          protectionId ? look.mutate(protectionId) : openProtect({ accountId, symbol, simulation: false })
        }
      >
        {look.isPending ? 'Trying…' : words}
      </button>
      <button
        type="button"
        className="button trade"
        onClick={() => openTrade({ accountId, symbol, action: 'close' })}
      >
        {closeInWords(symbol, held)}
      </button>
    </span>
  );
}
