// The stream tells of changes at once; where it is cut, a story that is not over asks for itself.

import type { Schemas } from '../../api/client.ts';

const SOON_MS = 2_000;
const LATER_MS = 10_000;
const OPEN: Readonly<Record<string, number>> = {
  queued: SOON_MS,
  executing: SOON_MS,
  unknown: LATER_MS,
  placed: LATER_MS,
  partially_filled: LATER_MS,
};

export const whileUnderWay = {
  refetchInterval: ({ state }: { state: { data: Schemas['OrderRecord'] | undefined } }): number | false =>
    OPEN[state.data?.status ?? ''] ?? false,
};
