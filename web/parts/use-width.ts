// Drawings are made for their width, and never scaled: letters keep their size.

import { useCallback, useState } from 'react';

export function useWidth(): [(element: HTMLElement | null) => undefined | (() => void), number] {
  const [width, setWidth] = useState(0);
  const measure = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [measure, width];
}
