// The message to paste into an alert, with its placeholders apart and its secret masked.

import { useState } from 'react';
import { CopyButton } from '../copy.tsx';
import { noteCopied } from '../memory.ts';
import { Section } from '../page.tsx';
import { ProblemNote } from '../problem-note.tsx';
import {
  ALERT_ACTIONS,
  type AlertAction,
  alertMessage,
  pieces,
  strategyMessage,
  syncScript,
  withSecret,
} from './message.ts';
import { readNumber } from './numbers.ts';
import styles from './settings.module.css';

const KINDS = {
  strategy: 'for a strategy',
  alert: 'for a plain alert',
  sync: 'sync at each bar’s close',
} as const;
type Kind = keyof typeof KINDS;

const WHAT_TO_DO: Readonly<Record<Kind, string>> = {
  strategy:
    'Paste it as the alert’s message, and the address below as its webhook URL. Because it carries the position, a missed alert is noticed and the next one puts it right.',
  alert:
    'Paste it as the alert’s message, and the address below as its webhook URL. A plain alert knows nothing of the position: it trades the same quantity each time.',
  sync: 'Paste it at the end of the strategy’s script, and make a second alert on “alert() function calls” with the address below. It trades nothing, but it shows when the last alert was missed.',
};

interface PasteProps {
  /** Of the account or the group. */
  readonly id: string;
  /** Asked for when it is copied. */
  readonly secret: {
    readonly mutateAsync: () => Promise<string>;
    readonly reset: () => void;
    readonly error: unknown;
  };
  /** What there is to say besides. */
  readonly also?: string;
}

export function MessageToPaste({ id, secret, also }: PasteProps) {
  const [kind, setKind] = useState<Kind>('strategy');
  const [action, setAction] = useState<AlertAction>('buy');
  const [quantity, setQuantity] = useState('1');
  const typed = readNumber(quantity, { least: 0, most: 1e12, above: true });
  const isWrong = kind === 'alert' && action !== 'close' && 'problem' in typed;
  const message =
    kind === 'strategy'
      ? strategyMessage()
      : kind === 'sync'
        ? syncScript()
        : alertMessage(action, isWrong ? '1' : quantity.trim());
  return (
    <Section
      title="The message to paste"
      more={
        <fieldset className={styles.tabs} aria-label="Made for">
          {Object.entries(KINDS).map(([each, words]) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === kind}
              onClick={() => setKind(each as Kind)}
            >
              {words}
            </button>
          ))}
        </fieldset>
      }
    >
      {kind === 'alert' && (
        <p className={styles.choose}>
          <label>
            Action{' '}
            <select value={action} onChange={({ target }) => setAction(target.value as AlertAction)}>
              {ALERT_ACTIONS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          {action !== 'close' && (
            <label className={styles.amount}>
              Quantity{' '}
              <input
                inputMode="decimal"
                autoComplete="off"
                value={quantity}
                aria-invalid={isWrong}
                onChange={({ target }) => setQuantity(target.value)}
              />
            </label>
          )}
          {isWrong && 'problem' in typed && <span className="act">{typed.problem}</span>}
        </p>
      )}
      <pre className={`paste ${styles.message}`}>
        <code>
          {pieces(message).map(({ text, isPlaceholder }, place) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in its order
            isPlaceholder ? <i key={place}>{text}</i> : <span key={place}>{text}</span>,
          )}
        </code>
      </pre>
      <div className={styles.under}>
        <CopyButton
          primary
          text={async () => {
            const copied = withSecret(message, await secret.mutateAsync());
            secret.reset();
            noteCopied(id);
            return copied;
          }}
        >
          Copy with the secret
        </CopyButton>
        <p>{also ?? WHAT_TO_DO[kind]}</p>
      </div>
      {secret.error ? <ProblemNote fault={secret.error} /> : null}
    </Section>
  );
}
