// The service counts a user's requests. The demo keeps within what is allowed, and leaves room for the visitor's own.

/** The part of the allowance that the demo takes. */
const SHARE = 0.75;

export interface Pace {
  /** Resolves when one more request is well within the limit. */
  turn(): Promise<void>;
}

export function createPace({
  limit,
  now,
  wait,
}: {
  readonly limit: { readonly requests: number; readonly windowMs: number };
  now(): number;
  wait(ms: number): Promise<void>;
}): Pace {
  const most = Math.max(1, Math.floor(limit.requests * SHARE));
  const taken: number[] = [];
  return {
    async turn() {
      for (;;) {
        const since = now() - limit.windowMs;
        while (taken[0] !== undefined && taken[0] <= since) taken.shift();
        if (taken.length < most) break;
        await wait((taken[0] ?? since) - since);
      }
      taken.push(now());
    },
  };
}
