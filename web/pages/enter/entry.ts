// What happens once somebody is in: the tab is theirs, the other tabs hear of it, and they go on to where they were going.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { announceEntry, enter } from '../../api/session.ts';
import { wayOn } from './ways.ts';

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
    void navigate({ href, replace: true });
  };
}
