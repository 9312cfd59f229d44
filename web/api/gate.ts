// Lets so many through at once; the others wait in the order in which they came, and leave when they are no longer wanted.

export type Gate = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export function openGate(most: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (inside < most) {
      inside += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(next);
        reject(signal.reason);
      };
      // The place is handed over: whoever came later cannot take it in between.
      const next = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      waiting.add(next);
      signal.addEventListener('abort', leave, { once: true });
    });
  };

  const leave = () => {
    const [next] = waiting;
    if (next === undefined) inside -= 1;
    else {
      waiting.delete(next);
      next();
    }
  };

  return async (signal, work) => {
    await enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
