// One destination: how it goes, what it is told of, and what can be done about it.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read } from '../../api/client.ts';
import { Mark } from '../../parts/marks.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { When } from '../../parts/when.tsx';
import { Choices } from './choices.tsx';
import styles from './notifications.module.css';
import { deliveries, destinations } from './questions.ts';
import { useChoice } from './use-choice.ts';
import {
  type Destination,
  eventInWords,
  eventsInWords,
  kindInWords,
  SEVERITY,
  STATE,
  whatToDo,
} from './words.ts';

export function DestinationRow({ destination }: { readonly destination: Destination }) {
  const readAgain = useReadAgain();
  const { id, name, kind, address, state, since, last_error, dropped, paused_because } = destination;
  const [open, setOpen] = useState<'events' | 'sent' | 'removal' | null>(null);
  const path = { params: { path: { id } } };
  const onSettled = () => readAgain(destinations.queryKey, ['overview'], ['after-theft']);
  const { choice, choose, fault: notChosen } = useChoice(destination);
  const pause = useMutation({
    mutationFn: (paused: boolean) =>
      read(api.PATCH('/settings/notifications/{id}', { ...path, body: { paused } })),
    onSettled,
  });
  const test = useMutation({
    mutationFn: () => read(api.POST('/settings/notifications/{id}/test', path)),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/settings/notifications/{id}', path)),
    onSettled,
  });
  const fault = test.error ?? notChosen ?? pause.error ?? remove.error;
  const advice = whatToDo(destination);
  const isStopped = state === 'paused' || state === 'dead';
  const toggle = (what: typeof open) => setOpen(open === what ? null : what);
  return (
    <li className={styles.destination}>
      <header>
        <h3 className="ellipsis" title={name}>
          {name}
        </h3>
        <span className="quiet">
          {kindInWords(kind)}, <span className={styles.address}>{address}</span>
        </span>
      </header>
      <p className={`status ${SEVERITY[state]}`}>
        <Mark name={MARKS[state]} /> {STATE[state]} <When at={since} />
      </p>
      {last_error && <p>{last_error}</p>}
      {advice && <p className={state === 'dead' ? 'act' : 'quiet'}>{advice}</p>}
      {dropped > 0 && (
        <p className="act">
          {dropped === 1 ? '1 message was' : `${dropped} messages were`} lost while it did not answer.
        </p>
      )}
      <p className="quiet">
        Told of: {eventsInWords(destination.events)}. Accounts:{' '}
        {destination.trading_account_ids === null ? 'all' : destination.trading_account_ids.length}.
      </p>
      <div className={styles.ways}>
        <button
          type="button"
          className="button"
          disabled={test.isPending || paused_because !== null}
          onClick={() => test.mutate()}
        >
          Send a test<span className="unseen"> to {name}</span>
        </button>
        <button
          type="button"
          className="link"
          disabled={pause.isPending}
          onClick={() => pause.mutate(!isStopped)}
        >
          {paused_because ? 'Confirm that it is yours' : isStopped ? 'Resume' : 'Pause'}
          <span className="unseen"> {name}</span>
        </button>
        <button
          type="button"
          className="link"
          aria-expanded={open === 'events'}
          onClick={() => toggle('events')}
        >
          What it is told of<span className="unseen">: {name}</span>
        </button>
        <button type="button" className="link" aria-expanded={open === 'sent'} onClick={() => toggle('sent')}>
          What was sent<span className="unseen"> to {name}</span>
        </button>
        {open === 'removal' ? (
          <>
            <button
              type="button"
              className="link"
              disabled={remove.isPending}
              onClick={() => remove.mutate()}
            >
              Remove {name} for good
            </button>
            <button type="button" className="link quiet" onClick={() => setOpen(null)}>
              Keep
            </button>
          </>
        ) : (
          <button
            type="button"
            className="link"
            aria-label={`Remove ${name}…`}
            onClick={() => toggle('removal')}
          >
            Remove…
          </button>
        )}
      </div>
      {test.data && (
        <p role="status" className={test.data.delivered ? 'quiet' : 'act'}>
          {test.data.delivered ? 'The test has arrived.' : `The test did not arrive. ${test.data.error}`}
        </p>
      )}
      {fault && <ProblemNote fault={fault} />}
      {open === 'events' && <Choices choice={choice} onChange={choose} />}
      {open === 'sent' && <Sent id={id} />}
    </li>
  );
}

const MARKS = {
  new: 'queued',
  working: 'passed',
  failing: 'act',
  dead: 'rejected',
  paused: 'unreached',
} as const;

function Sent({ id }: { readonly id: string }) {
  const { data, error } = useQuery(deliveries(id));
  if (error) return <ProblemNote fault={error} />;
  if (!data) return null;
  if (data.length === 0) return <p className="quiet">Nothing yet.</p>;
  return (
    <table className="table listed">
      <caption className="unseen">The last messages</caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Event</th>
          <th scope="col">Message</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>
        {data.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <When at={delivery.created_at} />
            </td>
            <td>{eventInWords(delivery.event)}</td>
            <td className={styles.message}>
              {delivery.text}
              {delivery.folded > 1 && ` (${delivery.folded} of a burst)`}
            </td>
            <td className={styles.message}>
              {delivery.outcome.replace('_', ' ')}
              {delivery.attempts > 1 && `, ${delivery.attempts} tries`}
              {delivery.outcome !== 'delivered' && delivery.last_error && `: ${delivery.last_error}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
