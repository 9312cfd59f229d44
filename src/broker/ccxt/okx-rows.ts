// What OKX says of an account and of its orders, row by row.

import { negate, sign } from '../../domain/decimal.ts';
import { question, type SeenOrder } from './profile.ts';
import { amount, at, exact, isRow, oneOf, text } from './rows.ts';

/** What an answer carries; undefined: it is a refusal, or none of its answers. */
export const dataOf = (body: unknown): unknown => (text(body, 'code') === '0' ? at(body, 'data') : undefined);

const FATES = {
  live: 'open',
  partially_filled: 'open',
  filled: 'ended',
  canceled: 'ended',
  mmp_canceled: 'ended',
  order_failed: 'failed',
} as const;
export const SIDES = { buy: 'buy', sell: 'sell' } as const;

export function readOrder(row: unknown): SeenOrder | undefined {
  const [ref, marketId, status] = [text(row, 'ordId'), text(row, 'instId'), text(row, 'state')];
  const [quantity, filled] = [exact(row, 'sz'), exact(row, 'accFillSz')];
  const side = oneOf(SIDES, text(row, 'side'));
  const fate = oneOf(FATES, status);
  if (!ref || !marketId || !quantity || !filled || !side || !fate) return undefined;
  return {
    ref,
    clientId: text(row, 'clOrdId') ?? null,
    marketId,
    side,
    quantity,
    filled,
    price: sign(filled) > 0 ? (amount(row, 'avgPx') ?? null) : null,
    fee: feeOf(row, 'feeCcy'),
    fate,
    reason: fate === 'open' ? null : (text(row, 'cancelSourceReason') ?? `the order is ${status}`),
    reduceOnly: text(row, 'reduceOnly') === 'true',
  };
}

/** Below zero is what was charged. */
export function feeOf(row: unknown, currency: string): SeenOrder['fee'] {
  const fee = amount(row, 'fee');
  return fee && text(row, currency) === 'USDT' ? negate(fee) : null;
}

export const CONFIG = question('privateGetAccountConfig', [], (body) => {
  const config = at(dataOf(body), 0);
  return isRow(config) && text(config, 'posMode') && text(config, 'acctLv') ? config : undefined;
});
