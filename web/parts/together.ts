// What is asked for together is shown together: nothing moves when one answer comes after the other. But nothing waits long
// for the slowest of them: a broker that hangs keeps nobody from what the others hold.

import { useEffect, useState } from 'react';

export const LONGEST_MS = 2_000;

/** Whether it may be shown; from then on it is, whatever is asked for later. */
export function useTogether(...asked: readonly { readonly isLoading: boolean }[]): boolean {
  const [isShown, setShown] = useState(false);
  const isThere = asked.every(({ isLoading }) => !isLoading);
  if (isThere && !isShown) setShown(true);
  useEffect(() => {
    if (isShown) return;
    const timer = setTimeout(() => setShown(true), LONGEST_MS);
    return () => clearTimeout(timer);
  }, [isShown]);
  return isShown || isThere;
}
