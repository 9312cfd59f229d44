// Multiples of a broker's steps, exactly.

import Big from 'big.js';
import { canonical, type Decimal } from '../decimal.ts';

const onStep = (amount: Decimal, step: Decimal, how: 0 | 3): Decimal =>
  canonical(new Big(amount).div(step).round(0, how).times(step));

/** Of what is not below zero. */
export const roundedDown = (amount: Decimal, step: Decimal): Decimal => onStep(amount, step, 0);
export const roundedUp = (amount: Decimal, step: Decimal): Decimal => onStep(amount, step, 3);
