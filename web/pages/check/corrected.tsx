// The message that would work, with what is new in it marked, to copy.

import { useMutation } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { counted } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from './check.module.css';
import { isSecretField, linesOf } from './lines.ts';
import { type Checked, changesTo } from './remarks.ts';

const SECRET = '<your webhook secret>';

interface CorrectedProps {
  readonly message: string;
  readonly checked: Checked;
  readonly corrected: string;
  readonly account: Schemas['Account'];
  /** To see what becomes of it. */
  readonly onTry: (message: string) => void;
}

export function Corrected({ message, checked, corrected, account, onTry }: CorrectedProps) {
  const secret = useMutation({
    mutationFn: () =>
      read(api.GET('/trading/accounts/{id}/webhook-secret', { params: { path: { id: account.id } } })),
    gcTime: 0,
  });
  const { changed, left } = changesTo(linesOf(message), corrected);
  const withSecret = async () => {
    const { webhook_secret } = await secret.mutateAsync();
    secret.reset();
    return corrected.replaceAll(SECRET, webhook_secret);
  };
  // What could not be turned gets the strategy's message: nothing of the old one is in it.
  const isTemplate = checked.understood === null && corrected.includes('{{strategy.order.action}}');
  return (
    <Section
      title={isTemplate ? 'The message that a strategy sends' : 'The message that would work'}
      more={!isTemplate && <span className="quiet">{counted(changed.size + left.length, 'change')}</span>}
    >
      <pre className={`paste ${styles.corrected}`}>
        <code>
          {linesOf(corrected).map(({ name, before, key, between, value, after }) => (
            <span key={key}>
              {before}
              {name !== null && changed.has(name) && !isTemplate ? <mark>{key}</mark> : key}
              {between}
              {isSecretField(name) ? '"••••••••••••••••••••••"' : value}
              {after}
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
      <div className={styles.under}>
        <CopyButton primary text={withSecret}>
          Copy with the secret
        </CopyButton>
        <p>
          Or <CopyButton text={corrected}>copy it without</CopyButton>
          {!isTemplate && (
            <>
              , or{' '}
              <button type="button" className="link" onClick={() => void withSecret().then(onTry, () => {})}>
                check this one
              </button>
            </>
          )}
          .{' '}
          {left.length > 0 && !isTemplate && (
            <>
              {left.map((name, place) => (
                <span key={name}>
                  {place > 0 && (place === left.length - 1 ? ' and ' : ', ')}
                  <code>{name}</code>
                </span>
              ))}{' '}
              {left.length === 1 ? 'is' : 'are'} not in it.
            </>
          )}
        </p>
      </div>
      {secret.error && <ProblemNote fault={secret.error} />}
    </Section>
  );
}
