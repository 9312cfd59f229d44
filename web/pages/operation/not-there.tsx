import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import type { Asked } from './asked.ts';

/** A part, and whether the page says what became of it, for several at once. */
export interface Part {
  readonly asked: Asked;
  readonly isSaid: boolean;
}

interface NotThereProps {
  readonly part: Part;
  readonly rows: number;
  readonly two?: boolean;
}

/** In the place of what is not there yet, or was not read: bars or a word, and never both. */
export function NotThere({ part: { asked, isSaid }, rows, two = false }: NotThereProps) {
  if (asked.fault) return isSaid ? null : <ProblemNote fault={asked.fault} onAgain={asked.again} />;
  return asked.isKnown ? null : <Skeleton rows={rows} two={two} />;
}
