// The allowed addresses. The first entry shuts everything else out: who adds it is told whom, before it happens.

import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { ownSession } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Mark } from '../../parts/marks.tsx';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { CHARTING_ADDRESSES, consequenceOf, isCharting, warningOfRemoval } from './addresses.ts';
import { allowedIps } from './questions.ts';
import styles from './security.module.css';

interface Entry {
  readonly ip_address: string;
  readonly label?: string;
}
type AllowedIp = Schemas['AllowedIp'];

export function Addresses() {
  const readAgain = useReadAgain();
  const { data: list, error, refetch } = useQuery(allowedIps);
  const { data: session } = useQuery(ownSession);
  const own = session?.session.ip_address ?? '';
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState<readonly Entry[] | null>(null);
  const [removing, setRemoving] = useState<AllowedIp | null>(null);
  const add = useMutation({
    // One after the other: the list is kept in the order in which they were added.
    async mutationFn(entries: readonly Entry[]) {
      for (const body of entries) await read(api.POST('/settings/allowed-ips', { body }));
    },
    onSuccess: () => setTyped(''),
    onSettled: () => readAgain(allowedIps.queryKey),
  });
  const remove = useMutation({
    mutationFn: (id: string) => read(api.DELETE('/settings/allowed-ips/{id}', { params: { path: { id } } })),
    onSettled: () => readAgain(allowedIps.queryKey),
  });

  const entries = list?.map(({ ip_address }) => ip_address) ?? [];
  const addOrAsk = (wanted: readonly Entry[]) => {
    if (entries.length === 0) setAsked(wanted);
    else add.mutate(wanted);
  };
  const missing = CHARTING_ADDRESSES.filter((address) => !entries.includes(address));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const ip_address = typed.trim();
    if (ip_address) addOrAsk([{ ip_address }]);
  };
  const removeOrAsk = (entry: AllowedIp) => {
    if (warningOfRemoval(entries, entry.ip_address, own)) setRemoving(entry);
    else remove.mutate(entry.id);
  };
  return (
    <Section title="Allowed addresses" more={<span className="quiet">for signals and for trading</span>}>
      {error ? (
        <ProblemNote fault={error} onAgain={refetch} />
      ) : list ? (
        list.length === 0 ? (
          <p className={styles.empty}>
            Every address may send and trade, if it has the secret or the session. Begin with the charting
            platform’s and your own.
          </p>
        ) : (
          <dl className={`rows ${styles.rows}`}>
            {list.map((entry) => (
              <div key={entry.id}>
                <dt>
                  <code>{entry.ip_address}</code>
                </dt>
                <dd>
                  {[
                    entry.label ?? (isCharting(entry.ip_address) ? 'charting platform' : ''),
                    entry.ip_address === own ? 'this browser’s' : '',
                  ]
                    .filter(Boolean)
                    .join(', ')}
                </dd>
                <dd>
                  <button
                    type="button"
                    className="link"
                    aria-label={`Remove ${entry.ip_address}`}
                    disabled={remove.isPending}
                    onClick={() => removeOrAsk(entry)}
                  >
                    Remove
                  </button>
                </dd>
              </div>
            ))}
          </dl>
        )
      ) : (
        <Skeleton rows={4} />
      )}
      <form className={styles.add} onSubmit={submit}>
        <input
          aria-label="Address or block"
          placeholder="Address or block"
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <button type="submit" className="button" disabled={!list || add.isPending}>
          Add
        </button>
        {list && own && !entries.includes(own) && (
          <button
            type="button"
            className="link"
            onClick={() => addOrAsk([{ ip_address: own, label: 'added from this browser' }])}
          >
            Add my address, {own}
          </button>
        )}
        {list && missing.length > 0 && (
          <button
            type="button"
            className="link"
            onClick={() =>
              addOrAsk(missing.map((ip_address) => ({ ip_address, label: 'charting platform' })))
            }
          >
            Add the charting platform’s {missing.length}
          </button>
        )}
      </form>
      {(add.error || remove.error) && <ProblemNote fault={add.error ?? remove.error} />}
      {asked && (
        <FirstEntry
          asked={asked}
          own={own}
          onClose={() => setAsked(null)}
          onAdd={(wanted) => {
            add.mutate(wanted);
            setAsked(null);
          }}
        />
      )}
      {removing && (
        <Removal
          entry={removing}
          isLast={entries.length === 1}
          onClose={() => setRemoving(null)}
          onRemove={() => {
            remove.mutate(removing.id);
            setRemoving(null);
          }}
        />
      )}
    </Section>
  );
}

interface FirstEntryProps {
  readonly asked: readonly Entry[];
  readonly own: string;
  readonly onClose: () => void;
  readonly onAdd: (entries: readonly Entry[]) => void;
}

function FirstEntry({ asked, own, onClose, onAdd }: FirstEntryProps) {
  const wanted = asked.map(({ ip_address }) => ip_address);
  const { shutsOutBrowser, shutsOutCharting } = consequenceOf([], wanted, own);
  const what = wanted.length === 1 ? wanted[0] : `${wanted.length} addresses`;
  const withOwn = [...asked, { ip_address: own, label: 'added from this browser' }];
  return (
    <Dialog title="From now on, only these" onClose={onClose}>
      <p>
        With the first entry, signals and trading requests from every other address are refused, at once. You
        can still log in and change the list from anywhere.
      </p>
      {shutsOutBrowser && (
        <p className={styles.warning}>
          <Mark name="act" />
          <span>
            <b className="act">This browser would be shut out of trading.</b> Its address{' '}
            {own && <code>{own}</code>} is not among them: from here you could look and halt, but neither
            trade nor close positions.
          </span>
        </p>
      )}
      {shutsOutCharting && (
        <p className={styles.warning}>
          <Mark name="act" />
          <span>
            <b className="act">So would the charting platform’s alerts.</b> Its {CHARTING_ADDRESSES.length}{' '}
            addresses are not among them.
          </span>
        </p>
      )}
      <p className={styles.choices}>
        {shutsOutBrowser && own && (
          <button type="button" className="button primary" data-first onClick={() => onAdd(withOwn)}>
            Allow {what} and this browser’s {own}
          </button>
        )}
        <button
          type="button"
          className={shutsOutBrowser ? 'button' : 'button primary'}
          {...(shutsOutBrowser ? {} : { 'data-first': true })}
          onClick={() => onAdd(asked)}
        >
          Allow {what} and nobody else
        </button>
        <button type="button" className="button" onClick={onClose}>
          Change nothing
        </button>
      </p>
    </Dialog>
  );
}

interface RemovalProps {
  readonly entry: AllowedIp;
  readonly isLast: boolean;
  readonly onClose: () => void;
  readonly onRemove: () => void;
}

function Removal({ entry, isLast, onClose, onRemove }: RemovalProps) {
  return (
    <Dialog title={`Remove ${entry.ip_address}`} onClose={onClose}>
      <p>
        {isLast
          ? 'It is the last entry: without it, every address may send signals and trade again, if it has the secret or the session.'
          : 'This browser’s address would no longer be on the list: from here you could look and halt, but neither trade nor close positions.'}
      </p>
      <p className={styles.choices}>
        <button type="button" className="button" data-first onClick={onClose}>
          Keep it
        </button>
        <button type="button" className="button" onClick={onRemove}>
          {isLast ? `Remove ${entry.ip_address} and allow every address` : `Remove ${entry.ip_address}`}
        </button>
      </p>
    </Dialog>
  );
}
