import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { brokerContract } from '../contracts/broker.ts';
import { stubHarness } from './stub-harness.ts';

/** A Tuesday, ten in the morning in Taipei. */
const OPEN = Date.parse('2026-11-17T10:00:00+08:00');
const clock = { now: () => OPEN };
const stub = stubHarness('shioaji', (url) => openShioaji({ url, clock }));

// Answered from a list that was read before.
const outOfReach = ['resolve', 'instruments'] as const;
const never = { position_mode_mismatch: 'nobody is asked for a side at SinoPac' };

brokerContract('shioaji, futures', () =>
  stub.harness({
    symbols: {
      platform: 'TAIFEX:TXF1!',
      broker: 'TXFL6',
      another: 'TAIFEX_DLY:MXF1!',
      unknown: 'TAIFEX:TXG1!',
    },
    quantity: decimal(1),
    stray: 'TXO22000L6',
    outOfReach,
    never,
  }),
);

brokerContract('shioaji, shares', () =>
  stub.harness({
    symbols: { platform: 'TWSE:2330', broker: '2330', another: 'TPEX:6488', unknown: 'TWSE:2331' },
    quantity: decimal(1),
    outOfReach,
    never,
  }),
);
