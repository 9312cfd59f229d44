// Binance counts by weight: what we count is what it counts, and what others have used at our address leaves the rest to orders.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openExchange } from '../../chaos/exchange.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId, Timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { withTables } from '../data/backend.ts';
import { weighedBinance } from '../stubs/binance-weighed.ts';
import type { Problem } from '../world.ts';
import { journey } from './journey.ts';
import { NO_HURRY } from './paper-desk.ts';

/** Its minute never ends. */
async function openWeighed(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-weighed-'));
  const weighed = weighedBinance({ now: () => 0 });
  const exchange = await openExchange({
    file: await withTables(join(dir, 'exchange.db')),
    dialect: weighed.dialect,
  });
  t.after(async () => {
    await exchange.close();
    await rm(dir, { recursive: true });
  });
  const credentials = { api_key: 'key', api_secret: 'secret', passphrase: '' };
  const response = await fetch(`${exchange.url}/control/accounts/one`, {
    method: 'POST',
    body: JSON.stringify({ paper: { latency_ms: 0 }, credentials }),
  });
  assert.equal(response.status, 200);
  return { weighed, url: exchange.url, credentials };
}

describe('Binance’s weight', () => {
  test('of every call, we count what the exchange counts', async (t) => {
    const { weighed, url, credentials } = await openWeighed(t);
    let sent = 0;
    let told = 0;
    const meter = {
      sent(weight = 1) {
        sent += weight;
      },
      told(used: number) {
        told = used;
      },
    };
    const account = { id: 'one' as AccountId, environment: 'live', paper: null, credentials, meter };
    const broker = await openCcxt('binance', { url })(account, NO_HURRY);
    // The clock and the list of markets are nobody's, and asked for once.
    const [clock, markets] = [1, 1];
    const isSame = (what: string) => assert.equal(sent + clock + markets, weighed.used(), what);
    isSame('opening');
    const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
    assert.ok('symbol' in instrument);
    await broker.balance(NO_HURRY);
    isSame('balance');
    await broker.positions(NO_HURRY);
    await broker.position(instrument, NO_HURRY);
    isSame('positions');
    await broker.quote(instrument, NO_HURRY);
    isSame('quote');
    await broker.openOrders(NO_HURRY);
    isSame('open orders');
    await broker.verify(NO_HURRY);
    isSame('verification');
    const sentAt = new Date().toISOString() as Timestamp;
    const order = {
      clientOrderId: 'aaaaaaaaaaaaaaaaaaaaaaaa' as ClientOrderId,
      side: 'buy',
      quantity: decimal('0.05'),
    } as const;
    const sendBefore = new Date(Date.now() + 60_000).toISOString() as Timestamp;
    await broker.place({ ...order, instrument, reduceOnly: false, sendBefore }, NO_HURRY);
    isSame('an order');
    assert.ok(await broker.find({ ...order, brokerRef: null, symbol: 'BTCUSDT.P', sentAt }, NO_HURRY));
    isSame('a look');
    const { bid } = await broker.quote(instrument, NO_HURRY);
    const price = decimal((Number(bid) * 0.9).toFixed(0));
    const stop = { ...order, clientOrderId: 'fs1' as ClientOrderId, side: 'sell', price } as const;
    const { stops } = broker;
    assert.ok(stops);
    const placed = await stops.place({ ...stop, instrument, triggerBy: 'last' }, NO_HURRY);
    assert.equal(placed.outcome, 'accepted');
    isSame('a stop');
    assert.equal((await stops.standing(instrument, NO_HURRY)).length, 1);
    isSame('what stands');
    const sentStop = { ...stop, brokerRef: null, symbol: 'BTCUSDT.P', sentAt };
    assert.ok(await stops.find(sentStop, NO_HURRY));
    await stops.remove(sentStop, NO_HURRY);
    isSame('a stop’s end');
    assert.equal(told, weighed.used());
  });

  test('what somebody else has used at our address is kept from readers, and orders go on', async (t) => {
    const { weighed, url, credentials } = await openWeighed(t);
    const { world, ready, until, ask } = await journey(t, { broker: 'binance', url });
    const trader = await ready({ credentials });
    weighed.useUp(1_950);
    // How much it is, the exchange says with its answer.
    const entry = await world.send(trader, { symbol: 'BTCUSDT.P', quantity: 0.05 });
    await until(trader, entry.body.order_id, ({ status }) => status === 'filled');
    const used = weighed.used();
    const refused = await ask<Problem>(trader, 'balance');
    assert.deepEqual(
      [refused.status, refused.body.code],
      [429, 'rate_limited'],
      JSON.stringify(refused.body),
    );
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    // A rehearsal asks there for prices, and trades nothing.
    const rehearsed = await world.as<OrderResult>(trader, 'POST', '/trading/order', {
      ...{ trading_account_id: trader.account.id, symbol: 'BTCUSDT.P', action: 'buy' },
      ...{ quantity: 0.05, simulation: true },
    });
    assert.equal(rehearsed.body.error?.code, 'broker_rate_limited', JSON.stringify(rehearsed.body));
    assert.equal(weighed.used(), used);
    const exit = await world.send(trader, { symbol: 'BTCUSDT.P', action: 'long_exit' });
    await until(trader, exit.body.order_id, ({ status }) => status === 'filled');
    assert.equal(weighed.seen.refused, 0);
  });
});
