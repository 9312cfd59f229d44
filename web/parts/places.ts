// The pages inside: a page is added by one line here, and by one in web/routes.tsx. They stand in the order in which the
// masthead gives them room: the first three also at the thumb, the rest under More.

import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { ownSession } from '../api/queries.ts';

export interface Place {
  readonly to: string;
  readonly name: string;
  /** After `g`. */
  readonly key: string;
  readonly isForAdmins?: true;
}

const PLACES: readonly Place[] = [
  { to: '/', name: 'Today', key: 't' },
  { to: '/signals', name: 'Signals', key: 's' },
  { to: '/positions', name: 'Positions', key: 'p' },
  { to: '/trades', name: 'Trades', key: 'd' },
  { to: '/accounts', name: 'Accounts', key: 'a' },
  { to: '/performance', name: 'Performance', key: 'f' },
  { to: '/groups', name: 'Groups', key: 'r' },
  { to: '/check', name: 'Check', key: 'c' },
  { to: '/notifications', name: 'Notifications', key: 'n' },
  { to: '/security', name: 'Security', key: 'y' },
  { to: '/operation', name: 'Operation', key: 'o', isForAdmins: true },
];
const FOR_ALL = PLACES.filter(({ isForAdmins }) => !isForAdmins);

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
