// What stops an account: the kill switch, with and without closing, and the end of it.

import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { isFresh } from '../../api/fresh.ts';
import { problemOf } from '../../api/problem.ts';
import { accounts } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { counted, Held } from '../../parts/figures.tsx';
import { useOver } from '../../parts/over.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Row } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useNow, When } from '../../parts/when.tsx';
import { keep, of, useToday } from './change.ts';
import type { Account } from './words.ts';

interface StopProps {
  readonly account: Account;
  /** What it holds. */
  readonly asked: UseQueryResult<Schemas['Positions']>;
}

export function Stop({ account, asked }: StopProps) {
  const { openHalt } = useOver();
  // Credentials that were good once are tried once more, to get out.
  const mayClose = account.broker_credentials_verified || account.credentials_refused;
  // What is held is known for a while only, also where nothing else happens.
  useNow(5_000);
  const held = asked.isError ? undefined : asked.data?.items.filter(({ quantity }) => quantity !== 0);
  const isFlat = held?.length === 0;
  const isKnownFlat = isFlat && isFresh(asked);
  return (
    <Section title="Stop">
      <dl className={`rows ${styles.rows}`}>
        {account.halted ? (
          <Resume account={account} />
        ) : (
          <Row
            name="Halt"
            does={
              <button type="button" className="button" onClick={() => openHalt(account.id)}>
                <span className={styles.named}>Halt {account.name}…</span>
              </button>
            }
          >
            Refuse every new entry, simulated ones too, and take back those that rest. Exits still pass,
            positions and their stops stay.
          </Row>
        )}
        <Row
          name="Halt and flatten"
          does={
            mayClose &&
            !isKnownFlat && (
              <button type="button" className="button trade" onClick={() => openHalt(account.id)}>
                {held && !isFlat ? `Close ${counted(held.length, 'position')}` : 'Close what is held'} and
                halt…
              </button>
            )
          }
        >
          {!mayClose ? (
            'Only an account with verified credentials can close anything.'
          ) : !held ? (
            'The same, and close at market whatever is held.'
          ) : isFlat ? (
            `The same, and close what is held. Nothing ${isKnownFlat ? 'is held now' : 'was held when its broker was last asked'}.`
          ) : (
            <Closing held={held} />
          )}
        </Row>
        <Delete account={account} />
      </dl>
    </Section>
  );
}

const MOST_NAMED = 4;

function Closing({ held }: { readonly held: readonly Schemas['Position'][] }) {
  const named = held.slice(0, MOST_NAMED);
  const more = held.length - named.length;
  return (
    <>
      The same, and close{' '}
      {named.map(({ symbol, quantity }, place) => (
        <span key={symbol}>
          {place > 0 && (place === named.length - 1 && more === 0 ? ' and ' : ', ')}
          <Held position={quantity} /> {symbol}
        </span>
      ))}
      {more > 0 && ` and ${more} more`} at market.
    </>
  );
}

function Resume({ account }: { readonly account: Account }) {
  const today = useToday(account);
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () => read(api.POST('/trading/accounts/{id}/resume', of(account.id))),
    onSuccess: ({ account: resumed }) => keep(client, account, resumed),
  });
  return (
    <Row
      name="Halted"
      fault={resume.error}
      does={
        <button type="button" className="button" disabled={resume.isPending} onClick={() => resume.mutate()}>
          <span className={styles.named}>Resume {account.name}</span>
        </button>
      }
    >
      Every new entry is refused
      {today?.halted_since && (
        <>
          {' '}
          since <When at={today.halted_since} />
        </>
      )}
      . Once resumed, it takes the next signal; those refused in the meantime are not made up for.
    </Row>
  );
}

function Delete({ account }: { readonly account: Account }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Row
      name="Delete"
      does={
        <button type="button" className="button" onClick={() => setAsking(true)}>
          <span className={styles.named}>Delete {account.name}…</span>
        </button>
      }
    >
      The webhook stops at once. Orders and audit entries are kept.
      {isAsking && <DeleteDialog account={account} onClose={() => setAsking(false)} />}
    </Row>
  );
}

/** Where something is held, or nobody can tell: it may be kept at the broker on purpose. */
const MAY_KEEP = new Set(['positions_open', 'broker_unavailable', 'worker_unavailable']);

function DeleteDialog({ account, onClose }: { readonly account: Account; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (keepPositions: boolean) =>
      api.DELETE('/trading/accounts/{id}', {
        params: { path: { id: account.id }, query: keepPositions ? { keep_positions: true } : {} },
      }),
    onSuccess() {
      client.setQueryData(accounts.queryKey, (all) => all?.filter(({ id }) => id !== account.id));
      void client.invalidateQueries({ queryKey: ['overview'] });
      void navigate({ to: '/accounts', search: {} as never });
    },
  });
  const mayKeep = remove.error !== null && MAY_KEEP.has(problemOf(remove.error).code);
  return (
    <Dialog title={`Delete ${account.name}`} onClose={onClose}>
      <p>
        Its webhook stops at once: alerts that still arrive, exits too, are refused. Its settings, guards and
        sealed credentials are gone for good. Orders, signals and audit entries are kept.
      </p>
      {remove.error && <ProblemNote fault={remove.error} />}
      <div className={styles.choices}>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep the account
        </button>
        <button
          type="button"
          className="button"
          disabled={remove.isPending}
          onClick={() => remove.mutate(mayKeep)}
        >
          <span className={styles.named}>
            Delete {account.name}
            {mayKeep && ' and leave its positions at the broker'}
          </span>
        </button>
      </div>
    </Dialog>
  );
}
