// What every page is made of. Its heading is the answer: a sentence with a number in it.

import { type ReactNode, useEffect, useState } from 'react';

interface PageProps {
  /** For the tab and the history: the answer in plain words. */
  readonly title: string;
  /** What matters stands plain (semibold); wrap the rest in <span className="quiet">. */
  readonly answer: ReactNode;
  /** Spans below it. */
  readonly facts?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, answer, facts, children }: PageProps) {
  useTitle(title);
  return (
    <>
      <header className="top">
        <h1 className="answer">{answer}</h1>
        {facts && <p className="facts">{facts}</p>}
      </header>
      {children}
    </>
  );
}

/** Until what it shows is there. */
export function WaitingPage({ name, words = name }: { readonly name: string; readonly words?: string }) {
  return (
    <Page title={name} answer={<span className="quiet">{words}</span>} facts={<span>&nbsp;</span>}>
      <Skeleton rows={12} />
    </Page>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Fillpath` : 'Fillpath';
  }, [title]);
}

interface SectionProps {
  readonly title: ReactNode;
  /** At the right of the heading. */
  readonly more?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A rule, the heading below it. For a table that is led by its heading use <Led>. */
export function Section({ title, more, className = '', children }: SectionProps) {
  return (
    <section className={`section ${className}`}>
      <header>
        <h2>{title}</h2>
        {more && <span className="more">{more}</span>}
      </header>
      {children}
    </section>
  );
}

/** A section whose only content is a table with <th><h2>…</h2></th> as its first column's head. */
export function Led({
  className = '',
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return <section className={`section led ${className}`}>{children}</section>;
}

/** Nothing is drawn before this: what comes at once never flickers. */
const PATIENCE_MS = 300;

function usePatience(): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return over;
}

/** Bars of the rows' own size, so that nothing jumps. */
export function Skeleton({ rows = 6, two = false }: { readonly rows?: number; readonly two?: boolean }) {
  const over = usePatience();
  return (
    <div className={two ? 'skeleton two' : 'skeleton'} role="status" aria-label="Loading" data-shown={over}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <div key={row}>
          <i />
        </div>
      ))}
    </div>
  );
}
