// npm run screenshots: pictures of every page with data, empty, loading and in trouble, light and dark, from a phone's
// width to a wide desktop's, in screenshots/. To be looked at: no machine says whether a page is ugly. With names (`-- today story`) of those alone;
// with `-- --readme` the two that open the README, in docs/pictures/.
//
// A page is opened once for each state and pictured in all its looks: the same page has to stand in all of them.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { openExchange, partsOf, playFortnight, timesBefore } from './believable-day.ts';
import { openExchanges, type ProtectedDay, playProtected, protectedParts } from './protected-day.ts';
import { inOrder, inTrouble, OUTSIDE, protectedOnes, type Sitting } from './sittings.ts';
import { openBrowser, openStage, type Stage, scrollsSideways } from './stage.ts';

const PICTURES = join(import.meta.dirname, '../../screenshots');
const README_PICTURES = join(import.meta.dirname, '../../docs/pictures');
const IN_README = new Set(['today', 'story']);
const wanted = process.argv.slice(2);
const isForReadme = wanted.includes('--readme');
const THEMES = ['light', 'dark'] as const;
const BOTH_ENDS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;
const DEVICES = {
  ...BOTH_ENDS,
  tablet: { width: 768, height: 1024 },
  laptop: { width: 1024, height: 768 },
  wide: { width: 1920, height: 1080 },
} as const;
/** Pictures that are taken side by side. */
const LANES = 3;
/** Skeletons show themselves after 300 ms. */
const STALLED_MS = 600;

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** What the frame itself needs: a page that waits or fails still stands in it. */
const FRAME = /\/(?:auth\/session|public\/config|trading\/orders\/stream)(?:\?|$)/;

const PROBLEM = {
  type: 'about:blank',
  title: 'The database is unavailable',
  status: 503,
  detail: 'Nothing was read, and nothing was changed.',
  code: 'database_unavailable',
  request_id: '01981f0e-7c52-7b1e-9a55-3f0d2c44aa01',
};

const answersOf = (state: NonNullable<Sitting['state']>) => async (route: Route) => {
  const request = route.request();
  const isAsked = request.resourceType() === 'fetch' && !FRAME.test(request.url());
  if (!isAsked) return route.fallback();
  // One that is loading is never answered.
  if (state === 'error')
    await route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify(PROBLEM),
    });
};

function looksOf({ name, state }: Sitting) {
  if (isForReadme)
    return [
      { viewport: DEVICES.desktop, colorScheme: THEMES[0], file: join(README_PICTURES, `${name}.png`) },
    ];
  // What waits or has failed looks much the same in between.
  return Object.entries(state ? BOTH_ENDS : DEVICES).flatMap(([device, viewport]) =>
    THEMES.map((colorScheme) => {
      const words = [name, state, colorScheme, device].filter((word) => word !== undefined);
      return { viewport, colorScheme, file: join(PICTURES, `${words.join('-')}.png`) };
    }),
  );
}

