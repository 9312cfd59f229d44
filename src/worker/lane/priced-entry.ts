// An entry that is to rest: whether its prices can stand, held against the market before anything is sent.

import { BrokerUnavailable, type Instrument } from '../../broker/broker.ts';
import { compare, type Decimal } from '../../domain/decimal.ts';
import { type Order, type OrderError, type Side, wasSent } from '../../domain/orders/order.ts';
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
  const why = await whyPassed(line, instrument, { stop: priced.stop, side: intent.side });
  return why === null ? null : invalidPrice(`${why} Nothing was sent.`);
}

/** The entry of a reversal, whose close took its time. Where nobody can be asked, it is sent: the exchange may say so itself. */
export async function passedMeanwhile(
  line: Pick<Line, 'quote'>,
  instrument: Instrument,
  { priced, intent }: Order,
): Promise<OrderError | null> {
  if (!priced || priced.stop === null || intent.operation !== 'PLACE_ENTRY_ORDER') return null;
  try {
    const why = await whyPassed(line, instrument, { stop: priced.stop, side: intent.side });
    return why === null
      ? null
      : invalidPrice(`${why} What was held before was closed; the entry was not sent.`);
  } catch (fault) {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    return null;
  }
}

async function whyPassed(
  line: Pick<Line, 'quote'>,
  instrument: Instrument,
  { stop, side }: { readonly stop: Decimal; readonly side: Side },
): Promise<string | null> {
  const { bid, ask } = await line.quote(instrument);
  if (side === 'buy')
    return compare(stop, ask) > 0
      ? null
      : `"stop_price" is ${stop}, and the market is at ${ask}: an entry to buy waits above it.`;
  return compare(stop, bid) < 0
    ? null
    : `"stop_price" is ${stop}, and the market is at ${bid}: an entry to sell waits below it.`;
}
