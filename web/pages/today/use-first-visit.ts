// Whoever began with the first steps sees the first signal arrive there; the usual page comes with the next visit, or when it
// is asked for.

import { useState } from 'react';

/** undefined: not known yet. */
export function useFirstVisit(isFirst: boolean | undefined): boolean {
  const [began, setBegan] = useState(false);
  if (isFirst && !began) setBegan(true);
  return began || (isFirst ?? false);
}
