import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stateOf } from '../../src/broker/ccxt/orders.ts';
import type { SeenOrder } from '../../src/broker/ccxt/profile.ts';
import { addressIn, discreetWords } from '../../src/broker/ccxt/words.ts';
import { decimal } from '../../src/domain/decimal.ts';

const KEYS = { apiKey: 'AbCdEf0123456789', secret: 'sEcReT/0123456789+x', passphrase: 'my phrase' };

describe('an exchange’s words', () => {
  const cases: Record<string, readonly [string, RegExp | string]> = {
    'the key is taken out': ['API key AbCdEf0123456789 is unknown', 'API key … is unknown'],
    'so is the secret, encoded too': [`bad ${encodeURIComponent(KEYS.secret)} ${KEYS.secret}`, 'bad … …'],
    'and the passphrase': ['passphrase my phrase is wrong', 'passphrase … is wrong'],
    'and an address, signed or not': [
      'GET https://fapi.binance.com/fapi/v1/order?signature=ab failed',
      'GET … failed',
    ],
    'and what was signed': ['error sign! origin_string[1690KEY5000{"a":1}]', 'error sign! origin_string[…]'],
    'and a signature under its name': ['signature=0123abcd is not valid', 'signature … is not valid'],
    'and one without a name': [`got ${'ab'.repeat(32)} instead`, 'got … instead'],
    'an address that is to be allowed stays': ['request ip: 203.0.113.7.', 'request ip: 203.0.113.7'],
    'and so do plain words': ['Margin is insufficient.', 'Margin is insufficient'],
    'marks of pages are taken out': ['<b>Not</b> allowed', 'Not allowed'],
  };
  for (const [name, [said, shown]] of Object.entries(cases))
    test(name, () => assert.equal(discreetWords(said, KEYS), shown));

  test('are cut where they do not end', () =>
    assert.equal(discreetWords('no '.repeat(500), KEYS).length, 301));
  test('name an address, or none', () => {
    assert.equal(addressIn('Your IP 203.0.113.7 is not included'), '203.0.113.7');
    assert.equal(addressIn('ip 2001:db8:0:0:0:0:0:1 refused'), '2001:db8:0:0:0:0:0:1');
    assert.equal(addressIn('Invalid IP'), null);
  });
});

describe('an order as an exchange tells of it', () => {
  const order: SeenOrder = {
    ref: '1',
    clientId: 'fe1',
    marketId: 'BTC-USDT-SWAP',
    side: 'buy',
    quantity: decimal(5),
    filled: decimal(0),
    price: null,
    fee: null,
    fate: 'open',
    reason: null,
    reduceOnly: false,
  };
  const seen = (change: Partial<SeenOrder>) => stateOf({ ...order, ...change }, decimal('0.01'));
  const some = { filled: decimal(2), price: decimal('50000.5') };

  test('rests, and has no price whatever stands there', () => {
    assert.deepEqual(seen({ price: decimal(50000), fee: decimal(1) }), {
      brokerRef: '1',
      status: 'placed',
      fillQuantity: '0',
      fillPrice: null,
      fee: null,
      reason: null,
    });
  });
  test('is filled only where nothing remains, in the base asset', () => {
    const all = seen({
      filled: decimal(5),
      price: decimal('50000.5'),
      fate: 'ended',
      reason: 'the order is FILLED',
    });
    assert.deepEqual([all?.status, all?.fillQuantity, all?.reason], ['filled', '0.05', null]);
    assert.equal(seen(some)?.status, 'partially_filled');
  });
  test('has ended with a part of it filled: cancelled, with its fill', () => {
    const part = seen({ ...some, fate: 'ended', reason: 'the order is EXPIRED' });
    assert.deepEqual(
      [part?.status, part?.fillQuantity, part?.fillPrice, part?.reason],
      ['cancelled', '0.02', '50000.5', 'the order is EXPIRED'],
    );
  });
  test('was rejected with a part of it filled: failed, with its fill', () => {
    const part = seen({ ...some, fate: 'failed', reason: 'the order is Rejected' });
    assert.deepEqual(
      [part?.status, part?.fillQuantity, part?.fillPrice, part?.reason],
      ['failed', '0.02', '50000.5', 'the order is Rejected'],
    );
  });
  test('has failed with nothing filled', () =>
    assert.equal(seen({ fate: 'failed', reason: 'no' })?.status, 'failed'));
  test('with a fill and no price is not believed', () => {
    assert.equal(seen({ filled: decimal(2) }), undefined);
    assert.equal(seen({ filled: decimal(2), price: decimal(0) }), undefined);
  });
});
