// What an account holds and cannot trade here: it is shown as such, and whoever deletes the account is told of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TRADABLE } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld } from '../world.ts';

const held = (symbol: string) => ({
  symbol,
  quantity: decimal(5),
  averagePrice: decimal(100),
  lastPrice: null,
  openProfit: null,
});
const USDC = { ...held('BTCUSDC'), tradable: false, reason: 'Close it at the exchange.' };

test('a position that is not traded here is listed with the reason, beside the others', async (t) => {
  const broker = scriptedBroker(t);
  const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
  const trader = await world.makeTrader();
  broker.script('positions', async () => [USDC, { ...held('BTCUSDT'), ...TRADABLE }]);
  const url = `/trading/accounts/${trader.account.id}/positions`;
  const { body } = await world.as<{ items: Record<string, unknown>[] }>(trader, 'GET', url);
  assert.deepEqual(
    body.items.map(({ symbol, quantity, tradable, reason }) => [symbol, quantity, tradable, reason]),
    [
      ['BTCUSDC', 5, false, 'Close it at the exchange.'],
      ['BTCUSDT', 5, true, null],
    ],
  );
});

test('an account that holds only what is not traded here is not deleted unless that is said', async (t) => {
  const broker = scriptedBroker(t);
  const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
  const trader = await world.makeTrader();
  broker.script('positions', async () => [USDC]);
  const url = `/trading/accounts/${trader.account.id}`;
  const refused = await world.as<{ code: string; detail: string }>(trader, 'DELETE', url);
  assert.deepEqual([refused.status, refused.body.code], [409, 'positions_open']);
  assert.match(refused.body.detail, /BTCUSDC/);
  assert.equal((await world.as(trader, 'DELETE', `${url}?keep_positions=true`)).status, 204);
});
