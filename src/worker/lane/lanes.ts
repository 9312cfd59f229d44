// One lane per name: what is put on it runs one after the other, in that order. Lanes do not wait for each other, and one
// that is empty is gone. Whoever has to wait for long may step aside, and lets others have the lane meanwhile.

export interface Turn {
  /** Others have the lane while this is waited for; after it, whoever stepped aside comes before those that have not begun. */
  aside<T>(wait: () => Promise<T>): Promise<T>;
}

export interface Lanes {
  /** Runs the work after what stands on the lane, and answers with its outcome. */
  run<T>(lane: string, work: (turn: Turn) => Promise<T>): Promise<T>;
  isBusy(): boolean;
  /** Ends when every lane is empty. */
  drained(): Promise<void>;
}

interface Lane {
  isTaken: boolean;
  /** Who stepped aside counts too. */
  members: number;
  readonly returning: (() => void)[];
  readonly waiting: (() => void)[];
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<unknown>>();

  function enter(lane: Lane, queue: (() => void)[]): Promise<void> | undefined {
    if (lane.isTaken) return new Promise((resolve) => queue.push(resolve));
    lane.isTaken = true;
    return undefined;
  }

  function leave(lane: Lane): void {
    const next = lane.returning.shift() ?? lane.waiting.shift();
    // The lane is handed over, and is never free in between.
    if (next) next();
    else lane.isTaken = false;
  }

  async function take<T>(name: string, work: (turn: Turn) => Promise<T>): Promise<T> {
    const lane = lanes.get(name) ?? { isTaken: false, members: 0, returning: [], waiting: [] };
    lanes.set(name, lane);
    lane.members++;
    try {
      await enter(lane, lane.waiting);
      try {
        return await work({
          async aside(wait) {
            leave(lane);
            try {
              return await wait();
            } finally {
              await enter(lane, lane.returning);
            }
          },
        });
      } finally {
        leave(lane);
      }
    } finally {
      if (--lane.members === 0) lanes.delete(name);
    }
  }

  return {
    run(name, work) {
      const outcome = take(name, work);
      const over: Promise<unknown> = outcome
        .catch(() => {})
        .finally(() => {
          running.delete(over);
        });
      running.add(over);
      return outcome;
    },
    isBusy: () => running.size > 0,
    async drained() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
