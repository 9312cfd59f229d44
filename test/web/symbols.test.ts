// Symbols: which are offered, and that an instrument has one spelling wherever it is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, logIn, onStage } from './stage.ts';

await onStage('symbols', async ({ stage, visitor, page, open }) => {
  const account: Account = await stage.makeAccount({ name: 'Alpha' });

  test('are offered as they are meant: what is held first, then by the symbol, and never for what they are quoted in', async () => {
    assert.equal(
      await stage.signal(account, { symbol: 'BINANCE:LTCUSDT.P', action: 'buy', quantity: 1 }),
      200,
    );
    await logIn(page, stage);
    await visitor.settled();
    await page.keyboard.press('t');
    const drawer = page.getByRole('complementary', { name: 'Trade' });
    await drawer.getByLabel('Account', { exact: true }).selectOption(account.id);
    const field = drawer.getByRole('combobox', { name: 'Symbol' });
    const offered = drawer.getByRole('listbox', { name: 'Symbols' }).getByRole('option');
    const first = offered.first();
    await field.fill('ETH');
    // Alone: Tether is not Ether.
    await first.and(offered.last()).filter({ hasText: 'ETHUSDT' }).waitFor();
    await field.fill('L');
    await first.filter({ hasText: 'LTCUSDT' }).waitFor();
    await field.press('ArrowDown');
    await field.press('Enter');
    assert.equal(await field.inputValue(), 'LTCUSDT');
    await drawer.getByText(/held: long 1/).waitFor();
    // As an alert spells it, it is the same.
    await field.fill('BYBIT:LTCUSDT.P');
    await drawer.getByText(/Litecoin \/ Tether.*held: long 1/).waitFor();
  });

  test('have one spelling in lists, filters and stories, and the platform’s stands beside it', async () => {
    assert.equal(await stage.signal(account, { symbol: 'ltcusdt', action: 'sell', quantity: 1 }), 200);
    await open('/signals');
    const rows = page.getByRole('main').getByRole('row').filter({ hasText: 'LTCUSDT' });
    await rows.nth(1).waitFor();
    assert.deepEqual(await page.getByLabel('Symbol', { exact: true }).locator('option').allTextContents(), [
      'All symbols',
      'LTCUSDT',
    ]);
    await page.getByLabel('Symbol', { exact: true }).selectOption('LTCUSDT');
    await page.waitForURL(/symbol=LTCUSDT/);
    await page.getByText('2 shown').waitFor();
    assert.equal(await rows.count(), 2);
    await rows.nth(1).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /1 LTCUSDT/ }).waitFor();
    await page.getByText('sent as BINANCE:LTCUSDT.P').waitFor();
  });
});
