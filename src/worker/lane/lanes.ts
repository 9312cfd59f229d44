// One lane per name: what is put on it runs one after the other, in that order. Lanes do not wait for each other, and one
// that is empty is gone.

export interface Lanes {
  /** Runs the work after what stands on the lane, and answers with its outcome. */
  run<T>(lane: string, work: () => Promise<T>): Promise<T>;
  isBusy(): boolean;
  /** Ends when every lane is empty. */
  drained(): Promise<void>;
}

export function createLanes(): Lanes {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(lane, work) {
      const before = last.get(lane) ?? Promise.resolve();
      const outcome = before.then(work);
      const over: Promise<void> = outcome
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          if (last.get(lane) === over) last.delete(lane);
        });
      last.set(lane, over);
      return outcome;
    },
    isBusy: () => last.size > 0,
    async drained() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
