import { useRef } from 'react';
import { useKeys } from '../../parts/keys.tsx';

/** `j` and `k` move the focus from row to row; `enter` opens, because a row is a link. */
export function useRowKeys() {
  const table = useRef<HTMLTableElement>(null);
  const move = (by: number) => {
    const rows = [...(table.current?.querySelectorAll<HTMLElement>('a[data-row]') ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    // The first that is seen, where none has the focus.
    const next = at < 0 ? rows.find((row) => row.getBoundingClientRect().top > 48) : rows[at + by];
    next?.focus({ preventScroll: true });
    next?.closest('tr')?.scrollIntoView({ block: 'nearest' });
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return table;
}
