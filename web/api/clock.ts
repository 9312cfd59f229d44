// The service's time. A browser's clock may be an hour off, and what pages say about ages must be right: each answer brings
// the service's own time along.

let ahead = 0;
const listeners = new Set<() => void>();

/** Whoever has said what time it is learns that it is another. The result stops that. */
export function onCorrected(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** From the Date header of an answer, which has whole seconds: small differences are not worth a correction. */
export function heard(date: string | null): void {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return;
  const difference = theirs + 500 - Date.now();
  const before = ahead;
  ahead = Math.abs(difference) < 2_000 ? 0 : difference;
  // Whole seconds wander by one.
  if (Math.abs(ahead - before) >= 2_000) for (const listener of listeners) listener();
}

export const serverNow = (): number => Date.now() + ahead;
