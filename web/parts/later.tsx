// A page's code comes when the page is first opened, and that of all others soon after: a service that goes away takes no page
// with it. What did not come is asked for again, and never by loading the document anew while nobody answers: that would end
// on the browser's own page, without the kill switch.

import { type ComponentType, type ReactNode, Suspense, use, useEffect } from 'react';
import { Unreachable } from '../api/problem.ts';
import { useLiveness } from '../live/live.tsx';

type Load = () => Promise<{ readonly default: ComponentType }>;

interface Code {
  /** It never fails: who shows the page says what is missing. */
  load(): Promise<void>;
  /** What did not come may be asked for again. */
  forget(): void;
}
const pages: Code[] = [];

export function later(load: Load): (() => ReactNode) & { preload(): Promise<void> } {
  let Shown: ComponentType | null = null;
  let underWay: Promise<void> | null = null;
  let reason: unknown = null;
  /** Of the reason. It is asked for where the page is shown: nobody's page is loaded anew for one that is only brought ahead. */
  let judged: Promise<void> | null = null;
  let fault: unknown = null;
  const code: Code = {
    load: () =>
      (underWay ??= load().then(
        ({ default: page }) => {
          Shown = page;
        },
        (why) => {
          reason = why;
        },
      )),
    forget() {
      if (reason === null) return;
      reason = fault = judged = underWay = null;
    },
  };
  pages.push(code);

  function Inside() {
    if (!Shown && reason === null) use(code.load());
    if (Shown) return <Shown />;
    judged ??= faultOf(reason).then((found) => {
      fault = found;
    });
    if (fault === null) use(judged);
    throw fault;
  }
  const Later = () => (
    <Suspense>
      <Inside />
    </Suspense>
  );
  return Object.assign(Later, {
    preload() {
      code.forget();
      return code.load();
    },
  });
}

const RELOADED = 'fillpath.reloaded';

/** Somebody answers, and has no such piece: there is a newer version, which the document leads to. Once, whatever it is. */
async function faultOf(reason: unknown): Promise<unknown> {
  const answers = await fetch('/health', { cache: 'no-store' }).then(
    () => true,
    () => false,
  );
  if (!answers) return new Unreachable();
  if (sessionStorage.getItem(RELOADED) === String(reason)) return reason;
  sessionStorage.setItem(RELOADED, String(reason));
  location.reload();
  return new Promise(() => {});
}

/** What opens over any page comes before the other pages; failed, it is loaded again when it is opened. */
export const bringAhead = (load: () => Promise<unknown>): void =>
  void pages.unshift({ load: () => load().then(nothing, nothing), forget: nothing });

const nothing = (): void => {};

export function forgetMissing(): void {
  for (const page of pages) page.forget();
}

/** The first page is there by then, with all that it asks for. */
const SOON_MS = 2_000;
/** On a page that is never idle they are loaded all the same. */
const AT_LATEST_MS = 5_000;

const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Not every browser has it.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: AT_LATEST_MS });
    else setTimeout(resolve, SOON_MS / 10);
  });

/** Has the code of all pages brought, one after the other, while nobody needs the line for something else; and what did not come, once the service is back. */
export function Ahead() {
  const { isLive } = useLiveness();
  useEffect(() => {
    if (!isLive) return;
    let isLeft = false;
    const timer = setTimeout(async () => {
      for (const page of pages) {
        await whenIdle();
        if (isLeft) return;
        await page.load();
        page.forget();
      }
    }, SOON_MS);
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [isLive]);
  return null;
}
