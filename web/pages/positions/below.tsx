// A row below a position, or a book's own: what is to be known of it, and what to do about it.

import type { ReactNode } from 'react';
import { type Book, wordOf } from './books.ts';
import styles from './positions.module.css';

/** Of the table of positions. */
export const COLUMNS = 10;

export function Below({ book, children }: { readonly book: Book; readonly children: ReactNode }) {
  return (
    <tr className={`${styles.why} ${wordOf(book) ? 'hatched' : ''}`}>
      <td colSpan={COLUMNS}>
        <div>{children}</div>
      </td>
    </tr>
  );
}
