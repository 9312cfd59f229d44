// After a theft: what still works and may be known to somebody else is offered for replacement, one press each; who may be told
// again is confirmed; and what may have been seen is listed. Nothing of this is shown once it is all done.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { accounts, groups } from '../../api/queries.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Mark } from '../../parts/marks.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useReadAgain } from '../../parts/read-again.ts';
import { When } from '../../parts/when.tsx';
import { afterTheft } from './questions.ts';
import styles from './security.module.css';
import { BECAUSE, deviceInWords, OFFERED } from './words.ts';

type Found = Schemas['AfterTheft'];
/** Of an account, or of a group. */
interface Offer {
  readonly kind: Found['replace'][number]['kind'];
  readonly of: 'accounts' | 'groups';
  readonly id: string;
  readonly name: string;
  readonly shown_at: string | null;
  readonly change_there: string;
}

const ofAccount = (offer: Found['replace'][number]): Offer => ({
  ...offer,
  of: 'accounts',
  id: offer.trading_account_id,
  name: offer.account_name,
});
const ofGroup = (offer: Found['replace_groups'][number]): Offer => ({
  ...offer,
  of: 'groups',
  id: offer.group_id,
  name: offer.group_name,
});

interface Replaced extends Offer {
  readonly value: string;
}

export function AfterTheft() {
  const { data, error } = useQuery(afterTheft);
  const [replaced, setReplaced] = useState<Replaced | null>(null);
  if (error) return <ProblemNote fault={error} />;
  if (!data?.secured_at || !data.because) return null;
  const { destinations } = data;
  const replace: readonly Offer[] = [...data.replace.map(ofAccount), ...data.replace_groups.map(ofGroup)];
  if (replace.length + destinations.length === 0 && !replaced) return null;
  return (
    <Section title="After a theft" more={<span className="quiet">until all of it is done</span>}>
      <p className={`${styles.warning} ${styles.lead}`}>
        <Mark name="act" />
        <span>
          {BECAUSE[data.because]} (<When at={data.secured_at} />
          ): every session, API key and known device has ended.
          {data.exposed_since && (
            <>
              {' '}
              Somebody else may have been in since <When at={data.exposed_since} />.
            </>
          )}{' '}
          Your webhooks go on, so that exits arrive: replace each of these when you can change its alerts, for
          the old one stops at once.
        </span>
      </p>
      {replaced && <NewOne replaced={replaced} />}
      <dl className={`rows ${styles.rows}`}>
        {replace.map((offer) => (
          <OfferRow key={`${offer.kind} ${offer.id}`} offer={offer} onReplaced={setReplaced} />
        ))}
        {destinations.map((destination) => (
          <DestinationRow key={destination.id} destination={destination} />
        ))}
      </dl>
      <Seen found={data} />
    </Section>
  );
}

function NewOne({ replaced }: { readonly replaced: Replaced }) {
  return (
    <div className="once" role="status">
      <p>
        <b>{replaced.name}</b> has a new {OFFERED[replaced.kind]}. {replaced.change_there}
        <br />
        <code>{replaced.value}</code>
      </p>
      <CopyButton text={replaced.value} primary>
        Copy
      </CopyButton>
    </div>
  );
}

interface OfferRowProps {
  readonly offer: Offer;
  readonly onReplaced: (replaced: Replaced) => void;
}

