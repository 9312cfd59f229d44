// What the contract suite must know of the exchanges that are reached through ccxt.

import { decimal } from '../../src/domain/decimal.ts';
import type { BrokerHarness } from '../contracts/broker.ts';

/** `stray`: what is listed among its positions and is no perpetual in USDT. Perpetuals are open always, or nobody knows until when not; and what all users share is asked without their keys. */
export const exchangeTerms = (prefix: string, stray: string) =>
  ({
    stray,
    symbols: {
      platform: `${prefix}:BTCUSDT.P`,
      broker: 'BTCUSDT.P',
      another: `${prefix}:ETHUSDT.P`,
      unknown: `${prefix}:NOPEUSDT.P`,
    },
    quantity: decimal('0.05'),
    hasNoHours: true,
    outOfReach: ['resolve', 'instruments', 'quote'],
  }) as const satisfies Partial<BrokerHarness>;
