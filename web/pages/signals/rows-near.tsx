// A page of rows while it is near what is seen; a space of its height while it is not. So ten thousand rows cost what a
// few hundred do.

import { type ReactNode, useEffect, useRef, useState } from 'react';
import styles from './signals.module.css';

/** Some screens ahead: who scrolls sees rows, not spaces. */
const NEAR = '2000px 0px';

export function RowsNear({ children }: { readonly children: () => ReactNode }) {
  const body = useRef<HTMLTableSectionElement>(null);
  /** null: it is near. */
  const [space, setSpace] = useState<number | null>(null);
  useEffect(() => {
    const rows = body.current;
    if (!rows) return;
    const observer = new IntersectionObserver(
      // Of several at once the last is how it is now.
      (seen) => setSpace(seen.at(-1)?.isIntersecting ? null : rows.offsetHeight),
      { rootMargin: NEAR },
    );
    observer.observe(rows);
    return () => observer.disconnect();
  }, []);
  return (
    <tbody ref={body}>
      {space === null ? (
        children()
      ) : (
        <tr className={styles.space} style={{ height: space }}>
          <td />
        </tr>
      )}
    </tbody>
  );
}
