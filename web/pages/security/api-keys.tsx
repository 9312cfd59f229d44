// API keys. A new one is shown once, in the ground that is kept for it, until the page is left.

import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { dayOf, When } from '../../parts/when.tsx';
import { apiKeys } from './questions.ts';
import styles from './security.module.css';
import { LIFETIMES } from './words.ts';

const DEFAULT_DAYS = 90;

export function ApiKeys() {
  const readAgain = useReadAgain();
  const { data: keys, error, refetch } = useQuery(apiKeys);
  const [name, setName] = useState('');
  const [days, setDays] = useState<number | null>(DEFAULT_DAYS);
  const make = useMutation({
    mutationFn: () =>
      read(
        api.POST('/settings/api-keys', {
          body: { name: name.trim(), ...(days === null ? {} : { expires_in_days: days }) },
        }),
      ),
    onSuccess: () => setName(''),
    onSettled: () => readAgain(apiKeys.queryKey),
  });
  const revoke = useMutation({
    mutationFn: (id: string) => read(api.DELETE('/settings/api-keys/{id}', { params: { path: { id } } })),
    onSuccess(_, id) {
      if (make.data?.id === id) make.reset();
    },
    onSettled: () => readAgain(apiKeys.queryKey),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Section title="API keys" more={<span className="quiet">for programs, in your name</span>}>
      {make.data && (
        <div className="once" role="status">
          <p>
            <b>{make.data.name}</b> is made. Copy it now, it is never shown again:
            <br />
            <code>{make.data.key}</code>
          </p>
          <CopyButton text={make.data.key} primary>
            Copy
          </CopyButton>
        </div>
      )}
      {error ? (
        <ProblemNote fault={error} onAgain={refetch} />
      ) : keys ? (
        keys.length === 0 ? (
          <p className={styles.empty}>
            None yet. A key can do what these pages do, but cannot manage keys or sessions.
          </p>
        ) : (
          <dl className={`rows ${styles.rows}`}>
            {keys.map((key) => (
              <div key={key.id}>
                <dt className={styles.name} title={key.name}>
                  {key.name}
                </dt>
                <dd>
                  {key.last_used_at ? (
                    <>
                      last used <When at={key.last_used_at} />
                    </>
                  ) : (
                    <>
                      made <When at={key.created_at} relative />, not used yet
                    </>
                  )}
                  , {expiry(key.expires_at)}
                </dd>
                <dd>
                  <RevokeButton
                    name={key.name}
                    isPending={revoke.isPending}
                    onRevoke={() => revoke.mutate(key.id)}
                  />
                </dd>
              </div>
            ))}
          </dl>
        )
      ) : (
        <Skeleton rows={2} />
      )}
      <form className={styles.add} onSubmit={submit}>
        <input
          aria-label="Name of the new key"
          placeholder="What it is for"
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <select
          aria-label="Its lifetime"
          value={days ?? ''}
          onChange={({ target }) => setDays(target.value === '' ? null : Number(target.value))}
        >
          {LIFETIMES.map((lifetime) => (
            <option key={lifetime.name} value={lifetime.days ?? ''}>
              {lifetime.name}
            </option>
          ))}
        </select>
        <button type="submit" className="button" disabled={make.isPending}>
          Make a key
        </button>
      </form>
      {(make.error || revoke.error) && <ProblemNote fault={make.error ?? revoke.error} />}
    </Section>
  );
}

function expiry(at: string | null): string {
  if (at === null) return 'never expires';
  const date = new Date(at);
  return `${date.getTime() < serverNow() ? 'expired' : 'expires'} ${dayOf(date)}`;
}

interface RevokeButtonProps {
  readonly name: string;
  readonly isPending: boolean;
  readonly onRevoke: () => void;
}

/** It cannot be taken back: the second press says what happens. */
function RevokeButton({ name, isPending, onRevoke }: RevokeButtonProps) {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking)
    return (
      <button type="button" className="link" aria-label={`Revoke ${name}…`} onClick={() => setAsking(true)}>
        Revoke…
      </button>
    );
  return (
    <span className={styles.sure}>
      <button type="button" className="link" disabled={isPending} onClick={onRevoke}>
        Revoke it for good
      </button>
      <button type="button" className="link quiet" onClick={() => setAsking(false)}>
        Keep
      </button>
    </span>
  );
}
