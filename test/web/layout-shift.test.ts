// Answers that come late, and in another order than they were asked for, move nothing that is already there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLACES } from '../../web/parts/places.ts';
import { LONGEST_MS } from '../../web/parts/together.ts';
import { logIn, onStage } from './stage.ts';

/** Of a page that is good by the common measure it is 0.1. */
const MOST = 0.05;
const SLOWEST_MS = 400;
const WIDTHS = [390, 768, 1280];
const PAGES = PLACES.map(({ to }) => to);

/** Whoever waits no longer shows what is there: how slow this machine is must not count. */
const WAIT_ON = `
  const later = setTimeout;
  window.setTimeout = (what, ms, ...given) => later(what, ms === ${LONGEST_MS} ? 120_000 : ms, ...given);`;

/** Notes what moves without having been asked to. */
const NOTE_SHIFTS = `
  window.shifted = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifted.push({ value, what: sources.map(({ node }) => (node?.outerHTML ?? '').slice(0, 90)) });
  }).observe({ type: 'layout-shift', buffered: true });`;

const ROOMS_ARE_KEPT = `new Promise((resolve) => {
  const look = () => (Object.keys(JSON.parse(localStorage.getItem('fillpath.rooms') ?? '{}'))
    .includes(location.pathname + ' ' + innerWidth) ? resolve() : setTimeout(look, 20));
  look();
})`;

/**
 * Each answer comes late: by its path, so that each run is like the one before. In the page itself, because a browser whose requests are
 * all led through here keeps nothing of what it has loaded. \`late\`: how many are still to come.
 */
const ANSWER_LATE = `
  window.late = 0;
  const soon = window.fetch;
  const afterwards = window.setTimeout;
  const delayOf = (path) => [...path].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % ${SLOWEST_MS}, 7);
  window.fetch = async (what, ...given) => {
    late++;
    try {
      const answer = soon.call(window, what, ...given);
      // Who breaks it off, or gets no answer, hears of that at once.
      await Promise.all([answer, new Promise((resolve) =>
        afterwards.call(window, resolve, delayOf(new URL(what.url ?? what, location.href).pathname)))]);
      return await answer;
    } finally {
      // What it leads to is asked for before.
      afterwards.call(window, () => late--, 0);
    }
  };`;

/** Nothing is late any more, and nothing is asked for again. */
const NOTHING_IS_LATE = `new Promise((resolve) => {
  const look = () => (late === 0 ? resolve() : requestAnimationFrame(look));
  look();
})`;

interface Shift {
  readonly value: number;
  readonly what: readonly string[];
}

const assertStill = (shifted: readonly Shift[]) => {
  const sum = shifted.reduce((all, { value }) => all + value, 0);
  assert.ok(sum < MOST, `${sum.toFixed(3)}: ${JSON.stringify(shifted, null, 2)}`);
};

await onStage('when answers are slow', async ({ stage, visitor, page, open }) => {
  const account = await stage.makeAccount({ name: 'Lab' });
  for (const symbol of ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'])
    for (const quantity of [1, 2, 3]) await stage.signal(account, { action: 'buy', symbol, quantity });
  const stance = { market_position: 'long', market_position_size: 2 };
  await stage.signal(account, { action: 'sync', symbol: 'XRPUSDT', ...stance });
  await stage.signal(account, { action: 'sell', symbol: 'BTCUSDT', quantity: 6 });
  await logIn(page, stage);
  await visitor.settled();
  await page.addInitScript(NOTE_SHIFTS);
  await page.addInitScript(WAIT_ON);
  await page.addInitScript(ANSWER_LATE);
  /** A trade is there once its last order is filled. */
  const newest = async (what: string): Promise<string> => {
    for (;;) {
      const { items } = await stage.call<{ items: { id: string }[] }>(`/trading/${what}?limit=1`);
      if (items[0]) return items[0].id;
      await sleep(20);
    }
  };
  const stories = [`/signals/${await newest('signals')}`, `/trades/${await newest('trades')}`];
  const openLate = async (path: string): Promise<Shift[]> => {
    await open(path);
    for (let isStill = false; !isStill; isStill = (await page.evaluate('late')) === 0) {
      await page.evaluate(NOTHING_IS_LATE);
      await visitor.settled();
    }
    return page.evaluate('shifted');
  };

  for (const width of WIDTHS)
    for (const path of [...PAGES, ...stories])
      test(`${path.replace(/[^/]*-.*/, '…')} stays where it is in a window of ${width} px`, async () => {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate('localStorage.removeItem("fillpath.rooms")');
        assertStill(await openLate(path));
        // Whoever was here before finds the room that was needed then.
        if (PAGES.includes(path)) await page.evaluate(ROOMS_ARE_KEPT);
        assertStill(await openLate(path));
      });

  test('a window that was made narrower, and left, stays where it is when it is wide again', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open('/');
    await page.evaluate(ROOMS_ARE_KEPT);
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto('about:blank');
    await page.setViewportSize({ width: 1280, height: 900 });
    assertStill(await openLate('/'));
  });
});
