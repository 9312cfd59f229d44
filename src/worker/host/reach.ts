// Whether this process reaches what its workers can do nothing without. One that does not, while others do, is of no use to its
// users: it was refused a connection to the database, or the way there is closed to it alone.

export interface Reach {
  /** No answer came for so long that it is no hiccup. */
  isCut(): boolean;
  stop(): void;
}

const ASK_EVERY_MS = 1_000;
/** By number: a process that stood still was not told, and is to ask first. */
const MOST_UNANSWERED = 5;

/** `ask` rejects, or is silent, where there is no way. */
export function watchReach(ask: () => Promise<unknown>, everyMs = ASK_EVERY_MS): Reach {
  let unanswered = 0;
  let isAsking = false;
  const asking = setInterval(() => {
    unanswered++;
    if (isAsking) return;
    isAsking = true;
    ask()
      .then(
        () => {
          unanswered = 0;
        },
        () => {},
      )
      .finally(() => {
        isAsking = false;
      });
  }, everyMs).unref();
  return { isCut: () => unanswered > MOST_UNANSWERED, stop: () => clearInterval(asking) };
}
