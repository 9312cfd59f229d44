// What is not worth sending to an exchange, and why.

import { compare, type Decimal, isOnStep } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { BrokerOrder } from '../broker.ts';
import type { Market } from './listing.ts';
import { contractsOf, findMarket, type Markets, marketOf, unknownSymbol } from './markets.ts';

/** Before anything is sent: what cannot be traded as it stands is not rounded. */
export async function refuseUnsent(
  { markets, title }: { readonly markets: Markets; readonly title: string },
  order: BrokerOrder,
  signal: AbortSignal,
): Promise<{ readonly error: OrderError } | { readonly market: Market; readonly contracts: Decimal }> {
  const { instrument, quantity, reduceOnly } = order;
  // What takes nobody in any more may let out who is in it: a close is the exchange's own to refuse.
  const isShut = (market: Market) => !market.instrument.open && !reduceOnly;
  let market = await marketOf(markets, instrument.symbol, signal);
  if (market && isShut(market)) market = findMarket(await markets.fresh(signal), instrument.symbol) ?? null;
  if (!market) return { error: unknownSymbol(await markets.all(signal), instrument.symbol, title) };
  if (isShut(market))
    return {
      error: {
        code: 'market_closed',
        message: `${title} has suspended ${instrument.symbol}. Nobody says until when.`,
      },
    };
  const { quantityStep, minQuantity } = market.instrument;
  if (!reduceOnly && (!isOnStep(quantity, quantityStep) || compare(quantity, minQuantity) < 0))
    return {
      error: {
        code: 'invalid_quantity',
        message:
          `${title} takes ${instrument.symbol} in steps of ${quantityStep} and not below ${minQuantity}, ` +
          `and ${quantity} was asked for. Nothing was sent.`,
      },
    };
  if (isLate(order)) return { error: tooLate(order, title) };
  return { market, contracts: contractsOf(quantity, market) };
}

export const isLate = ({ sendBefore }: BrokerOrder): boolean => Date.now() >= millis(sendBefore);

export const tooLate = ({ sendBefore }: BrokerOrder, title: string): OrderError => ({
  code: 'expired',
  message: `The order was not sent: it had to be at ${title} before ${sendBefore}.`,
});
