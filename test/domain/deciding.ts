// What an order's next step is decided on, for tests: nothing known and nobody else about, but for what a test says.

import { decimal } from '../../src/domain/decimal.ts';
import { type Facts, type Rules, UNWATCHED } from '../../src/domain/orders/step.ts';
import { START } from './traded.ts';

export const RULES: Rules = {
  fillWaitMs: 1_000,
  settleMs: 2_000,
  closeWaitMs: 5_000,
  lookEveryMs: 500,
  giveUpMs: 5_000,
  lagMs: 10_000,
  openWithinMs: 60_000,
};
export const NOW = START + 10_000;

export const facts = (more: Partial<Facts>): Facts => ({
  now: NOW,
  able: { refusesDuplicateIds: true, reduceOnly: true, fractionalQuantities: true },
  instrument: 'BTCUSDT',
  isSameLogin: true,
  others: [],
  othersWatch: UNWATCHED,
  position: null,
  positionWatch: UNWATCHED,
  mayReverse: false,
  guards: 'none',
  busyMs: 0,
  refusals: 0,
  watch: UNWATCHED,
  isMissing: false,
  market: null,
  wrong: null,
  wrongPrice: null,
  isCleared: false,
  opposed: null,
  closedBy: null,
  isBelieved: true,
  ...more,
});

export const held = (quantity: number, expected: number | null = null): Facts['position'] => ({
  held: [
    {
      instrument: 'BTCUSDT',
      quantity: decimal(quantity),
      expected: expected === null ? null : decimal(expected),
    },
  ],
  readAt: NOW,
});
