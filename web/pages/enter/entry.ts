// What happens once somebody is in: the tab is theirs, the other tabs hear of it, and they go on to where they were going.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { announceEntry, enter } from '../../api/session.ts';
import { hasForeignScript } from './challenge.tsx';
import { wayOn } from './ways.ts';

/** What another page of entry tells the login, in the history's state: in no address. */
export interface Arrival {
  readonly email?: string;
  readonly said?: 'registered' | 'check_mail' | 'password_set';
}

export function useWayOn(): string {
  const { next } = useSearch({ strict: false }) as { next?: string };
  return wayOn(next, location.origin);
}

export function useEntry(): (csrfToken: string) => void {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const href = useWayOn();
  return (csrfToken) => {
    // Whoever was here before: nothing of theirs is shown.
    queries.clear();
    enter(csrfToken);
    announceEntry();
    // The provider's script would see all that is done here: a page of our own is begun without it.
    if (hasForeignScript()) location.replace(href);
    else void navigate({ href, replace: true });
  };
}
