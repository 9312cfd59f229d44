// The dashboard begins here. It is a client of the public API and of nothing else: what a page can do, a program with an API
// key can do, sessions and secrets apart. api/schema.ts is made from /openapi.json, so that a call that changes breaks the
// pages' types and not the pages. A page of its own is a folder in pages/; what two pages use stands in parts/.

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './theme/base.css';
import { whenSessionEnds } from './api/client.ts';
import { isRefusal } from './api/problem.ts';
import { forget, leave, onOtherTabs, type Said } from './api/session.ts';
import { wayOn } from './pages/enter/ways.ts';
import { keepFocus } from './parts/keep-focus.ts';
import { router } from './routes.tsx';
import { keepTheme } from './theme/theme.ts';

keepTheme();
keepFocus();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What cannot be asked fails, and says so: the browser's word that it is offline would make it wait in silence.
      networkMode: 'always',
      retry: (count, fault) => count < 2 && !isRefusal(fault),
    },
    // A press is meant now. One that is kept for later would halt, resume or trade on what was shown long ago.
    mutations: { networkMode: 'always', retry: false },
  },
});

/** Nothing of the old session is shown to whoever comes next; after a logout not even where it was. */
async function goToLogin({ comesBack }: { readonly comesBack: boolean }): Promise<void> {
  const { pathname, href } = router.state.location;
  const isThere = pathname === '/login';
  // Away from here first: what stands on a page would ask for itself anew. Whoever finds the session over before the word
  // comes that somebody left on purpose is at the login already, and remembers where it was.
  if (!isThere || !comesBack)
    await router.navigate({
      to: '/login',
      search: (comesBack ? { next: href } : {}) as never,
      replace: isThere,
    });
  queries.clear();
}

whenSessionEnds(() => {
  leave('over');
  void goToLogin({ comesBack: true });
});
/** One word after the other: who logs in while this tab is still on its way to the login is heard there. */
let heard: Promise<void> = Promise.resolve();
onOtherTabs((said) => {
  // At once: later it would forget whoever has logged in since.
  if (said !== 'in') forget();
  // A way that could not be gone keeps nobody from the next.
  heard = heard.then(() => follow(said)).catch(() => {});
});

async function follow(said: Said): Promise<void> {
  if (said !== 'in') {
    await goToLogin({ comesBack: said === 'over' });
    return;
  }
  // Somebody logged in: this tab waits no longer. What another tab shows is of whoever was in before, and is read anew.
  const { pathname, search } = router.state.location;
  if (pathname === '/login')
    await router.navigate({
      href: wayOn((search as { next?: string }).next, location.origin),
      replace: true,
    });
  else if (router.state.matches.some(({ routeId }) => routeId === '/inside')) location.reload();
}

const place = document.getElementById('app');
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
