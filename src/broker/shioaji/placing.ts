// An order on its way to SinoPac: what is asked for, what is not worth asking, and whether an answer is about it.

import { compare, isWhole, sign } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { BrokerOrder } from '../broker.ts';
import { quantityOf, sideOf, type Trade } from './answers.ts';
import { marketOf } from './contracts.ts';
import type { Market } from './hours.ts';
import { wordOf } from './recognise.ts';

/** At the market, now or not at all. A close says so: it is refused rather than open the other side. */
export function termsOf({ clientOrderId, side, quantity, reduceOnly }: BrokerOrder, market: Market): object {
  const common = {
    action: side === 'buy' ? 'Buy' : 'Sell',
    price: 0,
    quantity: Number(quantity),
    price_type: 'MKT',
    order_type: 'IOC',
    custom_field: wordOf(clientOrderId),
  };
  return market === 'futures'
    ? { futures_order: { ...common, octype: reduceOnly ? 'Cover' : 'Auto' } }
    : { stock_order: { ...common, order_lot: 'Common', order_cond: 'Cash' } };
}

/** Whether that is the order that was sent. */
export const isOf = (trade: Trade, { instrument, side, quantity }: BrokerOrder): boolean =>
  trade.contract.code === instrument.symbol &&
  sideOf(trade) === side &&
  compare(quantityOf(trade), quantity) === 0;

export const tooLate = ({ sendBefore }: BrokerOrder): OrderError => ({
  code: 'expired',
  message: `The order was not sent: it had to be at SinoPac before ${sendBefore}.`,
});

/** Why it is not worth sending. */
export function problemOf({ instrument, quantity, reduceOnly, limit, stop }: BrokerOrder): OrderError | null {
  if (limit !== undefined || stop !== undefined)
    return {
      code: 'failed_at_broker',
      message:
        'At SinoPac an order is for now or not at all: it takes no id of ours, and one that rests could not be found again. No limit and no stop is kept there. Nothing was sent; send it at the market.',
    };
  if (sign(quantity) > 0 && (reduceOnly || isWhole(quantity))) return null;
  const unit = marketOf(instrument.symbol) === 'futures' ? 'whole contracts' : 'whole lots of 1,000 shares';
  return {
    code: 'invalid_quantity',
    message: `SinoPac trades ${instrument.symbol} in ${unit}, and ${quantity} is none. Nothing was sent; send a whole number.`,
  };
}
