// A part that does not answer is told apart from a bug: it is a denial that asks for another try.

import { DatabaseUnavailable, ListTooSlow } from '../data/engine/db.ts';
import { type Denial, deny } from '../domain/denial.ts';
import { StoreUnavailable } from '../store/store.ts';

export function unavailability(fault: unknown): Denial | null {
  if (fault instanceof DatabaseUnavailable) return deny('database_unavailable');
  if (fault instanceof ListTooSlow) return deny('list_too_slow');
  if (fault instanceof StoreUnavailable) return deny('store_unavailable');
  return null;
}
