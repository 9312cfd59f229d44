// Work that comes round by itself.

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
