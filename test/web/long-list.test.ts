// A list of many rows: only those near the window are drawn, and nobody notices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertClean, logIn, onStage } from './stage.ts';

const SIGNALS = 120;
/** The list's own step. */
const PAGE = 50;

/** The first that is something; the policy forbids what Playwright would wait with. */
const until = (page: Page, expression: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => {
      const found = ${expression};
      if (found) resolve(found);
      else requestAnimationFrame(look);
    };
    look();
  })`);

await onStage('a long list', async ({ stage, visitor, page }) => {
  const account = await stage.makeAccount({ name: 'Lab' });
  // Refused, which is the fastest.
  for (let n = 0; n < SIGNALS; n++) await stage.signal(account, { action: 'dance' });
  await logIn(page, stage);

  const drawn = () => page.locator('a[data-row]').count();
  const listed = (rows: number) => page.locator(`table[aria-rowcount="${rows + 1}"]`).waitFor();
  /** Of the row in the middle of the window, once one is drawn there. */
  const inTheMiddle = async () =>
    String(
      await until(
        page,
        `document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tr')?.querySelector('a[data-row]')?.getAttribute('href')`,
      ),
    );

  test('counts all of its rows, and draws those near the window', async () => {
    await page.goto(`${stage.url}/signals`);
    await listed(PAGE);
    await page.getByRole('button', { name: 'Older' }).focus();
    for (let pages = 2; pages * PAGE < SIGNALS; pages++) {
      await page.keyboard.press('Enter');
      await listed(pages * PAGE);
      // Who reads on by the keyboard is still there.
      assert.equal(await page.evaluate('document.activeElement.tagName'), 'BUTTON');
    }
    await page.keyboard.press('Enter');
    await listed(SIGNALS);
    assert.ok((await drawn()) < SIGNALS, String(await drawn()));
  });

  test('has rows wherever one scrolls to, each in its place', async () => {
    for (const part of [0, 0.3, 0.6, 1]) {
      await page.evaluate(`scrollTo(0, ${part} * (document.body.scrollHeight - innerHeight))`);
      await inTheMiddle();
    }
    // The head is the first.
    await page.locator(`tr[aria-rowindex="${SIGNALS + 1}"]`).waitFor();
  });

  test('goes from row to row by the keyboard, also through what was not drawn', async () => {
    await page.evaluate('scrollTo(0, 0)');
    await inTheMiddle();
    const seen = new Set<string>();
    for (let n = 0; n < 40; n++) {
      await page.keyboard.press('j');
      seen.add(String(await page.evaluate(`document.activeElement.closest('tr')?.ariaRowIndex`)));
    }
    const indexes = [...seen].map(Number);
    assert.deepEqual(
      indexes,
      indexes.map((_, n) => Number(indexes[0]) + n),
    );
    assert.equal(indexes.length, 40);
  });

  test('is as it was when one comes back from a story', async () => {
    await page.evaluate('scrollTo(0, 2500)');
    const row = await inTheMiddle();
    const scrolled = await page.evaluate('scrollY');
    await page.locator(`a[href="${row}"]`).click();
    await page.waitForURL(stage.url + row);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.goBack();
    await listed(SIGNALS);
    await until(page, `scrollY === ${scrolled}`);
    assert.equal(await inTheMiddle(), row);
  });

  test('is whole on paper, and for the browser’s own search', async () => {
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    assert.equal(await drawn(), SIGNALS);
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await until(page, `document.querySelectorAll('a[data-row]').length < ${SIGNALS}`);
    await page.evaluate(`dispatchEvent(new KeyboardEvent('keydown', { key: 'f', ctrlKey: true }))`);
    await until(page, `document.querySelectorAll('a[data-row]').length === ${SIGNALS}`);
  });

  test('and nothing went wrong besides', () => assertClean(visitor.watched, stage.url));
});
