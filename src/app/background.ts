// Work that nobody waits for: what comes round by itself, and what is done after the answer.

export interface Background {
  /** No further round begins; those under way are waited for. */
  stop(): Promise<void>;
}

/** A round does not wait for the one before: the tasks themselves see to it that nothing is done twice. */
export function every(
  ms: number,
  task: () => Promise<unknown>,
  log: { error(context: object, text: string): void },
): Background {
  const underWay = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    const round = task()
      .catch((fault: unknown) => log.error({ fault }, 'a background task failed; it will be tried again'))
      .finally(() => underWay.delete(round));
    underWay.add(round);
  }, ms);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

export interface Afterwards {
  /** Begins the task once the answer that is being made has left. */
  begin(task: () => Promise<unknown>): void;
  /** Resolves when everything begun so far has ended, or after `patienceMs`: no such task is worth a longer wait. */
  settled(patienceMs: number): Promise<void>;
}

export function afterwards(log: { error(context: object, text: string): void }): Afterwards {
  const underWay = new Set<Promise<unknown>>();
  return {
    begin(task) {
      const work = new Promise((resolve) => setImmediate(resolve))
        .then(task)
        .catch((fault: unknown) => log.error({ fault }, 'a task after the answer failed'))
        .finally(() => underWay.delete(work));
      underWay.add(work);
    },
    settled: (patienceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          log.error(
            { tasks: underWay.size },
            'tasks after the answer take too long; they are not waited for',
          );
          resolve();
        }, patienceMs);
        void Promise.all(underWay).then(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
