// One spelling per instrument on every page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentAs, spelled } from '../../web/parts/symbol.ts';

test('an instrument has the spelling of its broker, however it was sent', () => {
  for (const sent of ['BINANCE:BTCUSDT.P', 'btcusdt.p', 'BTCUSDT.P']) {
    assert.equal(spelled(sent, 'bybit'), 'BTCUSDT.P');
    assert.equal(spelled(sent, 'paper'), 'BTCUSDT');
    assert.equal(spelled(sent, undefined), 'BTCUSDT.P');
  }
  assert.equal(spelled('CME_MINI:ES1!', 'paper'), 'ES1!');
  assert.equal(spelled('X:', 'paper'), 'X:');
});

test('how it was sent is told where that is another spelling', () => {
  assert.equal(sentAs('BINANCE:BTCUSDT.P', 'bybit'), 'BINANCE:BTCUSDT.P');
  assert.equal(sentAs('BTCUSDT.P', 'bybit'), null);
  assert.equal(sentAs('BTCUSDT.P', 'paper'), 'BTCUSDT.P');
});
