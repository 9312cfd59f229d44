// Everything that is worth comparing elsewhere copies: ids, addresses, messages.

import { useState } from 'react';
import styles from './copy.module.css';

/** How long "copied" stands there. */
const SAID_MS = 1500;

/** What is fetched when it is asked for, a secret say, stays out of the page until then. */
type Copyable = string | (() => Promise<string>);

/** The word to show instead of the usual; null: the usual. */
function useCopied(): ['copied' | 'not copied' | null, (text: Copyable) => Promise<void>] {
  const [said, setSaid] = useState<'copied' | 'not copied' | null>(null);
  return [
    said,
    async (text) => {
      try {
        await navigator.clipboard.writeText(typeof text === 'string' ? text : await text());
        setSaid('copied');
      } catch {
        // The browser forbids it, or the text could not be fetched: whoever fetches it says why.
        setSaid('not copied');
      }
      setTimeout(() => setSaid(null), SAID_MS);
    },
  ];
}

/** Shortened in the middle: ours begin with the time and differ at the end. */
const shortId = (id: string): string => (id.length > 22 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export function CopyId({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) {
  return (
    <span className={whole ? `${styles.id} ${styles.whole}` : styles.id}>
      <span className="id" title={id}>
        {whole ? id : shortId(id)}
      </span>
      <CopyMark text={id} what={id} />
    </span>
  );
}

/** The small sign behind a text. */
export function CopyMark({ text, what }: { readonly text: Copyable; readonly what: string }) {
  const [said, copy] = useCopied();
  return (
    <button type="button" className={styles.copy} aria-label={`Copy ${what}`} onClick={() => void copy(text)}>
      {said ? (
        <span role="status">{said}</span>
      ) : (
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d="M3.5 3.5V1.5h7v7h-2M1.5 3.5h7v7h-7z" fill="none" stroke="currentColor" />
        </svg>
      )}
    </button>
  );
}

export function CopyButton({
  text,
  children,
  primary = false,
}: {
  readonly text: Copyable;
  readonly children: string;
  readonly primary?: boolean;
}) {
  const [said, copy] = useCopied();
  return (
    <button type="button" className={primary ? 'button primary' : 'link'} onClick={() => void copy(text)}>
      <span aria-live="polite">
        {said === 'copied' ? 'Copied' : said === 'not copied' ? 'Not copied' : children}
      </span>
    </button>
  );
}
