// Does the judge of positions notice what our history lacks? An entry of 1 BTCUSDT, which a target of ours has closed there.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { judgePositions } from '../../chaos/judge-positions.ts';
import { judgeProtection } from '../../chaos/judge-protection.ts';
import type { LegRow, OrderRow } from '../../chaos/records.ts';

const ACCOUNT = 'a';
const TARGET = `fp${'1'.padStart(22, '0')}`;
const DONE = { account: ACCOUNT, symbol: 'BTCUSDT', status: 'filled', fill_price: '100', limit_price: null };
const PLACE = { trading_account_id: ACCOUNT, symbol: 'BTCUSDT', status: 'filled', wish: null };

function problemsOf({ tells, forgets }: { readonly tells: boolean; readonly forgets: boolean }): string[] {
  const at = '2027-01-15T08:00:00.000Z';
  const stamps = { accepted_at: at, updated_at: at };
  const ledger = {
    ...{ fills: [], held: [], stops: [], denials: [], looks: [], positions: [] },
    orders: [
      { ...DONE, ...stamps, client_order_id: 'fe1', broker_ref: 'ref 1', side: 'buy', fill_quantity: '1' },
      { ...DONE, ...stamps, client_order_id: TARGET, broker_ref: 'ref 2', side: 'sell', fill_quantity: '1' },
    ],
    not_found: [{ at: 0, account: ACCOUNT, client_order_id: TARGET, forgotten: forgets }],
  } as unknown as ExchangeLedger;
  const leg = { status: 'filled', fill_quantity: '1', fill_price: '100' };
  const closed = { ...leg, order_id: 'close', client_order_id: TARGET, broker_ref: 'ref 2', side: 'sell' };
  const records = {
    orders: [
      { ...PLACE, order_id: 'entry', source: 'webhook' },
      { ...PLACE, order_id: 'close', source: 'protection' },
    ] as OrderRow[],
    legs: [
      { ...leg, order_id: 'entry', client_order_id: 'fe1', broker_ref: 'ref 1', side: 'buy' },
      ...(tells ? [closed] : []),
    ] as LegRow[],
    ...{ audited: [], openChecks: [], memberEnds: [] },
  };
  const positions = judgePositions({ ledger, records, forgotten: new Set(), told: new Map() });
  const protection = judgeProtection({
    ...{ ledger, records, desks: [], signals: [], sweepIntervals: [], outages: [], deaths: [] },
    ...{ reserving: new Set<string>(), verifiedAt: 0, until: 0 },
    times: { leaseMs: 3_000, protectMs: 5_000, sweepMs: 8_000 },
  });
  const history = protection.filter(({ invariant }) =>
    invariant.startsWith('what a stop or a target closes'),
  );
  return [positions, ...history].flatMap(({ problems }) => problems);
}

describe('what a target closed at the exchange', () => {
  it('is told, and the positions agree', () =>
    assert.deepEqual(problemsOf({ tells: true, forgets: false }), []));

  it('cannot be told when the exchange had forgotten it before it could be found', () =>
    assert.deepEqual(problemsOf({ tells: false, forgets: true }), []));

  it('is found missing where the exchange still knew of it', () => {
    const problems = problemsOf({ tells: false, forgets: false });
    assert.match(problems.join('\n'), /is 1 by our fills and 0 at the exchange/);
    assert.match(problems.join('\n'), /is told 0 times/);
  });
});
