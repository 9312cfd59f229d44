// An entry that is to rest: whether its prices can stand, held against the market before anything is sent.

import type { Instrument } from '../../broker/broker.ts';
import { compare } from '../../domain/decimal.ts';
import { type Order, type OrderError, wasSent } from '../../domain/orders/order.ts';
import { invalidPrice, whyOffTick } from '../../domain/orders/resting.ts';
import type { Line } from '../line/line.ts';

/** A limit may be filled at once; a stop that the price has passed would be an order at the market. */
export async function wrongPriceIn(
  line: Pick<Line, 'quote' | 'capabilities'>,
  instrument: Instrument,
  order: Order,
): Promise<OrderError | null> {
  const { priced, intent } = order;
  if (!priced || intent.operation !== 'PLACE_ENTRY_ORDER' || wasSent(order)) return null;
  const offTick = whyOffTick(priced, instrument.tickSize);
  if (offTick || priced.stop === null) return offTick;
  if (!line.capabilities.stopEntries)
    return {
      code: 'failed_at_broker',
      message:
        'This account takes no entry with a stop price that could be found by our id. Send "limit_price".',
    };
  const { bid, ask } = await line.quote(instrument);
  const isBuy = intent.side === 'buy';
  const isPassed = isBuy ? compare(priced.stop, ask) <= 0 : compare(priced.stop, bid) >= 0;
  if (!isPassed) return null;
  return invalidPrice(
    isBuy
      ? `"stop_price" is ${priced.stop}, and the market is at ${ask}: an entry to buy waits above it. Nothing was sent.`
      : `"stop_price" is ${priced.stop}, and the market is at ${bid}: an entry to sell waits below it. Nothing was sent.`,
  );
}
