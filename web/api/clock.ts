// The service's time. A browser's clock may be an hour off, and what pages say about ages must be right: each answer brings
// the service's own time along.

let ahead = 0;

/** From the Date header of an answer, which has whole seconds: small differences are not worth a correction. */
export function heard(date: string | null): void {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return;
  const difference = theirs + 500 - Date.now();
  ahead = Math.abs(difference) < 2_000 ? 0 : difference;
}

export const serverNow = (): number => Date.now() + ahead;
