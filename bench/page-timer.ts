// How long a page takes from an input to what it shows, measured inside the page: by its own clock, from the browser's time
// of the input, to the frame that was painted. Beside it, what of that time the page itself worked, by its thread's
// processor time: on a machine that others use, too, the rest is theirs.

import type { Page } from 'playwright-core';

/** In ms since the input. */
export interface Reaction {
  /** The next frame: the page has answered, if only by saying that it waits. */
  readonly painted: number;
  /** The frame with what was asked for in it, the service's answers included. */
  readonly shown: number;
  /** What the page's own thread did for it: scripts, styles, layout, painting. Waiting and others' work are not in it. */
  readonly work: number;
}

export interface Timer {
  /** `shown`: an expression of the page's own. */
  press(key: string, shown?: string): Promise<Reaction>;
  /** To what is no key's: the browser's own button. */
  call(expression: string, shown: string): Promise<Reaction>;
  /** Until what was set off before is drawn. */
  rest(): Promise<unknown>;
  /** Since they were last asked for: those over 50 ms, in ms. */
  longTasks(): Promise<number[]>;
}

/** A text, because it runs there and not here. A task that a frame posts runs when that frame is painted. */
const TIMER = `(() => {
  const afterPaint = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(null);
  });
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' });
  const reactionFrom = (begun, isShown) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('never shown: ' + isShown)), 60_000);
    let painted = null;
    const look = () => afterPaint((now) => {
      painted ??= now - begun;
      if (wasShown) resolve({ painted, shown: now - begun });
      else look();
    });
    let wasShown = false;
    const check = () => {
      wasShown = isShown();
      if (!wasShown) requestAnimationFrame(check);
    };
    requestAnimationFrame(check);
    look();
  });
  window.timer = {
    longTasks: () => tasks.splice(0),
    // A frame; what comes to be seen in it is told after it, and drawn in the next.
    rest: () => new Promise((resolve) => afterPaint(() => afterPaint(() => requestIdleCallback(resolve)))),
    expectKey(isShown) {
      timer.reaction = new Promise((resolve) =>
        addEventListener('keydown', ({ timeStamp }) => resolve(reactionFrom(timeStamp, isShown)),
          { capture: true, once: true }));
    },
    of(act, isShown) {
      timer.reaction = reactionFrom(performance.now(), isShown);
      act();
    },
  };
})()`;

/** Before the page goes anywhere. */
export async function openTimer(page: Page): Promise<Timer> {
  await page.addInitScript(TIMER);
  const debug = await page.context().newCDPSession(page);
  await debug.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => {
    const { metrics } = await debug.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  const during = async (act: () => Promise<unknown>): Promise<Reaction> => {
    const before = await worked();
    await act();
    const reaction = (await page.evaluate('timer.reaction')) as Omit<Reaction, 'work'>;
    return { ...reaction, work: (await worked()) - before };
  };
  return {
    async press(key, shown = 'true') {
      await page.evaluate(`timer.expectKey(() => ${shown})`);
      return during(() => page.keyboard.press(key));
    },
    call: (expression, shown) => during(() => page.evaluate(`timer.of(() => ${expression}, () => ${shown})`)),
    rest: () => page.evaluate('timer.rest()'),
    longTasks: async () => (await page.evaluate('timer.longTasks()')) as number[],
  };
}
