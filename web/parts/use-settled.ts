import { useEffect, useState } from 'react';

/** Somebody who types is not done yet. */
const SETTLES_MS = 250;

export function useSettled<T>(value: T, isSame: (a: T, b: T) => boolean = Object.is): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (isSame(settled, value)) return;
    const timer = setTimeout(() => setSettled(value), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [value, settled, isSame]);
  return settled;
}
