// The pages inside: a page is added by one line here, and by one in web/routes.tsx. They stand in the order in which the
// masthead gives them room: the first three also at the thumb, the rest under More.

export interface Place {
  readonly to: string;
  readonly name: string;
  /** After `g`. */
  readonly key: string;
  readonly isForAdmins?: true;
}

export const PLACES: readonly Place[] = [
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
export const FOR_ALL = PLACES.filter(({ isForAdmins }) => !isForAdmins);
