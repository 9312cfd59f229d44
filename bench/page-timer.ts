// How long a page takes from an input to what it shows, measured inside the page: by its own clock, from the browser's time
// of the input, to the frame that was painted.

import type { Page } from 'playwright-core';

/** In ms since the input. */
export interface Reaction {
  /** The next frame: the page has answered, if only by saying that it waits. */
  readonly painted: number;
  /** The frame with what was asked for in it, the service's answers included. */
  readonly shown: number;
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
    setTimeout(() => reject(new Error('never shown: ' + isShown)), 10_000);
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
export const installTimer = (page: Page): Promise<unknown> => page.addInitScript(TIMER);

/** `shown`: an expression of the page's own. */
export async function reactionTo(page: Page, key: string, shown = 'true'): Promise<Reaction> {
  await page.evaluate(`timer.expectKey(() => ${shown})`);
  await page.keyboard.press(key);
  return (await page.evaluate('timer.reaction')) as Reaction;
}

/** To what is no key's: the browser's own button. */
export async function reactionToCall(page: Page, call: string, shown: string): Promise<Reaction> {
  await page.evaluate(`timer.of(() => ${call}, () => ${shown})`);
  return (await page.evaluate('timer.reaction')) as Reaction;
}

/** Since they were last asked for: those over 50 ms, in ms. */
export const longTasks = async (page: Page): Promise<number[]> =>
  (await page.evaluate('timer.longTasks()')) as number[];
