// The group's webhook: where alerts go, what proves them, how old they may be; and its name.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, read } from '../../api/client.ts';
import { CopyMark } from '../../parts/copy.tsx';
import { Section } from '../../parts/page.tsx';
import { MASKED } from '../../parts/settings/message.ts';
import { plain, readNumber, type Typed } from '../../parts/settings/numbers.ts';
import { Row, Saved } from '../../parts/settings/row.tsx';
import accountStyles from '../../parts/settings/settings.module.css';
import { Sure } from '../../parts/settings/sure.tsx';
import { type Change, type Group, keep, of, useChange, useSecret } from './change.ts';
import styles from './groups.module.css';

export function GroupWebhook({ group, children }: { readonly group: Group; readonly children: ReactNode }) {
  return (
    <Section title="Webhook">
      <dl className={`rows ${accountStyles.rows}`}>
        <Address group={group} />
        <Secret group={group} />
        <Field
          group={group}
          name="Oldest signal taken"
          stored={plain(group.max_request_age)}
          unit="s, by its timestamp"
          read={(text) => {
            const typed = readNumber(text, { least: 10, most: 3600, whole: true });
            return 'value' in typed ? { value: { max_request_age: typed.value } } : typed;
          }}
        />
        <Field
          group={group}
          name="Name"
          stored={group.name}
          isWide
          read={(text) =>
            text.trim() === '' || text.length > 100
              ? { problem: 'Write 1 to 100 characters.' }
              : { value: { name: text.trim() } }
          }
        />
        <Row name="Delete" does={children}>
          The address stops at once. The accounts, their positions and stops stay.
        </Row>
      </dl>
    </Section>
  );
}

function Address({ group }: { readonly group: Group }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const regenerate = useMutation({
    mutationFn: () => read(api.POST('/trading/groups/{id}/webhook-token', of(group.id))),
    onSuccess(changed) {
      keep(client, changed);
      setAsking(false);
    },
  });
  return (
    <Row
      name="Address"
      does={
        <button type="button" className="link" onClick={() => setAsking(true)}>
          Regenerate…<span className="unseen"> the address</span>
        </button>
      }
    >
      <code>{group.webhook_url}</code> <CopyMark text={group.webhook_url} what="the address" />
      {isAsking && (
        <Sure
          title={`A new address for ${group.name}`}
          does="Make a new address; the present one stops"
          mutation={regenerate}
          onClose={() => setAsking(false)}
        >
          The present address stops at once: every alert that sends to it is answered with 404 until you paste
          the new address into it. The secret stays as it is.
        </Sure>
      )}
    </Row>
  );
}

function Secret({ group }: { readonly group: Group }) {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const shown = useSecret(group);
  const copied = useSecret(group);
  const regenerate = useMutation({
    async mutationFn() {
      const { webhook_secret: _, ...changed } = await read(
        api.POST('/trading/groups/{id}/webhook-secret', of(group.id)),
      );
      return changed;
    },
    onSuccess(changed) {
      keep(client, changed);
      shown.reset();
      setAsking(false);
    },
  });
  return (
    <Row
      name="Secret"
      fault={shown.error ?? copied.error}
      does={
        <>
          <button
            type="button"
            className="link"
            onClick={() => (shown.data === undefined ? shown.mutate() : shown.reset())}
          >
            {shown.data === undefined ? 'Show' : 'Hide'}
            <span className="unseen"> the secret</span>
          </button>
          <button type="button" className="link" onClick={() => setAsking(true)}>
            Regenerate…<span className="unseen"> the secret</span>
          </button>
        </>
      }
    >
      <code>{shown.data ?? MASKED}</code>{' '}
      <CopyMark
        what="the secret"
        text={async () => {
          const secret = shown.data ?? (await copied.mutateAsync());
          copied.reset();
          return secret;
        }}
      />
      {isAsking && (
        <Sure
          title={`A new secret for ${group.name}`}
          does="Make a new secret; the present one stops"
          mutation={regenerate}
          onClose={() => setAsking(false)}
        >
          The present secret stops at once: every alert that carries it is refused, and counted as an attack,
          until you paste the new message into it. The address stays as it is.
        </Sure>
      )}
    </Row>
  );
}

interface FieldProps {
  readonly group: Group;
  readonly name: string;
  readonly stored: string;
  readonly unit?: string;
  readonly isWide?: boolean;
  readonly read: (text: string) => Typed<Change>;
}

/** It saves when it is left, or by enter. */
function Field({ group, name, stored, unit, isWide = false, read: readText }: FieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const change = useChange(group);
  const typed = draft === null ? null : readText(draft);
  const save = () => {
    if (draft === null || draft === stored || !typed) return setDraft(null);
    if ('value' in typed) change.mutate(typed.value, { onSuccess: () => setDraft(null) });
  };
  return (
    <Row name={name} fault={change.error} does={<Saved when={change.isSuccess && draft === null} />}>
      <span className={isWide ? styles.wide : accountStyles.amount}>
        <input
          aria-label={name}
          value={draft ?? stored}
          aria-invalid={typed !== null && 'problem' in typed}
          onChange={({ target }) => setDraft(target.value)}
          onBlur={save}
          onKeyDown={({ key }) => {
            if (key === 'Enter') save();
            if (key === 'Escape') setDraft(null);
          }}
        />
        {unit}
      </span>
      {typed && 'problem' in typed && <small className="act">{typed.problem}</small>}
    </Row>
  );
}
