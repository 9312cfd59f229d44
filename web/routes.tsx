// Which path shows which page. Each page is loaded when it is first opened, or soon after the first (parts/later.tsx); src/http/pages.ts knows the same paths.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { mayBeLoggedIn } from './api/session.ts';
import { later } from './parts/later.tsx';
import { Fault, FaultPage, MissingPage } from './parts/lost.tsx';

type Search = Readonly<Record<string, string | undefined>>;
/** Filters stand in the address as they are: texts. What a page does not know it does not use. */
const texts = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    // A link that takes a filter away says so by undefined.
    Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

const root = createRootRoute({
  component: Outlet,
  validateSearch: texts,
  notFoundComponent: MissingPage,
});

/** A stranger at `/` sees what Fillpath is; anywhere else the way in, and back from it. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  // Who is outside, perhaps for good, does not load it.
  component: lazyRouteComponent(() => import('./parts/frame.tsx'), 'Frame'),
  beforeLoad({ location }) {
    if (mayBeLoggedIn()) return;
    if (location.pathname === '/') throw redirect({ to: '/welcome' });
    throw redirect({ to: '/login', search: { next: location.href } });
  },
});

const page = (path: string, load: Parameters<typeof later>[0]) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    component: later(load),
    errorComponent: Fault,
  });
const outside = (path: string, load: () => Promise<{ default: () => unknown }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load as never) });

const tree = root.addChildren([
  inside.addChildren([
    page('/', () => import('./pages/today/today.tsx')),
    page('/signals', () => import('./pages/signals/signals.tsx')),
    page('/signals/$id', () => import('./pages/story/signal-story.tsx')),
    page('/orders/$id', () => import('./pages/story/order-story.tsx')),
    page('/protections/$id', () => import('./pages/protection/protection-story.tsx')),
    page('/positions', () => import('./pages/positions/positions.tsx')),
    page('/performance', () => import('./pages/performance/performance.tsx')),
    page('/trades', () => import('./pages/trades/trades.tsx')),
    page('/trades/$id', () => import('./pages/trades/trade-story.tsx')),
    page('/accounts', () => import('./pages/accounts/accounts.tsx')),
    page('/accounts/$id', () => import('./pages/accounts/accounts.tsx')),
    page('/groups', () => import('./pages/groups/groups.tsx')),
    page('/groups/$id', () => import('./pages/groups/groups.tsx')),
    page('/check', () => import('./pages/check/check.tsx')),
    page('/security', () => import('./pages/security/security.tsx')),
    page('/notifications', () => import('./pages/notifications/notifications.tsx')),
    page('/operation', () => import('./pages/operation/operation.tsx')),
  ]),
  outside('/welcome', () => import('./pages/landing/landing.tsx')),
  outside('/login', () => import('./pages/enter/login.tsx')),
  outside('/register', () => import('./pages/enter/register.tsx')),
  outside('/forgot-password', () => import('./pages/enter/forgot-password.tsx')),
  outside('/reset-password', () => import('./pages/enter/reset-password.tsx')),
  outside('/verify-email', () => import('./pages/enter/verify-email.tsx')),
  outside('/terms', () => import('./pages/enter/terms.tsx')),
]);

export const router = createRouter({
  routeTree: tree,
  defaultErrorComponent: FaultPage,
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given as [string, string][]).toString();
    return text && `?${text}`;
  },
});
