// The webhook: where alerts go, what proves them, and which of them are taken.

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import { plain, readNumber, readOptional } from '../../parts/settings/numbers.ts';
import { Row } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { Sure } from '../../parts/settings/sure.tsx';
import { WebhookAddress, WebhookSecret } from '../../parts/settings/webhook.tsx';
import { keep, of, useChange, useSecret } from './change.ts';
import { FieldRow } from './row.tsx';
import { AllowedSymbols } from './symbols.tsx';
import { type Account, inSeconds, inUnits } from './words.ts';

export function Webhook({ account }: { readonly account: Account }) {
  return (
    <Section title="Webhook">
      <dl className={`rows ${styles.rows}`}>
        <Address account={account} />
        <Secret account={account} />
        <AllowedSymbols account={account} />
        <FieldRow
          account={account}
          name="Oldest signal accepted"
          label="Oldest signal accepted, in seconds"
          stored={plain(account.max_request_age)}
          unit="s, by its timestamp"
          read={(text) => {
            const typed = readNumber(text, { least: 10, most: 3600, whole: true });
            return 'value' in typed ? { value: { max_request_age: typed.value } } : typed;
          }}
        />
        <FieldRow
          account={account}
          name="Sizes times"
          label="What the sizes of its signals are multiplied with"
          stored={plain(account.quantity_multiplier)}
          unit="then rounded down: entries, exits and targets, not what you order by hand"
          read={(text) => {
            const typed = readNumber(text, { least: 0, above: true, most: 1000 });
            return 'value' in typed ? { value: { quantity_multiplier: typed.value } } : typed;
          }}
        />
        <Certificate account={account} />
        <Silence account={account} />
      </dl>
    </Section>
  );
}

function Address({ account }: { readonly account: Account }) {
  const client = useQueryClient();
  const makeAnew = async () =>
    keep(client, account, await read(api.POST('/trading/accounts/{id}/webhook-token', of(account.id))));
  return <WebhookAddress of={account} makeAnew={makeAnew} />;
}

function Secret({ account }: { readonly account: Account }) {
  const client = useQueryClient();
  const makeAnew = async () => {
    const made = await read(api.POST('/trading/accounts/{id}/webhook-secret', of(account.id)));
    const { webhook_secret: _, ...changed } = made;
    keep(client, account, changed);
  };
  return (
    <WebhookSecret of={account} makeAnew={makeAnew} shown={useSecret(account)} copied={useSecret(account)} />
  );
}

function Certificate({ account }: { readonly account: Account }) {
  const [isAsking, setAsking] = useState(false);
  const change = useChange(account);
  const isOn = account.require_platform_certificate;
  const turn = (on: boolean) =>
    change.mutate({ require_platform_certificate: on }, { onSuccess: () => setAsking(false) });
  return (
    <Row
      name="Platform’s certificate"
      fault={isAsking ? null : change.error}
      does={
        <button type="button" className="link" onClick={() => (isOn ? turn(false) : setAsking(true))}>
          {isOn ? 'Turn off' : 'Turn on…'}
          <span className="unseen"> the requirement of the platform’s certificate</span>
        </button>
      }
    >
      {isOn
        ? 'required: whoever sends without it is refused, even with the address and the secret'
        : 'not required: the address and the secret decide'}
      {isAsking && (
        <Sure
          title={`Only with the platform’s certificate: ${account.name}`}
          does="Refuse every alert without the certificate"
          mutation={{ ...change, mutate: () => turn(true) }}
          onClose={() => setAsking(false)}
        >
          From then on only the charting platform itself can send alerts to this account: your own attempts
          with curl and other programs are refused. If the platform one day comes without its certificate, or
          with one that the operator’s proxy does not know yet, every alert is refused, exits too, until you
          turn this off. Look at Signals after the next alert.
        </Sure>
      )}
    </Row>
  );
}

function Silence({ account }: { readonly account: Account }) {
  const { amount, unit } = inUnits(account.silence_after ?? 3600);
  const bounds = { least: 60 / inSeconds(1, unit), most: 31_536_000 / inSeconds(1, unit) };
  return (
    <FieldRow
      account={account}
      name="Silence"
      label={`Silence, in ${unit}`}
      stored={account.silence_after === null ? '' : plain(amount)}
      placeholder="not set"
      unit={`${unit} without a signal, then tell me once`}
      read={(text) => {
        const typed = readOptional(text, { least: Math.min(1, bounds.least), most: bounds.most });
        if ('problem' in typed) return typed;
        return { value: { silence_after: typed.value === null ? null : inSeconds(typed.value, unit) } };
      }}
    />
  );
}
