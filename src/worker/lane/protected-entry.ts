// What is to protect an entry, held against the market before anything is sent: a stop on the wrong side would close it at once.

import type { Instrument } from '../../broker/broker.ts';
import { type Decimal, decimal, multiply } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { planProtection, whyAgainstMarket } from '../../domain/protection/planned.ts';
import { hasPrices, type OrderWish } from '../../domain/protection/wish.ts';
import type { Side } from '../../domain/side.ts';
import type { Line } from '../line/line.ts';

interface Entry {
  readonly wish: OrderWish;
  readonly side: Side;
  /** null: it is yet to be computed. */
  readonly quantity: Decimal | null;
}

/** So many times the least that every target has its part. */
const PLENTY = decimal(1_000_000);

/** Distances count from the fill, and are never on the wrong side: only for prices the market is asked. */
export async function wrongIn(
  line: Pick<Line, 'quote'>,
  instrument: Instrument,
  { wish, side, quantity }: Entry,
): Promise<OrderError | null> {
  if (!hasPrices(wish.own)) return null;
  const market = await line.quote(instrument);
  const { tickSize: tick, quantityStep: step, minQuantity: least } = instrument;
  const direction = side === 'buy' ? 'long' : 'short';
  const entry = side === 'buy' ? market.ask : market.bid;
  const held = quantity ?? multiply(least, PLENTY);
  const planned = planProtection(wish.own, { side: direction, entry, held, tick, step, least });
  const problem = 'problem' in planned ? planned.problem : whyAgainstMarket(planned.legs, direction, market);
  return problem === null ? null : { code: 'invalid_protection', message: problem };
}
