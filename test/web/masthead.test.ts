// The way to every page, whatever the window's width: and Halt is in it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  assertClean,
  barriers,
  logIn,
  openBrowser,
  openStage,
  type Stage,
  scrollsSideways,
  type Visit,
  visit,
} from './stage.ts';

const browser = await openBrowser();

/** As an administrator sees them: nobody has more. */
const PAGES = [
  ...['Today', 'Signals', 'Positions', 'Performance', 'Accounts', 'Check', 'Security', 'Notifications'],
  'Operation',
];

describe('from wherever one is', browser ? {} : { skip: 'there is no browser' }, () => {
  let stage: Stage;
  let visitor: Visit;
  let page: Page;

  before(async () => {
    if (!browser) return;
    stage = await openStage();
    visitor = await visit(browser);
    page = visitor.page;
    await logIn(page, stage);
    await visitor.settled();
  });
  after(async () => {
    await browser?.close();
    await stage?.close();
  });

  for (const width of [1280, 1121, 1000, 770, 390])
    test(`every page is a step away in a window of ${width} px, and Halt is in sight`, async () => {
      await page.setViewportSize({ width, height: 800 });
      const navigation = page.getByRole('navigation').filter({ visible: true });
      const more = navigation.getByRole('button', { name: 'More' });
      for (const name of PAGES) {
        const link = navigation.getByRole('link', { name }).filter({ visible: true });
        if ((await link.count()) === 0) await more.click();
        await link.click();
        await page.getByRole('heading', { level: 1 }).waitFor();
      }
      assert.equal(new URL(page.url()).pathname, '/operation');
      const halt = page.getByRole('button', { name: 'Halt' }).filter({ visible: true });
      const { x, width: wide } = (await halt.boundingBox()) ?? { x: 0, width: Number.POSITIVE_INFINITY };
      assert.ok(x + wide <= width, `Halt ends at ${x + wide} px`);
      assert.equal(await scrollsSideways(page), false);
    });

  test('what lies behind More is marked when one is there, and keeps nobody out', async () => {
    await page.setViewportSize({ width: 900, height: 800 });
    await page.goto(`${stage.url}/notifications`);
    await visitor.settled();
    await page.getByRole('button', { name: 'More' }).filter({ visible: true }).click();
    const there = page.getByRole('link', { name: 'Notifications' }).filter({ visible: true });
    assert.equal(await there.getAttribute('aria-current'), 'page');
    assert.deepEqual(await barriers(page), []);
    assertClean(visitor.watched, stage.url);
  });
});