function OfferRow({ offer, onReplaced }: OfferRowProps) {
  const readAgain = useReadAgain();
  const { kind, id, name, shown_at } = offer;
  const replace = useMutation({
    async mutationFn() {
      const of = { params: { path: { id } } };
      const isGroup = offer.of === 'groups';
      if (kind === 'webhook_token')
        return isGroup
          ? (await read(api.POST('/trading/groups/{id}/webhook-token', of))).webhook_url
          : (await read(api.POST('/trading/accounts/{id}/webhook-token', of))).webhook_url;
      return isGroup
        ? (await read(api.POST('/trading/groups/{id}/webhook-secret', of))).webhook_secret
        : (await read(api.POST('/trading/accounts/{id}/webhook-secret', of))).webhook_secret;
    },
    onSuccess: (value) => onReplaced({ ...offer, value }),
    onSettled: () => readAgain(afterTheft.queryKey, accounts.queryKey, groups.queryKey),
  });
  return (
    <div>
      <dt className={styles.name} title={name}>
        {name}
      </dt>
      <dd>
        {OFFERED[kind]}
        {shown_at && (
          <span className="act">
            , shown <When at={shown_at} />
          </span>
        )}
        {replace.error && <ProblemNote fault={replace.error} />}
      </dd>
      <dd>
        <button
          type="button"
          className="button"
          disabled={replace.isPending}
          onClick={() => replace.mutate()}
        >
          Replace
          <span className="unseen">
            {' '}
            the {OFFERED[kind]} of {name}
          </span>
        </button>
      </dd>
    </div>
  );
}

function DestinationRow({ destination }: { readonly destination: Found['destinations'][number] }) {
  const readAgain = useReadAgain();
  const { id, name, kind, address, created_at } = destination;
  const path = { params: { path: { id } } };
  const onSettled = () => readAgain(afterTheft.queryKey, ['notifications'], ['overview']);
  const confirm = useMutation({
    mutationFn: () => read(api.PATCH('/settings/notifications/{id}', { ...path, body: { paused: false } })),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => read(api.DELETE('/settings/notifications/{id}', path)),
    onSettled,
  });
  const fault = confirm.error ?? remove.error;
  return (
    <div>
      <dt className={styles.name} title={name}>
        {name}
      </dt>
      <dd>
        notifications by {kind}, {address}, added <When at={created_at} />: paused until you confirm that it
        is yours
        {fault && <ProblemNote fault={fault} />}
      </dd>
      <dd className={styles.sure}>
        <button
          type="button"
          className="button"
          disabled={confirm.isPending}
          onClick={() => confirm.mutate()}
        >
          Confirm<span className="unseen"> {name}</span>
        </button>
        <button type="button" className="link" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Not mine: remove<span className="unseen"> {name}</span>
        </button>
      </dd>
    </div>
  );
}

/** As far as the audit log knows. */
function Seen({ found }: { readonly found: Found }) {
  const { accounts: seen, api_keys, deeds, sign_ins } = found;
  return (
    <details className={styles.seen}>
      <summary>What may have been seen, and what was done</summary>
      <dl className={`rows ${styles.rows}`}>
        <div>
          <dt>Accounts</dt>
          <dd>
            {seen.map(({ name }) => name).join(', ') || 'none'}: their settings, addresses, orders and
            positions. Broker credentials are shown to nobody.
          </dd>
        </div>
        <div>
          <dt>API keys that ended</dt>
          <dd>{api_keys.map(({ name }) => name).join(', ') || 'none'}</dd>
        </div>
        <div>
          <dt>Shown and changed</dt>
          <dd>
            {deeds.length === 0 && 'nothing that the audit log knows of'}
            {deeds.map(({ at, action, ip_address, success, resource_id }) => (
              <p key={`${at} ${action} ${resource_id}`}>
                <When at={at} /> {action.replaceAll('_', ' ')}
                {!success && ', refused'}, from {ip_address ?? 'nowhere'}
              </p>
            ))}
          </dd>
        </div>
        <div>
          <dt>Sign-ins</dt>
          <dd>
            {sign_ins.length === 0 && 'none that the audit log knows of'}
            {sign_ins.map(({ at, ip_address, user_agent, success }) => (
              <p key={`${at} ${ip_address} ${user_agent}`}>
                <When at={at} /> {success ? 'in' : 'refused'}, from {ip_address ?? 'nowhere'},{' '}
                {deviceInWords(user_agent ?? '')}
              </p>
            ))}
          </dd>
        </div>
      </dl>
    </details>
  );
}
