// What happens comes to the page by itself, and nothing is said of a position that nobody knows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, logIn, onStage } from './stage.ts';

/** Pages ask by themselves twice in a minute: what is there before that came with the stream. */
const BEFORE_ASKING = { timeout: 20_000 };
const long = (size: number) => ({ market_position: 'long', market_position_size: size });

/** What is unknown stays so for as long as the pages take. */
const NOBODY_FINDS_OUT = { env: { FILL_FIRST_POLL_SECONDS: '600' } };

await onStage(
  'what the pages hear',
  async ({ stage, page, open }) => {
    const account: Account = await stage.makeAccount({ name: 'Alpha' });
    const buy = { symbol: 'BTCUSDT', action: 'buy', quantity: 2 };

    test('refused signals come with the stream, to Today and to Signals', async () => {
      assert.equal(await stage.signal(account, { ...buy, ...long(2) }), 200);
      await logIn(page, stage);
      await page.getByText('live', { exact: true }).waitFor();
      await page.getByRole('row').filter({ hasText: 'filled' }).first().waitFor();
      assert.equal(await stage.signal(account, { ...buy, secret: 'wrong' }), 401);
      await page.getByRole('row').filter({ hasText: 'refused' }).first().waitFor(BEFORE_ASKING);
      await open('/signals');
      await page.getByText('live', { exact: true }).waitFor();
      assert.equal(await stage.signal(account, { ...buy, secret: 'wrong' }), 401);
      await page.getByRole('button', { name: 'Show 1 new' }).click(BEFORE_ASKING);
      await page.getByRole('row').filter({ hasText: 'refused' }).nth(1).waitFor();
    });

    test('what was closed and halted is not offered to be bought again', async () => {
      await stage.call(`/trading/accounts/${account.id}/halt`, { body: { flatten: true } });
      await stage.signal(account, { action: 'sync', symbol: 'BTCUSDT', ...long(2) });
      await open('/');
      assert.equal(await page.getByRole('button', { name: /^Buy/ }).count(), 0);
      await open('/positions');
      await page.getByText('The account is halted: nothing is opened until you resume it.').waitFor();
      assert.equal(await page.getByRole('button', { name: /to align/ }).count(), 0);
    });

    test('an instrument with an unknown order stands in Positions, and is in sync with nothing', async () => {
      const lost: Account = await stage.makeAccount({ name: 'Lost', paper: { lose_answer: true } });
      await stage.signal(lost, { symbol: 'BINANCE:ETHUSDT.P', action: 'sell', quantity: 0.2 });
      await open('/positions');
      const row = page.getByRole('row').filter({ hasText: 'ETHUSDT' });
      await row.getByText(/^(?:flat or short 0\.2|short 0\.2 or flat), not known$/).waitFor();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: '1 not known' }).waitFor();
    });

    test('open orders at the broker are shown when somebody asks, ours with their story', async () => {
      const waiting: Account = await stage.makeAccount({ name: 'Waiting' });
      const resting = { symbol: 'SOLUSDT', action: 'buy', quantity: 3, limit_price: 1, order_type: 'entry' };
      await stage.signal(waiting, resting);
      await open('/positions');
      await page.getByRole('button', { name: 'Ask the brokers' }).click();
      const row = page.getByText(/buy 3 SOLUSDT Its story/);
      await row.getByRole('link', { name: 'Its story' }).click();
      await page.getByRole('heading', { level: 1, name: /Waiting to buy 3 SOLUSDT/ }).waitFor();
    });

    test('Check names a stop that would be lost in its heading', async () => {
      await open('/check');
      await page
        .getByRole('textbox')
        .first()
        .fill(
          JSON.stringify({
            ticker: 'BTCUSDT',
            action: 'buy',
            quantity: 1,
            time: new Date().toISOString(),
            stopLoss: { type: 'trailing_stop', stopPrice: 95_400 },
          }),
        );
      await page.getByRole('button', { name: 'Check this message' }).click();
      const heading = page.getByRole('heading', { level: 1 });
      await heading.filter({ hasText: 'written for TradersPost, and its stop would be lost' }).waitFor();
    });
  },
  NOBODY_FINDS_OUT,
);
