// What is to protect an entry, held against the market before anything is sent: a stop on the wrong side would close it at once.

import type { Instrument } from '../../broker/broker.ts';
import { decimal, multiply } from '../../domain/decimal.ts';
import { type Order, type OrderError, unitsOf } from '../../domain/orders/order.ts';
import { keptQuantities } from '../../domain/protection/ability.ts';
import { planProtection, whyAgainstMarket } from '../../domain/protection/planned.ts';
import { hasPrices } from '../../domain/protection/wish.ts';
import type { Line } from '../line/line.ts';

/** So many times the least that every target has its part. */
const PLENTY = decimal(1_000_000);

/** Distances count from the fill, and are never on the wrong side: only for prices the market is asked. */
export async function wrongIn(
  line: Pick<Line, 'quote' | 'capabilities'>,
  instrument: Instrument,
  order: Order,
): Promise<OrderError | null> {
  const { wish, intent, priced } = order;
  if (!wish || intent.operation !== 'PLACE_ENTRY_ORDER' || !hasPrices(wish.own)) return null;
  const { side } = intent;
  const quantity = order.sizing && order.sizing.units === null ? null : unitsOf(order);
  // What waits for a price opens there, wherever the market is now.
  const price = priced && (priced.limit ?? priced.stop);
  const market = price ? { bid: price, ask: price } : await line.quote(instrument);
  const { quantityStep: step, minQuantity: least } = keptQuantities(instrument, line.capabilities);
  const { tickSize: tick } = instrument;
  const direction = side === 'buy' ? 'long' : 'short';
  const entry = side === 'buy' ? market.ask : market.bid;
  const held = quantity ?? multiply(least, PLENTY);
  const planned = planProtection(wish.own, { side: direction, entry, held, tick, step, least });
  const problem = 'problem' in planned ? planned.problem : whyAgainstMarket(planned.legs, direction, market);
  return problem === null ? null : { code: 'invalid_protection', message: problem };
}
