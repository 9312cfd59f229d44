// Answers that come late, and in another order than they were asked for, move nothing that is already there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Route } from 'playwright-core';
import { logIn, onStage } from './stage.ts';

/** Of a page that is good by the common measure it is 0.1. */
const MOST = 0.05;
const SLOWEST_MS = 500;
/** Those for which it holds at each width; the others move by a little more yet. */
const ON_ALL = ['/', '/performance', '/accounts', '/groups', '/check'];
const PAGES: Readonly<Record<number, readonly string[]>> = {
  1280: [...ON_ALL, '/signals', '/positions', '/notifications', '/operation'],
  768: [...ON_ALL, '/signals'],
  390: ON_ALL,
};

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

/** By its path, so that each run is like the one before. */
const delayOf = (path: string): number =>
  [...path].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % SLOWEST_MS, 7);

interface Shift {
  readonly value: number;
  readonly what: readonly string[];
}

const assertStill = (shifted: readonly Shift[]) => {
  const sum = shifted.reduce((all, { value }) => all + value, 0);
  assert.ok(sum < MOST, `${sum.toFixed(3)}: ${JSON.stringify(shifted, null, 2)}`);
};

async function answerLate(route: Route): Promise<void> {
  const request = route.request();
  if (request.resourceType() === 'fetch') await sleep(delayOf(new URL(request.url()).pathname));
  await route.continue().catch(() => {});
}

await onStage('when answers are slow', async ({ stage, visitor, page, open }) => {
  const account = await stage.makeAccount({ name: 'Lab' });
  for (const symbol of ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'])
    for (const quantity of [1, 2, 3]) await stage.signal(account, { action: 'buy', symbol, quantity });
  const stance = { market_position: 'long', market_position_size: 2 };
  await stage.signal(account, { action: 'sync', symbol: 'XRPUSDT', ...stance });
  await logIn(page, stage);
  await visitor.settled();
  await page.addInitScript(NOTE_SHIFTS);
  const openLate = async (path: string): Promise<Shift[]> => {
    await page.route('**/*', answerLate);
    await open(path);
    await page.unrouteAll({ behavior: 'wait' });
    return page.evaluate('shifted');
  };

  for (const [width, paths] of Object.entries(PAGES))
    for (const path of paths)
      test(`${path} stays where it is in a window of ${width} px`, async () => {
        await page.setViewportSize({ width: Number(width), height: 900 });
        // Whoever was here before finds the room that was needed then.
        await open(path);
        await page.evaluate(ROOMS_ARE_KEPT);
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
