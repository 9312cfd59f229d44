// The stream tells of changes at once; where it is cut, a story that is not over asks for itself.

import type { components } from '../../api/schema.ts';

type Order = components['schemas']['OrderRecord'];

const SOON_MS = 2_000;
const LATER_MS = 10_000;
const SOON = new Set(['queued', 'executing']);
const ENDED = new Set(['filled', 'done', 'rejected', 'failed', 'cancelled', 'expired']);

/** Of a status that is newer than this page nobody knows whether it is the last. */
export function askAgainMs(status: string | undefined): number | false {
  if (status === undefined || ENDED.has(status)) return false;
  return SOON.has(status) ? SOON_MS : LATER_MS;
}

export const whileUnderWay = {
  refetchInterval: ({ state }: { state: { data: Order | undefined } }): number | false =>
    askAgainMs(state.data?.status),
};
