// npm run screenshots: pictures of every page with data, empty, loading, in trouble and away, with what opens over it, light and
// dark, from a phone's width to a wide desktop's, in screenshots/; and sheets of many of them, in screenshots/sheets/. To be
// looked at: no machine says whether a page is ugly. With names (`-- today story`) of those alone, with the
// beginning of names (`-- demo-`) of all of them; with `-- --readme` the two that open the README, in docs/pictures/.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { readConfig } from '../../src/config/config.ts';
import { openFillpath } from '../../src/main.ts';
import { prepareDemo } from '../../src/roles/demo.ts';
import { PLACES } from '../../web/parts/places.ts';
import { freePort } from '../servers/free-port.ts';
import { openExchange, partsOf, playFortnight, timesBefore } from './believable-day.ts';
import { FOLDER, isWanted, loggedIn, newVisitors, takeLooks, takePictures, withStates } from './camera.ts';
import { type CrowdedDay, playCrowded } from './crowded-day.ts';
import { DOCS, inCrowd, inDemo, NEWCOMER, newcomers, overProtected, overTrouble } from './more-sittings.ts';
import { openExchanges, type ProtectedDay, playProtected, protectedParts } from './protected-day.ts';
import { makeSheets } from './sheets.ts';
import { inOrder, inTrouble, OUTSIDE, protectedOnes, type Sitting } from './sittings.ts';
import { enter, goTo, openBrowser, openStage, register, type Stage } from './stage.ts';

const isAnyWanted = (sittings: readonly Pick<Sitting, 'name'>[]): boolean => sittings.some(isWanted);

/** A folder for as long as the work takes. */
async function inFolder(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-pictures-'));
  await work(dir).finally(() => rmSync(dir, { recursive: true, force: true }));
}

/** A first start makes an account, which nobody has asked for here. */
async function removeAccounts({ call }: Stage): Promise<void> {
  const { items } = await call<{ items: { id: string }[] }>('/trading/accounts');
  for (const { id } of items) await call(`/trading/accounts/${id}`, { method: 'DELETE' });
}

/** Of whom nobody has heard: the names of the pictures are known before the day is played. */
const NOBODY: ProtectedDay = {
  ...{ lab: '', entry: '', restored: '', bare: '', left: '', stopped: '' },
  ...{ resting: '', trade: '', group: '', together: '' },
};
const NOTHING: CrowdedDay = {
  ...{ long: '', group: '', together: '', filled: '' },
  ...{ unknown: '', rejected: '', refused: '', trade: '' },
};

/** On a stage of their own: what is protected, and what is not. */
async function takeProtected(browser: Browser): Promise<void> {
  if (!isAnyWanted([...protectedOnes(NOBODY), ...overProtected])) return;
  await inFolder(async (dir) => {
    const exchanges = await openExchanges((name) => mkdtempSync(join(dir, name)));
    const env = { PROTECTION_SWEEP_SECONDS: '5' };
    const stage = await openStage({ parts: protectedParts(exchanges), env });
    try {
      await removeAccounts(stage);
      const day = await playProtected(stage, exchanges);
      const visitors = await loggedIn(browser, stage.url, stage.firstUser);
      await takePictures(visitors, stage.url, [...protectedOnes(day), ...overProtected]);
    } finally {
      await stage.close();
      for (const exchange of Object.values(exchanges)) await exchange.close();
    }
  });
}

async function takeFortnight(browser: Browser): Promise<void> {
  const nobody = { refused: '', unknownOrder: '' };
  const trouble = [...inTrouble(nobody), ...overTrouble('', '', '')];
  if (!isAnyWanted([...OUTSIDE, ...DOCS, ...inOrder('', ''), ...trouble])) return;
  await inFolder(async (dir) => {
    const times = timesBefore();
    const exchange = await openExchange(dir, times);
    const stage = await openStage({ parts: partsOf(times, exchange) });
    try {
      await removeAccounts(stage);
      const { main, reversal, playTrouble } = await playFortnight(stage, times, exchange);
      const { url, firstUser } = stage;
      const trader = () => loggedIn(browser, url, firstUser);
      await takePictures(await newVisitors(browser), url, [...OUTSIDE, ...DOCS]);
      await takePictures(await trader(), url, withStates(inOrder(main.id, reversal)));
      const played = inTrouble(await playTrouble());
      await takePictures(await trader(), url, [
        ...played,
        ...overTrouble(main.id, reversal, firstUser.password),
      ]);
    } finally {
      await stage.close();
      await exchange.close();
    }
  });
}

