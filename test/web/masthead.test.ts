// The masthead: the way to every page, the search, Trade and Halt, in one line from 360 px up.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertClean, barriers, chord, goTo, logIn, onStage, sideways } from './stage.ts';

/** As an administrator sees them: nobody has more. */
const PAGES = [
  ...[
    'Today',
    'Signals',
    'Positions',
    'Trades',
    'Accounts',
    'Performance',
    'Groups',
    'Check',
    'Notifications',
  ],
  ...['Security', 'Operation'],
];

/** From a phone's to a wall's, and on both sides of every step. */
const WIDTHS = [
  ...[360, 390, 480, 760, 761, 768, 820, 895, 896, 960, 1023, 1024, 1100, 1215, 1216, 1279, 1280, 1366, 1440],
  ...[1699, 1700, 1920],
];
const HEIGHT = 800;

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

interface Drawn {
  getBoundingClientRect(): { readonly right: number; readonly width: number };
}
const drawn = (button: Locator) =>
  button.evaluate((element) => {
    const { right, width } = (element as unknown as Drawn).getBoundingClientRect();
    return { right, width };
  });

/** What stands in the masthead, from left to right; of the pages each word. */
const inMasthead = (page: Page): Promise<Box[]> =>
  page.evaluate(`[...document.querySelectorAll('header:has(> nav) > :not(nav), header > nav > :not([popover])')]
    .filter((element) => element.checkVisibility())
    .map((element) => ({ text: element.textContent, ...element.getBoundingClientRect().toJSON() }))
    .filter(({ width }) => width > 0)
    .sort((one, other) => one.left - other.left)`);

/** Nothing lies over its neighbour, or leaves the window. */
async function assertOneLine(page: Page, width: number): Promise<void> {
  const boxes = await inMasthead(page);
  for (const [index, { text, right }] of boxes.entries()) {
    const limit = boxes[index + 1]?.left ?? width;
    assert.ok(right <= limit + 0.5, `at ${width} px "${text}" ends at ${right}, beyond ${limit}`);
  }
}

/** Of however many the tests before have made. */
const HALTED = /^1 of \d+ halted$/;

