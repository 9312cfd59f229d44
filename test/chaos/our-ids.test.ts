// At a broker that knows our legs by other names, the judge has everything under ours: by them it tells a close from an entry.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { withOurIds } from '../../chaos/forgotten.ts';
import type { Records } from '../../chaos/records.ts';

test('orders, requests, fills and what was not found go by our own ids, and a copy stays a copy', () => {
  const rows = ['fx6cao', 'fx6cao#2', 'byhand'].map((client_order_id) => ({ client_order_id }));
  const theirs = { orders: rows, requests: rows, fills: rows, not_found: rows, looks: [] };
  const records = { legs: [{ client_order_id: 'feofanentry' }] };
  const ours = withOurIds(
    theirs as unknown as ExchangeLedger,
    records as unknown as Records,
    () => 'fx6cao',
  ) as unknown as typeof theirs;
  for (const list of ['orders', 'requests', 'fills', 'not_found'] as const)
    assert.deepEqual(
      ours[list].map(({ client_order_id }) => client_order_id),
      ['feofanentry', 'feofanentry#2', 'byhand'],
      list,
    );
});