const emptied: readonly Sitting[] = inOrder('', '')
  .filter(({ path }) => !path.endsWith('/') || path === '/')
  .concat({ name: 'groups', path: '/groups' })
  .map((sitting) => ({ ...sitting, name: `${sitting.name}-empty` }));

/** Nothing is there yet: for who runs the service, and for a newcomer on the plan that newcomers have. */
async function takeEmpty(browser: Browser): Promise<void> {
  const { first, waiting, refused } = newcomers;
  if (!isAnyWanted([...emptied, ...first, ...waiting, ...refused])) return;
  const stage = await openStage();
  try {
    const { url } = stage;
    await removeAccounts(stage);
    await takePictures(await loggedIn(browser, url, stage.firstUser), url, emptied);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/register`);
    await register(page, stage, NEWCOMER.email);
    const newcomer = () => loggedIn(browser, url, NEWCOMER);
    await takePictures(await newcomer(), url, first);
    await page.getByRole('button', { name: 'Open a paper account' }).first().click();
    const address = /'(http[^']+)\?simulation=true'/;
    const command = page.getByRole('main').locator('pre').filter({ hasText: address });
    const [, webhook = ''] = address.exec(await command.innerText()) ?? [];
    await takePictures(await newcomer(), url, waiting);
    await fetch(webhook, { method: 'POST', body: '{ "action": "buy" }' });
    await takePictures(await newcomer(), url, refused);
    await context.close();
  } finally {
    await stage.close();
  }
}

/** Where one can go while the service is away; back to the first at the end. */
const [HOME, ...OTHERS] = PLACES.map(({ name }) => name);
const away = [...OTHERS, HOME as string].map((place) => ({
  place,
  name: `away-${place.toLowerCase()}`,
  path: '',
}));

/** Names that strain a page; and at the end the service goes away. */
async function takeCrowded(browser: Browser): Promise<void> {
  if (!isAnyWanted([...inCrowd(NOTHING), ...away])) return;
  const stage = await openStage();
  try {
    const { url, firstUser } = stage;
    const day = await playCrowded(stage);
    await takePictures(await loggedIn(browser, url, firstUser), url, inCrowd(day));
    if (!isAnyWanted(away)) return;
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(`${url}/login`);
    await enter(page, firstUser);
    await page.waitForURL(`${url}/`);
    await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {});
    await stage.stop();
    await page.getByText(/^not live since/).waitFor();
    for (const { place, ...sitting } of away) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await goTo(page, place);
      await page.getByRole('main').getByRole('heading', { level: 1 }).first().waitFor();
      await page
        .getByRole('alert')
        .first()
        .waitFor({ timeout: 15_000 })
        .catch(() => {});
      if (isWanted(sitting)) await takeLooks(page, sitting);
    }
    await context.close();
    await stage.start();
  } finally {
    await stage.close();
  }
}

/** The demo, as a visitor finds it, with its past. */
async function takeDemo(browser: Browser): Promise<void> {
  if (!isAnyWanted(inDemo({ account: '', group: '', story: '', trade: '' }))) return;
  await inFolder(async (dir) => {
    const port = String(await freePort());
    const config = readConfig({ DATA_DIR: dir, PORT: port, LOG_LEVEL: 'silent', ADMIN_IPS: '127.0.0.1,::1' });
    const demo = await prepareDemo(config, openFillpath, console.log);
    const service = await openFillpath(demo.config, demo.parts);
    try {
      const url = await service.listen();
      if (service.server) demo.begin(service.server);
      const login = demo.parts.demo ?? { email: '', password: '' };
      const visitors = await loggedIn(browser, url, login);
      const newest = async (path: string): Promise<string> => {
        const [visitor] = visitors;
        if (!visitor) return '';
        const answer = await visitor.request.get(`${url}/trading/${path}`);
        return ((await answer.json()) as { items: { id: string }[] }).items[0]?.id ?? '';
      };
      const [account, group, story, trade] = await Promise.all(
        ['accounts', 'groups', 'signals?outcome=executed', 'trades'].map(newest),
      );
      const ids = { account: account ?? '', group: group ?? '', story: story ?? '', trade: trade ?? '' };
      await takePictures(visitors, url, inDemo(ids));
    } finally {
      await demo.stop();
      await service.stop();
    }
  });
}

const started = performance.now();
const browser = await openBrowser();
if (browser) {
  try {
    for (const take of [takeFortnight, takeProtected, takeEmpty, takeCrowded, takeDemo]) await take(browser);
    await makeSheets(browser);
  } finally {
    await browser.close();
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`The pictures are in ${basename(FOLDER)}/, in ${seconds} s`);
}
