// The way to every page, whatever the window's width: and Halt is in it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, chord, logIn, onStage, scrollsSideways } from './stage.ts';

/** As an administrator sees them: nobody has more. */
const PAGES = [
  ...['Today', 'Signals', 'Positions', 'Performance', 'Accounts', 'Check', 'Security', 'Notifications'],
  'Operation',
];

await onStage('from wherever one is', async ({ stage, visitor, page, open }) => {
  await logIn(page, stage);
  await visitor.settled();

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

  for (const width of [1280, 900, 640, 390])
    test(`the search and Halt are a key away in a window of ${width} px`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await open('/');
      await page.keyboard.press('/');
      const field = page.getByRole('searchbox', { name: 'Search' });
      await field.and(page.locator(':focus')).waitFor();
      if (width === 640) assert.deepEqual(await barriers(page), []);
      assert.equal(await scrollsSideways(page), false);
      await page.keyboard.type('BTC');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${stage.url}/signals?search=BTC`);
      assert.equal(await field.isVisible(), width > 944, 'it goes away with the search');
      await page.keyboard.press('Escape');
      await chord(page, 'g', 'h');
      await page.getByRole('button', { name: /Halt/ }).and(page.locator(':focus')).waitFor();
    });

  for (const width of [900, 640, 320])
    test(`whoever has no keyboard opens the search of a window of ${width} px by its button`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await open('/');
      const button = page.getByRole('button', { name: 'Search' }).filter({ visible: true });
      if ((await button.count()) === 0)
        await page.getByRole('button', { name: 'More' }).filter({ visible: true }).click();
      await button.click();
      await page.getByRole('searchbox', { name: 'Search' }).fill('ETH');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${stage.url}/signals?search=ETH`);
    });

  test('what lies behind More is marked when one is there, and keeps nobody out', async () => {
    await page.setViewportSize({ width: 900, height: 800 });
    await open('/notifications');
    await page.getByRole('button', { name: 'More' }).filter({ visible: true }).click();
    const there = page.getByRole('link', { name: 'Notifications' }).filter({ visible: true });
    assert.equal(await there.getAttribute('aria-current'), 'page');
    assert.deepEqual(await barriers(page), []);
    assertClean(visitor.watched, stage.url);
  });
});
