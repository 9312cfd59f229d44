// The group's webhook: where alerts go, what proves them, how old they may be; and its name.

import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, read } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import { FieldRow } from '../../parts/settings/field-row.tsx';
import { plain, readNumber } from '../../parts/settings/numbers.ts';
import { Row } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { WebhookAddress, WebhookSecret } from '../../parts/settings/webhook.tsx';
import { type Change, type Group, keep, of, useChange, useSecret } from './change.ts';

export function GroupWebhook({ group, children }: { readonly group: Group; readonly children: ReactNode }) {
  return (
    <Section title="Webhook">
      <dl className={`rows ${styles.rows}`}>
        <Address group={group} />
        <Secret group={group} />
        <FieldRow<Change>
          change={useChange(group)}
          name="Oldest signal taken"
          label="Oldest signal taken, in seconds"
          stored={plain(group.max_request_age)}
          unit="s, by its timestamp"
          read={(text) => {
            const typed = readNumber(text, { least: 10, most: 3600, whole: true });
            return 'value' in typed ? { value: { max_request_age: typed.value } } : typed;
          }}
        />
        <FieldRow<Change>
          change={useChange(group)}
          name="Name"
          label="Name"
          stored={group.name}
          wide
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
  const client = useQueryClient();
  const makeAnew = async () =>
    keep(client, await read(api.POST('/trading/groups/{id}/webhook-token', of(group.id))));
  return <WebhookAddress of={group} makeAnew={makeAnew} />;
}

function Secret({ group }: { readonly group: Group }) {
  const client = useQueryClient();
  const makeAnew = async () => {
    const made = await read(api.POST('/trading/groups/{id}/webhook-secret', of(group.id)));
    const { webhook_secret: _, ...changed } = made;
    keep(client, changed);
  };
  return <WebhookSecret of={group} makeAnew={makeAnew} shown={useSecret(group)} copied={useSecret(group)} />;
}
