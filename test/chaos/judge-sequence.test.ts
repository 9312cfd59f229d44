// The judge of who trades when, tried on stories in which it must notice something, and on others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { judgeOverlaps } from '../../chaos/judge-sequence.ts';
import type { LegRow, OrderRow, Records } from '../../chaos/records.ts';

const ENTRY = JSON.stringify({ operation: 'PLACE_ENTRY_ORDER', side: 'buy' });
const order = (id: string) => ({ order_id: id, symbol: 'BTCUSDT', intent: ENTRY }) as OrderRow;
const leg = (id: string) => ({ order_id: id, client_order_id: `fe${id}` }) as LegRow;
const RECORDS = { orders: [order('1'), order('2')], legs: [leg('1'), leg('2')] } as unknown as Records;

interface Asked {
  readonly at: number;
  readonly of: '1' | '2';
  readonly by: 'w1' | 'w2';
  readonly outcome?: string;
}

const found = (requests: readonly Asked[], looks: readonly { at: number; by: string }[]) => {
  const ledger = {
    requests: requests.map(({ at, of, by, outcome = 'accepted' }) => ({
      ...{
        seq: at,
        arrived_at: at,
        account: 'a',
        client_order_id: `fe${of}`,
        asker: by,
        outcome,
        code: null,
      },
    })),
    looks: looks.map(({ at, by }) => ({ at, account: 'a', asker: by, lag_ms: 0 })),
  } as unknown as ExchangeLedger;
  return judgeOverlaps(ledger, RECORDS, () => 0).problems.length;
};

test('an order that is traded between the plan of another one and its first leg is noticed', () => {
  const looks = [{ at: 10, by: 'w1' }];
  assert.equal(
    found(
      [
        { at: 20, of: '2', by: 'w2' },
        { at: 30, of: '1', by: 'w1' },
      ],
      looks,
    ),
    1,
  );
  assert.equal(
    found(
      [
        { at: 20, of: '2', by: 'w2' },
        { at: 40, of: '1', by: 'w1' },
      ],
      [{ at: 30, by: 'w1' }],
    ),
    0,
  );
});

test('a leg that another worker sent before it died was planned then, whatever its successor looked at since', () => {
  const looks = [
    { at: 5, by: 'w2' },
    { at: 15, by: 'w1' },
  ];
  const lost: Asked = { at: 10, of: '1', by: 'w2', outcome: 'not_taken' };
  assert.equal(found([lost, { at: 20, of: '2', by: 'w1' }, { at: 30, of: '1', by: 'w1' }], looks), 0);
});
