// A row's link. The router's own asks the router anew at every change of the address; a thousand of them are felt.

import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

export function RowLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  const router = useRouter();
  const open = (event: MouseEvent) => {
    // Another tab or window is the browser's business.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate({ to });
  };
  const prepare = () => void router.preloadRoute({ to }).catch(() => {});
  return (
    <a href={to} className="cover" data-row onClick={open} onFocus={prepare} onPointerEnter={prepare}>
      {children}
    </a>
  );
}
