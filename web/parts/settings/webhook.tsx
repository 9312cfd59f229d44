// Where alerts go and what proves them: of an account, or of a group. Either can be made anew; the present one stops then.

import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyMark } from '../copy.tsx';
import { MASKED } from './message.ts';
import { Row } from './row.tsx';
import styles from './settings.module.css';
import { Sure } from './sure.tsx';

interface Addressee {
  readonly name: string;
  readonly webhook_url: string;
}

interface AddressProps {
  readonly of: Addressee;
  /** Makes another one, and has the page know it. */
  readonly makeAnew: () => Promise<void>;
}

export function WebhookAddress({ of: { name, webhook_url }, makeAnew }: AddressProps) {
  const [isAsking, setAsking] = useState(false);
  const regenerate = useMutation({ mutationFn: makeAnew, onSuccess: () => setAsking(false) });
  return (
    <Row
      name="Address"
      does={
        <button type="button" className="link" onClick={() => setAsking(true)}>
          Regenerate…<span className="unseen"> the address</span>
        </button>
      }
    >
      <span className={styles.address}>
        <code>{webhook_url}</code> <CopyMark text={webhook_url} what="the address" />
      </span>
      {isAsking && (
        <Sure
          title={`A new address for ${name}`}
          does="Make a new address; the present one stops"
          mutation={regenerate}
          onClose={() => setAsking(false)}
        >
          The present address stops at once: every alert that sends to it, exits too, is refused until you
          paste the new address into it. The secret stays as it is.
        </Sure>
      )}
    </Row>
  );
}

type Asked = UseMutationResult<string, Error, void>;

interface SecretProps extends AddressProps {
  /** Asked for to be shown, and to be copied: a copy shows nothing. */
  readonly shown: Asked;
  readonly copied: Asked;
}

export function WebhookSecret({ of: { name }, makeAnew, shown, copied }: SecretProps) {
  const [isAsking, setAsking] = useState(false);
  const regenerate = useMutation({
    mutationFn: makeAnew,
    onSuccess() {
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
          title={`A new secret for ${name}`}
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
