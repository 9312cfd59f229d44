// What is told of a change of a protection: a line of its own history, and, where its owner is to know, an entry in the audit log.

import type { Decimal } from '../decimal.ts';
import type { Protection } from './protection.ts';

export interface HistoryLine {
  readonly what: string;
  readonly from: Decimal | null;
  readonly to: Decimal | null;
  /** An order's id, or what moved it. */
  readonly by: string | null;
}

export type ProtectionAction =
  | 'protection_set'
  | 'protection_removed'
  | 'protection_triggered'
  | 'protection_restored'
  | 'protection_failed'
  | 'position_unprotected'
  | 'position_unprotected_ended';

export interface Told {
  readonly history: readonly HistoryLine[];
  readonly audit: readonly ProtectionAction[];
}

export function changesOf(before: Protection, after: Protection): Told {
  const history: HistoryLine[] = [];
  const audit: ProtectionAction[] = [];
  const [from, to] = [before.stop?.price ?? null, after.stop?.price ?? null];
  const isSet = before.adopted?.order !== after.adopted?.order;
  if (isSet) {
    history.push({ what: 'set', from, to, by: after.setBy });
    const isRemoved = after.stop === null && after.targets.length === 0 && after.timeStopAt === null;
    audit.push(isRemoved ? 'protection_removed' : 'protection_set');
  } else if (from !== to) {
    const by = after.stop?.kind === before.stop?.kind ? after.setBy : (after.stop?.kind ?? null);
    history.push({ what: 'moved', from, to, by: after.stop?.kind === 'stop_loss' ? after.setBy : by });
  }
  if (after.restoredAt.at(-1) !== before.restoredAt.at(-1) && after.restoredAt.length > 0) {
    history.push({ what: 'restored', from: null, to, by: null });
    audit.push('protection_restored');
  }
  if (after.refused !== null && after.refused.lastAt !== before.refused?.lastAt) {
    history.push({ what: 'refused', from: null, to, by: after.refused.words });
    if (before.refused === null) audit.push('protection_failed');
  }
  if (after.state !== before.state) {
    history.push({ what: after.state, from: null, to, by: after.state === 'ended' ? after.reason : null });
    if (after.state === 'unprotected') audit.push('position_unprotected');
    else if (before.state === 'unprotected') audit.push('position_unprotected_ended');
  }
  return { history, audit };
}