await onStage('the masthead', async ({ stage, visitor, page, open }) => {
  await logIn(page, stage);
  await visitor.settled();
  const header = page.locator('header:has(> nav)');
  const pages = page.getByRole('navigation').filter({ visible: true });
  const more = pages.getByRole('button', { name: /more pages$/i });
  const field = page.getByRole('searchbox', { name: 'Search' });
  const searchWord = header.getByRole('button', { name: 'Search', exact: true });
  const halt = page.getByRole('button', { name: 'Halt', exact: true }).filter({ visible: true });
  const trade = header.getByRole('button', { name: 'Trade' });
  const inWindow = (width: number) => page.setViewportSize({ width, height: HEIGHT });
  const words = () => pages.getByRole('link').filter({ visible: true }).allTextContents();
  const focused = page.locator(':focus');

  for (const width of [1920, 1280, 1024, 768, 390, 360])
    test(`every page is a step away in a window of ${width} px, and Halt is in sight`, async () => {
      await inWindow(width);
      for (const name of PAGES) {
        await goTo(page, name);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await pages.locator('[aria-current]').or(more).getByText(name).filter({ visible: true }).waitFor();
        const { right } = await drawn(halt);
        assert.ok(right <= width, `Halt ends at ${right} px`);
      }
      assert.equal(new URL(page.url()).pathname, '/operation');
      assert.deepEqual(await sideways(page), []);
    });

  for (const [width, count, hasField] of [
    [1920, 11, true],
    [1700, 11, true],
    [1699, 5, true],
    [1216, 5, true],
    [1215, 5, false],
    [1024, 5, false],
    [1023, 4, false],
    [761, 4, false],
    [760, 3, false],
    [360, 3, false],
  ] as const)
    test(`${count} pages stand as words in a window of ${width} px, and the search is a ${hasField ? 'field' : 'word'}`, async () => {
      await inWindow(width);
      await open('/');
      assert.deepEqual(await words(), PAGES.slice(0, count));
      assert.equal(await more.count(), count === PAGES.length ? 0 : 1);
      assert.equal(await field.isVisible(), hasField);
      assert.equal(await searchWord.isVisible(), !hasField);
      if (hasField) assert.ok(((await field.boundingBox())?.width ?? 0) >= 216);
    });

  test('a page from under More stands in its place, and only while it is there', async () => {
    await inWindow(1023);
    await open('/accounts');
    assert.equal(await more.innerText(), 'Accounts\n, more pages');
    await inWindow(1024);
    assert.equal(await more.innerText(), 'More\npages');
    assert.equal(await header.locator('nav > [aria-current]').innerText(), 'Accounts');
    await inWindow(390);
    assert.equal(await more.innerText(), 'Accounts\n, more pages');
  });

  for (const width of [1280, 768, 390])
    test(`More opens and closes by the keyboard in a window of ${width} px`, async () => {
      await inWindow(width);
      await open('/');
      await more.focus();
      await page.keyboard.press('Enter');
      const first = pages.getByRole('link', {
        name: width === 1280 ? 'Performance' : width === 768 ? 'Accounts' : 'Trades',
      });
      await page.keyboard.press('Tab');
      await first.and(focused).waitFor();
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        assert.deepEqual(await barriers(page), []);
      }
      assert.deepEqual(await sideways(page), []);
      await page.keyboard.press('Escape');
      await more.and(focused).waitFor();
      assert.equal(await pages.getByRole('link', { name: 'Notifications' }).isVisible(), false);
      await page.keyboard.press('Enter');
      await pages.getByRole('link', { name: 'Notifications' }).focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${stage.url}/notifications`);
      assert.equal(await pages.getByRole('link', { name: 'Notifications' }).isVisible(), false);
    });

  test('More has what else has no room: one’s own account', async () => {
    for (const width of [1024, 390]) {
      await inWindow(width);
      await open('/');
      await more.click();
      await pages.getByRole('link', { name: stage.firstUser.email }).click();
      await page.waitForURL(`${stage.url}/security`);
    }
    await inWindow(1280);
    await open('/');
    await header.getByRole('link', { name: 'Account', exact: true }).click();
    await page.waitForURL(`${stage.url}/security`);
  });

  for (const width of [1920, 1280, 900, 640, 360])
    test(`the search and Halt are a key away in a window of ${width} px`, async () => {
      await inWindow(width);
      await open('/');
      const before = await halt.boundingBox();
      await page.keyboard.press('/');
      await field.and(focused).waitFor();
      if (width > 760) assert.deepEqual(await words(), [], 'it lies over the pages');
      assert.deepEqual(await halt.boundingBox(), before, 'and never over Halt');
      assert.deepEqual(await barriers(page), []);
      assert.deepEqual(await sideways(page), []);
      await assertOneLine(page, width);
      await page.keyboard.type('BTC');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${stage.url}/signals?search=BTC`);
      assert.equal(await field.isVisible(), width >= 1216, 'it goes away with the search');
      assert.notDeepEqual(await words(), []);
      await chord(page, 'g', 'h');
      await halt.and(focused).waitFor();
    });

  for (const width of [900, 640, 360])
    test(`whoever has no keyboard opens and closes the search of a window of ${width} px by its word`, async () => {
      await inWindow(width);
      await open('/');
      await searchWord.click();
      await field.and(focused).waitFor();
      await header.getByRole('button', { name: /^Close/ }).click();
      await searchWord.and(focused).waitFor();
      await page.keyboard.press('Enter');
      await field.fill('ETH');
      await page.keyboard.press('Escape');
      await searchWord.and(focused).waitFor();
      assert.notDeepEqual(await words(), [], 'escape gives the pages back');
      await searchWord.click();
      await field.fill('ETH');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${stage.url}/signals?search=ETH`);
      await visitor.settled();
    });

  for (const width of [1280, 360])
    test(`the search offers what it finds while somebody types, in a window of ${width} px`, async () => {
      const account = await stage.makeAccount({ name: `Lab ${width}` });
      await stage.signal(account, { action: 'buy', symbol: 'BINANCE:SOLUSDT.P', quantity: 2 });
      await inWindow(width);
      await open('/');
      const before = await halt.boundingBox();
      await page.keyboard.press('/');
      await page.keyboard.type('so');
      const found = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
      await found.filter({ hasText: 'buy 2' }).first().waitFor();
      assert.match((await found.first().textContent()) ?? '', /^so.*orders and signals/);
      assert.deepEqual(await halt.boundingBox(), before, 'never over Halt');
      assert.deepEqual(await barriers(page), []);
      assert.deepEqual(await sideways(page), []);
      await page.keyboard.press('ArrowDown');
      await found.nth(1).and(page.locator('[aria-selected="true"]')).filter({ hasText: 'SOLUSDT' }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/(?:positions|signals\?.*symbol=SOLUSDT.*)$/);
      await page.keyboard.press('/');
      await page.keyboard.type('so');
      await found.first().waitFor();
      await page.keyboard.press('Escape');
      await found.first().waitFor({ state: 'hidden' });
      assert.notDeepEqual(await words(), [], 'escape gives the pages back');
    });

  test('the first step of the keyboard leads past all of it', async () => {
    await inWindow(1280);
    await open('/');
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to content' });
    await skip.and(focused).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.getByRole('main').locator(':focus').waitFor();
  });

  test('each page has its key', async () => {
    await open('/');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    for (const name of PAGES) await dialog.getByRole('cell', { name: `go to ${name}` }).waitFor();
    const keys = await dialog.getByRole('row', { name: 'go to' }).locator('kbd').allTextContents();
    assert.equal(new Set(keys).size, PAGES.length + 1, 'none has the key of another, or of Halt');
    await page.keyboard.press('Escape');
    await chord(page, 'g', 'n');
    await page.waitForURL(`${stage.url}/notifications`);
  });

  test('going from page to page moves no word', async () => {
    for (const width of [1280, 390]) {
      await inWindow(width);
      await open('/');
      const places = async () => [
        ...(await Promise.all(
          ['Today', 'Signals', 'Positions'].map((name) => pages.getByRole('link', { name }).boundingBox()),
        )),
        ...(await Promise.all([trade, halt].map((button) => button.boundingBox()))),
      ];
      const before = await places();
      for (const path of ['/signals', '/positions', '/notifications']) {
        await open(path);
        assert.deepEqual(await places(), before, `${path} at ${width} px`);
      }
    }
  });

  test('with things to do and an account halted it is still one line, whatever the width', async () => {
    const halted = await stage.makeAccount({ name: 'Halted' });
    await stage.call(`/trading/accounts/${halted.id}/halt`, { body: {} });
    const behind = await stage.makeAccount({ name: 'Behind' });
    const stance = { market_position: 'long', market_position_size: 2 };
    await stage.signal(behind, { action: 'sync', symbol: 'ETHUSDT', ...stance });
    for (const path of ['/', '/notifications']) {
      await open(path);
      await header.getByText(HALTED).waitFor();
      await pages.getByText(/things? to do$/).waitFor();
      const sizes = new Set<number>();
      for (const width of WIDTHS) {
        await inWindow(width);
        await assertOneLine(page, width);
        if (await field.isVisible())
          assert.ok(((await field.boundingBox())?.width ?? 0) >= 176, `the field at ${width} px`);
        if (width > 760) sizes.add((await drawn(halt)).width);
      }
      assert.equal(sizes.size, 1, 'Halt is as large everywhere');
    }
    await inWindow(1280);
    await header.getByRole('button', { name: HALTED }).click();
    await page
      .getByRole('dialog', { name: 'Halt' })
      .getByRole('button', { name: /^Halt \d+ accounts/ })
      .waitFor();
    await page.keyboard.press('Escape');
    assertClean(visitor.watched, stage.url, [/404/]);
  });

  test('away, it says since when, where there is room, and is still one line', async () => {
    await inWindow(1280);
    await open('/notifications');
    await header.getByText(HALTED).waitFor();
    await stage.stop();
    await header.getByText(/^not live since \d\d:\d\d:\d\d$/).waitFor();
    for (const width of WIDTHS) {
      await inWindow(width);
      await header.getByText('not live').first().waitFor();
      await assertOneLine(page, width);
    }
    await stage.start();
    await header.getByText(HALTED).waitFor();
  });
});
