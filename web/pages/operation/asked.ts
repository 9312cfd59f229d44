// A part of the page, as it was asked for. What failed says so until it is there: the next try, every few seconds, would else
// take the word away while it is under way.

import { useState } from 'react';

interface Query {
  readonly data: unknown;
  readonly error: unknown;
  readonly errorUpdateCount: number;
  refetch(): unknown;
}

export interface Asked {
  /** As its heading says it. */
  readonly name: string;
  readonly isKnown: boolean;
  /** Null: none, so far. */
  readonly fault: unknown;
  again(): unknown;
}

export function useAsked(name: string, query: Query): Asked {
  const [last, setLast] = useState(query.error);
  if (query.error && query.error !== last) setLast(query.error);
  const isKnown = query.data !== undefined;
  const isTriedAgain = !isKnown && query.errorUpdateCount > 0;
  return { name, isKnown, fault: query.error ?? (isTriedAgain ? last : null), again: query.refetch };
}
