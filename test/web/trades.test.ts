// The page of trades and the story of one, in a real browser: prices are set, so that what each trade came to is known.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertClean, barriers, chord, logIn, onStage, sideways } from './stage.ts';

const WIDTHS = [360, 390, 600, 759, 761, 768, 1024, 1216, 1280, 1440, 1920];

await onStage('Trades', async ({ stage, visitor, page, open }) => {
  const account = await stage.makeAccount({ name: 'Lab', paper: { latency_ms: 0, price: { BTCUSDT: 100 } } });
  const price = (value: number) =>
    stage.call(`/trading/accounts/${account.id}`, {
      method: 'PATCH',
      body: { paper: { price: { BTCUSDT: value } } },
    });
  /** Bought at a price, and sold at another. */
  async function trade(from: number, to: number, id: string) {
    await price(from);
    assert.equal(
      await stage.signal(account, { action: 'buy', symbol: 'BTCUSDT', quantity: 10, id, price: from }),
      200,
    );
    await price(to);
    assert.equal(
      await stage.signal(account, { action: 'close', symbol: 'BTCUSDT', quantity: undefined }),
      200,
    );
  }
  const heading = page.getByRole('heading', { level: 1 });
  const list = page.getByRole('table').filter({ has: page.getByRole('heading', { name: /^Trades/ }) });
  const rows = list.getByRole('row').filter({ has: page.getByRole('cell') });
  await logIn(page, stage);

  test('without a trade it says what will stand there, and where to go on', async () => {
    await open('/trades');
    assert.equal((await heading.innerText()).trim(), 'No trade was closed in 30 days');
    await page.getByRole('link', { name: 'Show all trades, from the beginning' }).click();
    await page.waitForURL('**/trades?range=all');
    await page.getByRole('link', { name: 'See what is open' }).waitFor();
    assert.deepEqual(await barriers(page), []);
  });

  test('of few it has figures, and no ratios', async () => {
    await trade(100, 110, 'Breakout');
    await trade(100, 95, 'Pullback');
    await open('/trades');
    assert.match(
      await heading.innerText(),
      /^\+\d+\.\d\d USD in 30 days: 1 of 2 trades won, too few to say more/,
    );
    assert.match(await page.locator('dl').innerText(), /Profit factor\s+–/);
    assert.equal(await rows.count(), 2);
  });

  test('heads with the answer, and its figures are those of the API', async () => {
    for (let count = 0; count < 19; count++)
      await trade(100, count % 3 === 0 ? 97 : 104, count % 2 === 0 ? 'Breakout' : 'Pullback');
    const summary = await stage.call<Record<string, number>>('/trading/trades/summary');
    assert.equal(summary.trades, 21);
    await open('/trades');
    const said = await heading.innerText();
    assert.match(
      said,
      /^\+[\d,]+\.\d\d USD in 30 days: 13 of 21 trades won, \d\.\d\d earned for each 1 lost/,
    );
    assert.match(said, /no real money$/);
    const figures = await page.locator('dl').innerText();
    assert.match(figures, /Won\s+61\.9 %\s+13 of 21/);
    assert.ok(figures.includes((summary.profit_factor ?? 0).toFixed(2)));
    assert.match(figures, /Losses in a row\s+2/);
    assert.equal(await rows.count(), 21);
    assert.equal(await page.getByRole('img', { name: /^The sum of 21 trades/ }).count(), 1);
    assert.equal(await page.getByRole('img', { name: /below its highest point/ }).count(), 1);
    await page.getByText('the sum of these trades is the realised profit, to the last digit').waitFor();
  });

  test('the newest row opens its story, whose fills are numbered and lead to their orders', async () => {
    await open('/trades');
    await rows
      .first()
      .getByRole('link', { name: /BTCUSDT/ })
      .click();
    await page.waitForURL('**/trades/*-*');
    await heading
      .filter({
        hasText:
          /^[+−][\d.]+ USD after fees: long 10 BTCUSDT for (?:under )?\d+ (s|min), closed by a signal$/,
      })
      .waitFor();
    const fills = page
      .getByRole('table')
      .getByRole('row')
      .filter({ has: page.getByRole('cell') });
    assert.match(await fills.nth(0).innerText(), /^1\s.*bought 10/s);
    assert.match(await fills.nth(1).innerText(), /^2\s.*sold 10, closed by a signal.*flat/s);
    assert.deepEqual(await barriers(page), []);
    await fills
      .nth(0)
      .getByRole('link', { name: /Breakout|Pullback/ })
      .click();
    await page.waitForURL('**/orders/*');
    await page.goBack();
    await page.getByRole('link', { name: 'Trades', exact: true }).last().click();
    await page.waitForURL('**/trades');
  });

  test('filters stand in the address: a strategy, what closed it, a day of the calendar', async () => {
    await open('/trades');
    await page.getByLabel('Strategy', { exact: true }).selectOption('Pullback');
    await page.waitForURL('**/trades?strategy=Pullback');
    await heading.filter({ hasText: 'of 10 trades won' }).waitFor();
    await page.getByLabel('Strategy', { exact: true }).selectOption('');
    await heading.filter({ hasText: 'of 21 trades won' }).waitFor();
    await page.getByRole('link', { name: /2026.* 21 trades$/ }).click();
    await page.waitForURL(/trades\?from=[\d-]+&to=[\d-]+$/);
    await heading.filter({ hasText: /USD on \d+ \w+ \d{4}: 13 of 21/ }).waitFor();
    await page.getByRole('link', { name: 'all', exact: true }).click();
    await heading.filter({ hasText: 'since the beginning' }).waitFor();
    await page.getByLabel('From', { exact: true }).fill('2026-01-02');
    await page.waitForURL(/from=2026-01-02/);
  });

  test('a trade that is closed while one looks on is counted by itself, and shown when one likes', async () => {
    await open('/trades');
    await heading.filter({ hasText: 'of 21 trades' }).waitFor();
    const last = await page.locator('a[data-row]').first().getAttribute('href');
    await trade(100, 101, 'Breakout');
    await heading.filter({ hasText: 'of 22 trades' }).waitFor();
    // What one looks at does not move by itself.
    assert.equal(await page.locator('a[data-row]').first().getAttribute('href'), last);
    await page.getByRole('button', { name: 'Show 1 new' }).click();
    await page.locator(`tr[aria-rowindex="3"] a[data-row][href="${last}"]`).waitFor();
    assert.equal(await page.getByRole('button', { name: /new$/ }).count(), 0);
  });

  test('it is reached and read by the keyboard', async () => {
    await open('/');
    await chord(page, 'g', 'd');
    await page.waitForURL('**/trades');
    const slider = page.getByRole('slider', { name: 'Trade' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', /USD in all, /);
    await page.keyboard.press('Escape');
  });

  test('it is saved as CSV, with the ids', async () => {
    await open('/trades');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'fillpath-trades as CSV' }).click();
    assert.equal((await saved).suggestedFilename(), 'fillpath-trades.csv');
  });

  test('keeps nobody out, in either theme, and scrolls sideways at no width', async () => {
    await open('/trades');
    const story = await rows
      .first()
      .getByRole('link', { name: /BTCUSDT/ })
      .getAttribute('href');
    for (const path of ['/trades', story ?? '']) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await open(path);
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        assert.deepEqual(await barriers(page), [], `${path}, ${theme}`);
      }
      const wide: Record<number, string[]> = {};
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const found = await sideways(page);
        if (found.length > 0) wide[width] = found;
      }
      assert.deepEqual(wide, {}, path);
    }
    assertClean(visitor.watched, stage.url);
  });
});
