import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LegStatus, NO_NOTES, type Order } from '../../src/domain/orders/order.ts';
import { givenUp } from '../../src/domain/orders/outcome.ts';
import { legOfThree } from './legs.ts';

const reversal = (close: LegStatus) =>
  ({
    id: 'order',
    status: 'executing',
    notes: NO_NOTES,
    legs: [legOfThree('exit', close), legOfThree('entry', 'planned')],
  }) as unknown as Order;

for (const status of ['sending', 'unknown', 'placed', 'partially_filled'] as const)
  test(`a reversal whose close is ${status} when the broker is left has failed, and says what may be open`, () => {
    for (const code of ['broker_rate_limited', 'broker_unavailable'] as const) {
      const ended = givenUp(reversal(status), { code, message: 'Away.' });
      assert.equal(ended.status, 'failed');
      assert.match(ended.error?.message ?? '', /^Away\. The close of the reversal \(sell 3/);
    }
  });

test('a reversal of which nothing was sent is rejected where the broker limits the rate', () => {
  const busy = givenUp(reversal('planned'), { code: 'broker_rate_limited', message: 'Busy.' });
  assert.deepEqual([busy.status, busy.error?.message], ['rejected', 'Busy.']);
});
