// What Bitget says of orders, row by row and page by page, in both of its languages.

import { absolute, negate, sign } from '../../domain/decimal.ts';
import type { Page, SeenOrder } from './profile.ts';
import { amount, at, each, exact, isRow, oneOf, text } from './rows.ts';

/** What an answer carries; undefined: it is a refusal, or none of its answers. */
export const dataOf = (body: unknown): unknown =>
  text(body, 'code') === '00000' ? at(body, 'data') : undefined;

export const PRODUCT = 'USDT-FUTURES';
const FATES = {
  init: 'open',
  new: 'open',
  live: 'open',
  partially_filled: 'open',
  partial_fill: 'open',
  filled: 'ended',
  full_fill: 'ended',
  canceled: 'ended',
  cancelled: 'ended',
  cancel: 'ended',
  reject: 'failed',
  rejected: 'failed',
} as const;
export const IDS = { client: 'clientOid', own: 'orderId' };
export const SIDES = { buy: 'buy', sell: 'sell' } as const;

/** Both languages at once: no field of one means something else in the other. */
export function readOrder(row: unknown): SeenOrder | undefined {
  const [ref, marketId] = [text(row, 'orderId'), text(row, 'symbol')];
  const status = text(row, 'orderStatus') ?? text(row, 'state') ?? text(row, 'status');
  const quantity = exact(row, 'qty') ?? exact(row, 'size');
  const filled = exact(row, 'cumExecQty') ?? exact(row, 'baseVolume');
  const side = oneOf(SIDES, text(row, 'side'));
  const fate = oneOf(FATES, status);
  if (!ref || !marketId || !quantity || !filled || !side || !fate) return undefined;
  return {
    ref,
    clientId: text(row, 'clientOid') ?? null,
    marketId,
    side,
    quantity,
    filled,
    price: sign(filled) > 0 ? (amount(row, 'avgPrice') ?? amount(row, 'priceAvg') ?? null) : null,
    fee: feeOf(row),
    fate,
    reason: fate === 'open' ? null : (text(row, 'cancelReason') ?? `the order is ${status}`),
    reduceOnly: /^yes$/i.test(text(row, 'reduceOnly') ?? ''),
  };
}

/** Classic: below zero is what was charged. Unified: what was charged, coin by coin. */
function feeOf(row: unknown): SeenOrder['fee'] {
  const charged = amount(row, 'fee');
  if (charged) return negate(charged);
  const details = each(at(row, 'feeDetail'), (detail) => detail);
  const [detail] = details ?? [];
  const fee = details?.length === 1 && text(detail, 'feeCoin') === 'USDT' ? amount(detail, 'fee') : undefined;
  return fee ? absolute(fee) : null;
}

/** An empty list comes as null, under its name. */
export function listOf(body: unknown, name: string): unknown {
  const data = dataOf(body);
  return isRow(data) && data[name] === null ? [] : at(data, name);
}

export const page = <T>(
  rows: readonly (T | null)[] | undefined,
  { of, next }: { readonly of: number; readonly next: string | undefined },
): Page<T> | undefined =>
  rows && { rows: rows.filter((row) => row !== null), next: rows.length < of ? null : (next ?? null) };
