import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discretion } from '../../src/worker/line/discretion.ts';

test('what a broker says of the credentials is left out, however it spells them', () => {
  const discreet = discretion({
    api_key: 'key/with+signs',
    nested: { secrets: ['"quoted"\\secret', 1234567] },
    pem: '-----BEGIN KEY-----\nfirst line of it\nsecond line of it\n-----END KEY-----',
    longer: 'key/with+signs and more',
    mode: 'demo',
    flag: true,
    none: null,
  });
  assert.equal(discreet('the key key/with+signs is unknown'), 'the key … is unknown');
  assert.equal(discreet('GET /orders?key=key%2Fwith%2Bsigns&n=1'), 'GET /orders?key=…&n=1');
  assert.equal(discreet('key/with+signs and more'), '…');
  assert.equal(discreet(JSON.stringify({ secret: '"quoted"\\secret' })), '{"secret":"…"}');
  assert.equal(discreet('account 1234567 is closed'), 'account … is closed');
  assert.equal(discreet('in "second line of it"'), 'in "…"');
  assert.equal(discreet('the demo market is closed: true'), 'the demo market is closed: true');
  assert.equal(discretion(null)('as it was'), 'as it was');
});
