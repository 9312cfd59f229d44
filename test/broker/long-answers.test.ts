// An answer is read whole, and so bounded: more than a megabyte is believed of a list of markets alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { openApi } from '../../src/broker/shioaji/api.ts';
import { MARKETS, scriptedExchange } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';

const long = (bytes: number) => JSON.stringify({ padding: 'x'.repeat(bytes) });

test('an exchange that answers a question with more than a megabyte has not answered', async () => {
  const { broker } = await scriptedExchange('binance', [{ text: long(1_100_000) }]);
  await assert.rejects(broker.balance(NO_HURRY), BrokerUnavailable);
});

test('its list of markets may be longer', async () => {
  const markets = [{ ...MARKETS.binance, padding: 'x'.repeat(2_000_000) }];
  const { broker } = await scriptedExchange('binance', [], { markets });
  const found = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok('symbol' in found, JSON.stringify(found));
});

test('Shioaji’s server may be long of contracts and of the day’s orders, and of nothing else', async () => {
  const fetch = async () => new Response(long(2_000_000));
  const api = openApi({ apiKey: 'k', apiSecret: 's' } as never, { url: 'http://127.0.0.1:1', fetch });
  for (const [path, kind] of [
    ['data/contracts/stocks', 'answer'],
    ['order/trades', 'answer'],
    ['portfolio/margin', 'silence'],
  ] as const)
    assert.equal((await api.ask(NO_HURRY, path)).kind, kind, path);
});
