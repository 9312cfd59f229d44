// Which of the pages a user may see, and at which of them one is.

import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { ownSession } from '../api/queries.ts';
import { FOR_ALL, PLACES, type Place } from './places.ts';

/** Those that the user may see. */
export function usePlaces(): readonly Place[] {
  const { data: isAdmin = false } = useQuery({ ...ownSession, select: ({ user }) => user.is_admin });
  return isAdmin ? PLACES : FOR_ALL;
}

/** What has an address of its own, and belongs to a page. */
const BELONGS: Readonly<Record<string, string>> = { '/orders': '/signals', '/protections': '/positions' };

/** Which of them one is at; -1 at none. */
export function useWhere(places: readonly Place[]): number {
  const root = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1] ?? ''}` });
  const at = BELONGS[root] ?? root;
  return places.findIndex(({ to }) => to === at);
}
