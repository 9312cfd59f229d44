// The terms of service: what stands, and a new version with what it stops.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Section } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { dayOf } from '../../parts/when.tsx';
import { NotThere, type Part } from './not-there.tsx';
import styles from './operation.module.css';
import { nextVersion, termsWarning } from './words.ts';

interface TermsProps {
  readonly terms: Schemas['Terms'] | null | undefined;
  readonly part: Part;
}

export function Terms({ terms, part }: TermsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Terms">
      <NotThere part={part} rows={1} />
      {terms !== undefined && (
        <dl className="rows">
          <div>
            <dt>{terms ? `Version ${terms.version}` : 'None'}</dt>
            <dd>
              {terms
                ? `published ${dayOf(new Date(terms.published_at))}; whoever has not accepted it cannot open a position with real money`
                : 'no terms are published'}
            </dd>
            <dd className={styles.does}>
              {terms && <Link to="/terms">Read</Link>}
              <button type="button" className="link" onClick={() => setOpen(true)}>
                Publish a new version…
              </button>
            </dd>
          </div>
        </dl>
      )}
      {isOpen && terms !== undefined && <PublishDialog current={terms} onClose={() => setOpen(false)} />}
    </Section>
  );
}

interface PublishDialogProps {
  readonly current: Schemas['Terms'] | null;
  readonly onClose: () => void;
}

function PublishDialog({ current, onClose }: PublishDialogProps) {
  const client = useQueryClient();
  const [version, setVersion] = useState(() => nextVersion(current?.version ?? null));
  const [text, setText] = useState(current?.text ?? '');
  const publish = useMutation({
    mutationFn: () => read(api.PUT('/deployment/terms', { body: { version, text } })),
    async onSuccess() {
      await Promise.all(
        [['terms'], ['session'], ['overview']].map((queryKey) => client.invalidateQueries({ queryKey })),
      );
      onClose();
    },
  });
  return (
    <Dialog title="Publish new terms of service" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          publish.mutate();
        }}
      >
        <div className={styles.fields}>
          <label>
            Version
            <input
              data-first
              required
              pattern="[!-~]{1,64}"
              maxLength={64}
              title="Visible ASCII, without spaces"
              value={version}
              onChange={({ target }) => setVersion(target.value)}
            />
          </label>
          <label className={styles.whole}>
            Text
            <textarea required rows={10} value={text} onChange={({ target }) => setText(target.value)} />
          </label>
        </div>
        <p className={styles.warning}>{termsWarning(version)}</p>
        {publish.error && <ProblemNote fault={publish.error} />}
        <p className={styles.buttons}>
          <button
            type="submit"
            className="button primary"
            disabled={publish.isPending || version === '' || text.trim() === ''}
          >
            Publish version {version} and ask everybody to accept it
          </button>
        </p>
      </form>
    </Dialog>
  );
}
