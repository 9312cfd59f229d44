// Takes the pictures: a page is opened once for each state and pictured in all its looks, from a phone's width to a wide
// desktop's, light and dark. The same page has to stand in all of them.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import type { Sitting } from './sittings.ts';
import { scrollsSideways } from './stage.ts';

const PICTURES = join(import.meta.dirname, '../../screenshots');
const README_PICTURES = join(import.meta.dirname, '../../docs/pictures');
const IN_README = new Set(['today', 'story']);
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
export const isForReadme = process.argv.includes('--readme');
const THEMES = ['light', 'dark'] as const;
const DEVICES = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
  tablet: { width: 768, height: 1024 },
  laptop: { width: 1024, height: 768 },
  large: { width: 1440, height: 900 },
  wide: { width: 1920, height: 1080 },
} as const;
export type Device = keyof typeof DEVICES;
export type Theme = (typeof THEMES)[number];
/** Pictures that are taken side by side. */
const LANES = 2;
/** On a machine that others use, too. */
const PATIENCE_MS = 120_000;
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

function looksOf({ name, state }: Pick<Sitting, 'name' | 'state'>) {
  if (isForReadme)
    return [
      { viewport: DEVICES.desktop, colorScheme: THEMES[0], file: join(README_PICTURES, `${name}.png`) },
    ];
  return Object.entries(DEVICES).flatMap(([device, viewport]) =>
    THEMES.map((colorScheme) => {
      const words = [name, state, colorScheme, device].filter((word) => word !== undefined);
      return { viewport, colorScheme, file: join(PICTURES, `${words.join('-')}.png`) };
    }),
  );
}

/** Of a page that is there, as it stands, in all its looks. */
export async function takeLooks(page: Page, sitting: Sitting): Promise<void> {
  const { state, isOver = false } = sitting;
  for (const { viewport, colorScheme, file } of looksOf(sitting)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // A window as high as the page: what is fixed to its edge stands there, not in the middle of the picture.
    const height = isOver || isForReadme ? viewport.height : await heightOf(page);
    await page.setViewportSize({ width: viewport.width, height: Math.max(height, viewport.height) });
    // After its tries, some seconds later; a page that asks again by itself is waited for once more.
    if (state === 'error') await page.getByRole('alert').first().waitFor();
    await page.screenshot({ path: file, animations: 'disabled' });
    if (await scrollsSideways(page)) console.log(`${file} scrolls sideways`);
  }
}

async function picture(context: BrowserContext, url: string, sitting: Sitting): Promise<void> {
  const { name, path, state, pose } = sitting;
  const page = await context.newPage();
  try {
    if (state) await page.route('**/*', answersOf(state));
    await page.goto(url + path, { waitUntil: 'domcontentloaded' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    if (state === 'loading') await page.waitForTimeout(STALLED_MS);
    else if (state !== 'error') await settled(page);
    await pose?.(page);
    await takeLooks(page, sitting);
  } catch (fault) {
    // The others are worth having.
    process.exitCode = 1;
    console.error(`no picture of ${name} ${state ?? ''}: ${String(fault).split('\n', 3).join(' ')}`);
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
export async function takePictures(
  visitors: readonly BrowserContext[],
  url: string,
  sittings: readonly Sitting[],
): Promise<void> {
  const due = sittings.filter(isWanted).values();
  await Promise.all(
    visitors.map(async (context) => {
      for (const sitting of due) await picture(context, url, sitting);
      await context.close();
    }),
  );
}

export const withStates = (sittings: readonly Sitting[]): Sitting[] =>
  sittings.flatMap((sitting) => [sitting, { ...sitting, state: 'loading' }, { ...sitting, state: 'error' }]);

/** Where it is afternoon now: a day that has something to show, whenever the pictures are taken. */
function afternoon(): string {
  const ahead = Math.min(14, 16 - new Date().getUTCHours());
  return ahead > 0 ? `Etc/GMT-${ahead}` : `Etc/GMT+${-ahead}`;
}

export function newVisitors(browser: Browser, cookies?: StorageState): Promise<BrowserContext[]> {
  return Promise.all(
    Array.from({ length: LANES }, async () => {
      const context = await browser.newContext({
        timezoneId: afternoon(),
        reducedMotion: 'reduce',
        ...(cookies && { storageState: cookies }),
      });
      context.setDefaultTimeout(PATIENCE_MS);
      // A window behind another one counts as hidden, and a hidden page puts its tries off.
      await context.addInitScript("Object.defineProperty(document, 'visibilityState', { value: 'visible' })");
      if (cookies) await context.addInitScript("localStorage.setItem('fillpath.logged-in', '1')");
      return context;
    }),
  );
}

export async function loggedIn(
  browser: Browser,
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<BrowserContext[]> {
  const context = await browser.newContext();
  const answer = await context.request.post(`${url}/auth/login`, { data: { email, password } });
  assert.equal(answer.status(), 200);
  const visitors = await newVisitors(browser, await context.storageState());
  await context.close();
  return visitors;
}

/** Whether a picture of that name was asked for; `demo-` stands for all whose names begin with it. */
export const isWanted = ({ name, state }: Pick<Sitting, 'name' | 'state'>): boolean =>
  isForReadme
    ? IN_README.has(name) && !state
    : wanted.length === 0 ||
      wanted.some((word) => (word.endsWith('-') ? name.startsWith(word) : name === word));

/** Where they go, which is there by now. */
export const FOLDER = isForReadme ? README_PICTURES : PICTURES;
mkdirSync(FOLDER, { recursive: true });
