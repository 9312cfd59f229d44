// What a classic account at Bitget (v2) reads of every order: of one for now, and of one that waits for a price.

import { type AskedOrder, turnedAway, type Visit } from '../../chaos/exchange-dialect.ts';
import { isPrice, OFF_TICK, REFUSALS, refused, said } from './bitget-words.ts';
import { type Call, quantityOf } from './wire.ts';

export const wrong = (what: string): Visit =>
  turnedAway(refused(40017, `Parameter verification failed ${what}`));

/** What is asked for, or how it is turned away. */
export function readOrder({ params, signedAt, windowMs }: Call): AskedOrder | Visit {
  const { symbol = '', side = '', orderType, size, price, marginMode } = params;
  const { clientOid = crypto.randomUUID() } = params;
  if (params.productType?.toUpperCase() !== 'USDT-FUTURES') return wrong('productType');
  if (params.marginCoin !== 'USDT') return wrong('marginCoin');
  if (marginMode !== 'crossed' && marginMode !== 'isolated') return wrong('marginMode');
  if (orderType !== 'market' && orderType !== 'limit') return wrong('orderType');
  if (orderType === 'limit' && !price) return wrong('price');
  if (orderType === 'limit' && !isPrice(price, symbol)) return turnedAway(OFF_TICK());
  if (side !== 'buy' && side !== 'sell') return wrong('side');
  if (!/^[.A-Z:/a-z0-9_-]{1,40}$/.test(clientOid)) return wrong('clientOid');
  if (!(Number(size) > 0)) return turnedAway(refused(45111, 'less than the minimum order quantity'));
  return {
    ...{ clientOrderId: clientOid, symbol, side, quantity: quantityOf(size) },
    reduceOnly: params.reduceOnly === 'YES',
    sendBefore: signedAt + windowMs,
    isHedged: params.tradeSide === 'open' || params.tradeSide === 'close',
    marginMode: marginMode === 'crossed' ? 'cross' : 'isolated',
    ...(orderType === 'limit' && { limit: quantityOf(price) }),
  };
}

export const taking = ({ holder }: Call, order: AskedOrder): Visit => ({
  what: 'order',
  account: holder.account,
  order,
  tell: (taken) =>
    taken.outcome === 'refused'
      ? REFUSALS[taken.code]()
      : said({ orderId: taken.order.ref, clientOid: taken.order.clientOrderId }),
});
