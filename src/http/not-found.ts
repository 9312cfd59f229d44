// A request that no route takes: whether there is nothing at its address, or only nothing for its method.

import { type Denial, deny } from '../domain/denial.ts';
import type { Route } from './guards.ts';

/** By the route's pattern alone: whether such an account or order exists is not asked. */
export function nothingAt(
  routes: readonly Pick<Route, 'method' | 'url'>[],
  { method, url }: { readonly method: string; readonly url: string },
): Denial {
  const path = url.replace(/[?#].*$/s, '');
  const methods = routes
    .filter((route) => route.method !== 'HEAD' && patternOf(route.url).test(path))
    .map((route) => route.method);
  if (methods.length === 0) return deny('not_found');
  return deny('not_found', {
    detail: `There is nothing for ${method.slice(0, 16)} at this address: it takes ${methods.join(', ')}.`,
    advice: `Use ${methods.join(' or ')}.`,
  });
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`);
