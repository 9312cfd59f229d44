// For what must not wait for something: the time that passed while this process was served. On a machine with too little for
// all, a stretch in which nothing ran at all is nobody's waiting.

const EVERY_MS = 10;
/** The rest of a longer stretch was given to others. */
const MOST_MS = 2 * EVERY_MS;

/** The milliseconds since then, when it is asked. */
export function stopwatch(): () => number {
  let passed = 0;
  let last = performance.now();
  function tick(): void {
    const now = performance.now();
    passed += Math.min(now - last, MOST_MS);
    last = now;
  }
  const timer = setInterval(tick, EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    tick();
    return passed;
  };
}
