// One group: its members, the message for its alerts, its webhook and its last signals.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { groups } from '../../api/queries.ts';
import { counted, Side } from '../../parts/figures.tsx';
import { takenBy, whatHappened } from '../../parts/group-words.ts';
import { figure } from '../../parts/numbers.ts';
import { Led, Page } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RowLink } from '../../parts/row-link.tsx';
import { MessageToPaste } from '../../parts/settings/paste.tsx';
import { Sure } from '../../parts/settings/sure.tsx';
import { Size } from '../../parts/size.tsx';
import { When } from '../../parts/when.tsx';
import { type Group, of, useChange, useSecret } from './change.ts';
import styles from './groups.module.css';
import { Members } from './members.tsx';
import { GroupWebhook } from './webhook.tsx';

type Account = Schemas['Account'];

const MOST = 10;
const signalsOf = (id: string) => ({
  queryKey: ['groups', 'signals', id],
  queryFn: () => read(api.GET('/trading/signals', { params: { query: { group_id: id, limit: MOST } } })),
});

interface GroupViewProps {
  readonly group: Group;
  readonly accounts: readonly Account[];
}

export function GroupView({ group, accounts }: GroupViewProps) {
  const { data, error } = useQuery(signalsOf(group.id));
  const secret = useSecret(group);
  const takes = group.members.filter(({ enabled }) => enabled).length;
  const out = group.members.length - takes;
  // Not read yet is another thing than none.
  const last = data && (data.items[0] ?? null);
  const rest = [
    ...(out > 0 ? [`${figure(out)} more ${out === 1 ? 'is' : 'are'} left out`] : []),
    ...(group.enabled ? [] : ['entries are refused, exits pass']),
  ].join(', ');
  return (
    <div>
      <Page
        title={`${group.name}, ${counted(takes, 'account')}`}
        answer={
          <>
            {group.name} sends one signal to {counted(takes, 'account')}
            {rest && <span className="quiet">, {rest}</span>}
          </>
        }
        facts={
          <>
            {last ? (
              <span>
                last signal{' '}
                <b>
                  <When at={last.arrived_at} />
                </b>
                {', '}
                <Link to={`/signals/${last.id}` as never} className={styles.story}>
                  {takenBy(last)}
                </Link>
              </span>
            ) : (
              last === null && <span>no signal yet</span>
            )}
            <span>exits pass, also while it is disabled</span>
            <Enabling group={group} />
          </>
        }
      >
        <Members group={group} accounts={accounts} last={last} />
        <MessageToPaste
          id={group.id}
          secret={secret}
          also="The same message as for one account; the address below decides that it is the group’s. No account stands in it."
        />
        <GroupWebhook group={group}>
          <Delete group={group} />
        </GroupWebhook>
        {error ? <ProblemNote fault={error} /> : <Signals items={data?.items ?? []} accounts={accounts} />}
      </Page>
    </div>
  );
}

function Enabling({ group }: { readonly group: Group }) {
  const [isAsking, setAsking] = useState(false);
  const change = useChange(group);
  const turn = (enabled: boolean) => change.mutate({ enabled }, { onSuccess: () => setAsking(false) });
  return (
    <span>
      <button
        type="button"
        className="link"
        disabled={change.isPending}
        onClick={() => (group.enabled ? setAsking(true) : turn(true))}
      >
        {group.enabled ? 'Disable entries…' : 'Enable entries'}
      </button>
      {!isAsking && change.error ? <ProblemNote fault={change.error} /> : null}
      {isAsking && (
        <Sure
          title={`Disable ${group.name}`}
          does="Refuse its entries; exits pass"
          mutation={{ ...change, mutate: () => turn(false) }}
          onClose={() => setAsking(false)}
        >
          From then on entries to this group are refused at every member. Exits pass, and what is held stays
          held. Signals to the accounts themselves are not touched.
        </Sure>
      )}
    </span>
  );
}

function Delete({ group }: { readonly group: Group }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/trading/groups/{id}', of(group.id))),
    onSuccess() {
      client.setQueryData(groups.queryKey, (all) => all?.filter(({ id }) => id !== group.id));
      void navigate({ to: '/groups', search: {} as never });
    },
  });
  return (
    <>
      <button type="button" className="button" onClick={() => setAsking(true)}>
        <span className={styles.named}>Delete {group.name}…</span>
      </button>
      {isAsking && (
        <Sure
          title={`Delete ${group.name}`}
          does={`Delete ${group.name}`}
          mutation={remove}
          onClose={() => setAsking(false)}
        >
          Its address stops at once: alerts that still arrive, exits too, are refused. The accounts, their
          positions and stops stay, and so do the orders that came from it.
        </Sure>
      )}
    </>
  );
}

interface SignalsProps {
  readonly items: readonly Schemas['SignalSummary'][];
  readonly accounts: readonly Account[];
}

function Signals({ items, accounts }: SignalsProps) {
  if (items.length === 0) return null;
  const nameOf = (id: string) => accounts.find((account) => account.id === id)?.name ?? 'a deleted account';
  return (
    <Led>
      <table className={`table ${styles.signals}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>Its signals</h2>
            </th>
            <th scope="col">Signal</th>
            <th scope="col">Orders</th>
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {items.map((signal) => (
            <tr key={signal.id} className="opens">
              <td>
                <When at={signal.arrived_at} />
              </td>
              <td>
                {signal.action && <Side side={signal.action} />}{' '}
                <Size quantity={signal.quantity} counts={signal.quantity_type} />{' '}
                <RowLink to={`/signals/${signal.id}`}>{signal.symbol ?? 'not read'}</RowLink>
              </td>
              <td>{takenBy(signal)}</td>
              <td className={styles.what}>{whatHappened(signal, nameOf)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Led>
  );
}
