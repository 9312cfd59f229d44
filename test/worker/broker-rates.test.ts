// What a broker publishes that it takes, and the part of it that is kept for orders.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BROKER_NAMES, BROKERS } from '../../src/domain/brokers.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import { createRates } from '../../src/worker/line/rates.ts';
import { onBehalfOf } from '../../src/worker/line/reader.ts';

const [ANNE, BERT] = ['anne', 'bert'] as UserId[] as [UserId, UserId];
const free = (user: UserId) => ({ user, pay: async () => {} });

function openRates() {
  let now = 1_000_000;
  const rates = createRates(() => now);
  return {
    at: (broker: 'binance' | 'alpaca' | 'paper', account = 'one', environment = 'live') =>
      rates({ broker, environment, account: account as AccountId }),
    pass(ms: number): void {
      now += ms;
    },
  };
}

describe('The part of a broker’s rate that is kept for orders', () => {
  test('who reads is told to come again when four fifths are used, whoever used them, and may when they are not', () => {
    const { at, pass } = openRates();
    at('binance').sent(1_919);
    assert.equal(at('binance', 'another account').keptMs(ANNE), 0);
    pass(30_000);
    at('binance').sent(1);
    const kept = at('binance', 'another account').keptMs(ANNE);
    assert.ok(kept > 20_000 && kept <= 35_000, `${kept} ms`);
    assert.equal(at('binance', 'one', 'testnet').keptMs(ANNE), 0);
    pass(kept);
    assert.equal(at('binance').keptMs(ANNE), 0);
  });

  test('it is never more than is published in any minute, however the exchange’s own minutes fall', () => {
    const { at, pass } = openRates();
    const sent: { at: number; weight: number }[] = [];
    for (let ms = 0; ms < 300_000; ms += 100) {
      if (at('binance').keptMs(ANNE) === 0) {
        at('binance').sent(30);
        sent.push({ at: ms, weight: 30 });
      }
      pass(100);
    }
    for (const { at: from } of sent) {
      const inMinute = sent.filter((each) => each.at >= from && each.at < from + 60_000);
      assert.ok(inMinute.reduce((sum, { weight }) => sum + weight, 0) < 2_400 * 0.8 + 30);
    }
  });

  test('what the broker says is used counts, where it is more than we know of', () => {
    const { at } = openRates();
    at('binance').sent(100);
    at('binance').told(60);
    assert.equal(at('binance').keptMs(ANNE), 0);
    at('binance').told(1_920);
    assert.ok(at('binance').keptMs(ANNE) > 0);
  });

  test('one reader leaves something to the others; who trades is not counted as one', async () => {
    const { at } = openRates();
    await onBehalfOf(free(ANNE), async () => at('binance').sent(1_280));
    assert.ok(at('binance').keptMs(ANNE) > 0);
    assert.equal(at('binance').keptMs(BERT), 0);
    at('binance').sent(600);
    assert.equal(at('binance').keptMs(BERT), 0);
  });

  test('where the broker counts by account, one account is nothing to another', () => {
    const { at } = openRates();
    at('alpaca').sent(160);
    assert.ok(at('alpaca').keptMs(ANNE) > 0);
    assert.equal(at('alpaca', 'two').keptMs(ANNE), 0);
    at('paper').sent(1e9);
    assert.equal(at('paper').keptMs(ANNE), 0);
  });

  test('every broker says what it takes, or that it takes all', () => {
    for (const name of BROKER_NAMES) assert.equal(BROKERS[name].rate === null, name === 'paper');
  });
});
