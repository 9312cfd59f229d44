// The service goes away: whoever is in keeps the frame, the kill switch and the way to every page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PLACES } from '../../web/parts/places.ts';
import { goTo, logIn, onStage } from './stage.ts';

const [HOME, ...OTHERS] = PLACES;

/** Each page's code has come, though only one page was opened. */
const isHere = (page: Page, name: string) =>
  page.evaluate(`new Promise((resolve) => {
    const isLoaded = ({ name, responseEnd }) => responseEnd > 0 && name.includes('/static/${name}-');
    new PerformanceObserver((list, observer) => {
      if (!list.getEntries().some(isLoaded)) return;
      observer.disconnect();
      resolve();
    }).observe({ type: 'resource', buffered: true });
  })`);
/** A page that was loaded anew has forgotten it. */
const KEEP = 'window.isKept = true';
const isKept = (page: Page) => page.evaluate('window.isKept === true');

await onStage('while the service is away', async ({ stage, visitor, page, open }) => {
  const halt = page.locator('#halt');

  test('every page opens that was never opened before, and the way back too', async () => {
    await logIn(page, stage);
    await visitor.settled();
    await page.evaluate(KEEP);
    for (const { to } of OTHERS) await isHere(page, to.slice(1));
    await stage.stop();
    await page.getByText(/^not live since/).waitFor();
    for (const { name, to: path } of [...OTHERS, HOME].filter((place) => place !== undefined)) {
      await goTo(page, name);
      await page.waitForURL(stage.url + path);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
      assert.ok(await halt.isVisible(), path);
      assert.ok(await isKept(page), path);
    }
    await stage.start();
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('a page whose code did not come says so in the frame, and comes with the service', async () => {
    await page.route('**/static/performance-*', (route) => route.abort());
    await open('/');
    await page.evaluate(KEEP);
    await stage.stop();
    await goTo(page, 'Performance');
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Fillpath does not answer' }).waitFor();
    assert.ok(await halt.isVisible());
    assert.ok(await isKept(page));
    await goTo(page, 'Today');
    await page.waitForURL(`${stage.url}/`);
    await goTo(page, 'Performance');
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await stage.start();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor({ state: 'detached' });
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    assert.ok(await isKept(page));
  });
});
