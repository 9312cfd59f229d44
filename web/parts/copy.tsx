// Everything that is worth comparing elsewhere copies: ids, addresses, messages.

import { useState } from 'react';
import styles from './copy.module.css';

/** How long "copied" stands there. */
const SAID_MS = 1500;

function useCopied(): [boolean, (text: string) => Promise<void>] {
  const [copied, setCopied] = useState(false);
  return [
    copied,
    async (text) => {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), SAID_MS);
    },
  ];
}

/** Shortened in the middle: ours begin with the time and differ at the end. */
export const shortId = (id: string): string => (id.length > 22 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export function CopyId({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) {
  return (
    <span className={styles.id}>
      <span className="id" title={id}>
        {whole ? id : shortId(id)}
      </span>
      <CopyMark text={id} what={id} />
    </span>
  );
}

/** The small sign behind a text. */
export function CopyMark({ text, what }: { readonly text: string; readonly what: string }) {
  const [copied, copy] = useCopied();
  return (
    <button type="button" className={styles.copy} aria-label={`Copy ${what}`} onClick={() => void copy(text)}>
      {copied ? (
        <span role="status">copied</span>
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
  readonly text: string | (() => Promise<string>);
  readonly children: string;
  readonly primary?: boolean;
}) {
  const [copied, copy] = useCopied();
  return (
    <button
      type="button"
      className={primary ? 'button primary' : 'link'}
      onClick={async () => copy(typeof text === 'string' ? text : await text())}
    >
      <span aria-live="polite">{copied ? 'Copied' : children}</span>
    </button>
  );
}