async function picture(context: BrowserContext, url: string, sitting: Sitting): Promise<void> {
  const { name, path, state, pose, isOver = false } = sitting;
  const page = await context.newPage();
  try {
    if (state) await page.route('**/*', answersOf(state));
    await page.goto(url + path, { waitUntil: 'domcontentloaded' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (state === 'loading') await page.waitForTimeout(STALLED_MS);
    else if (state !== 'error') await settled(page);
    await pose?.(page);
    for (const { viewport, colorScheme, file } of looksOf(sitting)) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // A window as high as the page: what is fixed to its edge stands there, not in the middle of the picture.
      const height = isOver || isForReadme ? viewport.height : await heightOf(page);
      await page.setViewportSize({ width: viewport.width, height: Math.max(height, viewport.height) });
      // After its tries, some seconds later; a page that asks again by itself is waited for once more.
      if (state === 'error') await page.getByRole('alert').first().waitFor({ timeout: 25_000 });
      await page.screenshot({ path: file, animations: 'disabled' });
      if (await scrollsSideways(page)) console.log(`${file} scrolls sideways`);
    }
  } catch (fault) {
    // The others are worth having.
    process.exitCode = 1;
    console.error(`no picture of ${name} ${state ?? ''}:`, fault);
  } finally {
    await page.close();
  }
}

const heightOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollHeight');

/** What was asked for is there. */
async function settled(page: Page): Promise<void> {
  await page
    .locator('.skeleton')
    .first()
    .waitFor({ state: 'detached' })
    .catch(() => console.log(`${page.url()} still waits`));
  await page.waitForTimeout(300);
}

/** Each lane has a window of its own. */
async function pictures(
  visitors: readonly BrowserContext[],
  url: string,
  sittings: readonly Sitting[],
): Promise<void> {
  const due = sittings.filter(isWanted).values();
  await Promise.all(
    visitors.map(async (context) => {
      for (const sitting of due) await picture(context, url, sitting);
    }),
  );
}

const withStates = (sittings: readonly Sitting[]): Sitting[] =>
  sittings.flatMap((sitting) => [sitting, { ...sitting, state: 'loading' }, { ...sitting, state: 'error' }]);

/** Where it is afternoon now: a day that has something to show, whenever the pictures are taken. */
function afternoon(): string {
  const ahead = Math.min(14, 16 - new Date().getUTCHours());
  return ahead > 0 ? `Etc/GMT-${ahead}` : `Etc/GMT+${-ahead}`;
}

function newVisitors(browser: Browser, cookies?: StorageState): Promise<BrowserContext[]> {
  return Promise.all(
    Array.from({ length: LANES }, async () => {
      const context = await browser.newContext({
        timezoneId: afternoon(),
        reducedMotion: 'reduce',
        ...(cookies && { storageState: cookies }),
      });
      context.setDefaultTimeout(30_000);
      // A window behind another one counts as hidden, and a hidden page puts its tries off.
      await context.addInitScript("Object.defineProperty(document, 'visibilityState', { value: 'visible' })");
      if (cookies) await context.addInitScript("localStorage.setItem('fillpath.logged-in', '1')");
      return context;
    }),
  );
}

async function loggedIn(
  browser: Browser,
  { url, firstUser: { email, password } }: Stage,
): Promise<BrowserContext[]> {
  const context = await browser.newContext();
  const answer = await context.request.post(`${url}/auth/login`, { data: { email, password } });
  assert.equal(answer.status(), 200);
  return newVisitors(browser, await context.storageState());
}

/** Whether a picture of that name was asked for. */
const isWanted = ({ name, state }: Sitting): boolean =>
  isForReadme ? IN_README.has(name) && !state : wanted.length === 0 || wanted.includes(name);

const NOBODY: ProtectedDay = {
  ...{ lab: '', entry: '', restored: '', bare: '', left: '', stopped: '' },
  ...{ resting: '', trade: '', group: '', together: '' },
};

const isApart = (name: string): boolean => protectedOnes(NOBODY).some((sitting) => sitting.name === name);

/** On a stage of their own: what is protected, and what is not. */
async function takeProtected(browser: Browser): Promise<void> {
  if (!protectedOnes(NOBODY).some(isWanted)) return;
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-pictures-'));
  const exchanges = await openExchanges((name) => mkdtempSync(join(dir, name)));
  const stage = await openStage({ parts: protectedParts(exchanges), env: { PROTECTION_SWEEP_SECONDS: '5' } });
  try {
    const { items } = await stage.call<{ items: { id: string }[] }>('/trading/accounts');
    for (const { id } of items) await stage.call(`/trading/accounts/${id}`, { method: 'DELETE' });
    const day = await playProtected(stage, exchanges);
    await pictures(await loggedIn(browser, stage), stage.url, protectedOnes(day));
  } finally {
    await stage.close();
    for (const exchange of Object.values(exchanges)) await exchange.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function takeFortnight(browser: Browser): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-pictures-'));
  const times = timesBefore();
  const exchange = await openExchange(dir, times);
  const stage = await openStage({ parts: partsOf(times, exchange) });
  const empty = await openStage();
  try {
    for (const { call } of [stage, empty]) {
      const { items } = await call<{ items: { id: string }[] }>('/trading/accounts');
      for (const { id } of items) await call(`/trading/accounts/${id}`, { method: 'DELETE' });
    }
    const { main, reversal, playTrouble } = await playFortnight(stage, times, exchange);
    const trader = await loggedIn(browser, stage);
    const { url } = stage;
    await pictures(await newVisitors(browser), url, OUTSIDE);
    await pictures(trader, url, withStates(inOrder(main.id, reversal)));
    await pictures(trader, url, inTrouble(await playTrouble()));
    const emptied = inOrder('', '').filter(({ path }) => !path.endsWith('/') || path === '/');
    await pictures(
      await loggedIn(browser, empty),
      empty.url,
      emptied.map((sitting) => ({ ...sitting, name: `${sitting.name}-empty` })),
    );
  } finally {
    await empty.close();
    await stage.close();
    await exchange.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const started = performance.now();
mkdirSync(isForReadme ? README_PICTURES : PICTURES, { recursive: true });
const browser = await openBrowser();
if (browser) {
  try {
    if (wanted.length === 0 || wanted.some((name) => !isApart(name))) await takeFortnight(browser);
    await takeProtected(browser);
  } finally {
    await browser.close();
  }
  console.log(
    `The pictures are in ${isForReadme ? 'docs/pictures' : 'screenshots'}/, in ${Math.round((performance.now() - started) / 1000)} s`,
  );
}
