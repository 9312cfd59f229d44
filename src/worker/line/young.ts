// What was answered a moment ago, and what is being asked: who wants the same does not ask again.

export interface Young {
  get<T>(
    question: string,
    ask: () => Promise<T>,
    options?: {
      /** Another one is given to those who wait for it, and is not kept. */
      isGood?(answer: T): boolean;
      /** Of what somebody else asked: it failed for who that is, and this one asks for himself. */
      isTheirs?(fault: unknown): boolean;
    },
  ): Promise<T>;
}

/** What is young of an account, of prices and of lists. */
const YOUNG_MS = 1_000;

interface Asked {
  readonly at: number;
  readonly answer: Promise<unknown>;
  isAnswered: boolean;
}

interface YoungOptions {
  /** From when it was asked. */
  readonly youngMs?: number;
  /** No more answers are kept: those that were asked for first go. */
  readonly most?: number;
}

export function createYoung(
  now: () => number = () => performance.now(),
  { youngMs = YOUNG_MS, most = Number.POSITIVE_INFINITY }: YoungOptions = {},
): Young {
  const asked = new Map<string, Asked>();

  /** Those that were asked first stand first. */
  function forgetOld(): void {
    for (const [question, { at, isAnswered }] of asked) {
      if (now() - at < youngMs && asked.size <= most) return;
      if (isAnswered) asked.delete(question);
    }
  }

  function begin<T>(question: string, ask: () => Promise<T>, isGood: (answer: T) => boolean): Promise<T> {
    const answer = ask();
    const entry: Asked = { at: now(), answer, isAnswered: false };
    asked.set(question, entry);
    const end = (isKept: boolean) => {
      entry.isAnswered = true;
      if (!isKept && asked.get(question) === entry) asked.delete(question);
    };
    answer.then(
      (given) => end(isGood(given)),
      () => end(false),
    );
    return answer;
  }

  return {
    async get(question, ask, { isGood = () => true, isTheirs = () => false } = {}) {
      for (;;) {
        forgetOld();
        const known = asked.get(question);
        if (!known) return begin(question, ask, isGood);
        try {
          return (await known.answer) as Awaited<ReturnType<typeof ask>>;
        } catch (fault) {
          if (!isTheirs(fault)) throw fault;
        }
      }
    },
  };
}
