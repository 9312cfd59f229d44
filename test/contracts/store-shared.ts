// The parts of the store's contract stand in files of their own; this is what each of them is given.

import type { Store } from '../../src/store/store.ts';

export interface Shared {
  readonly store: () => Store;
  readonly newKey: () => string;
  readonly holdsAfter: <T>(ms: number, start: () => Promise<T>, holds: () => Promise<boolean>) => Promise<T>;
}
