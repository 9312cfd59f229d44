// Plan orders of a classic account at Bitget (v2) that open: the type normal_plan. One waits for its price under its own ids, and becomes a
// plain order, named by executeOrderId.

import { type Office, type SeenOrder, turnedAway, type Visit } from '../../chaos/exchange-dialect.ts';
import { readOrder, taking, wrong } from './bitget-classic-orders.ts';
import { isListed, isPrice, OFF_TICK, REFUSALS } from './bitget-words.ts';
import { conditionals, endWaiting, hasTriggered, madeRef } from './conditional.ts';
import { type Call, quantityOf } from './wire.ts';

const stateOf = (order: SeenOrder): string => {
  if (hasTriggered(order)) return 'executed';
  if (order.status === 'cancelled') return 'cancelled';
  return order.status === 'failed' ? 'fail_trigger' : 'live';
};

const tellPlan = (order: SeenOrder) => ({
  planType: 'normal_plan',
  symbol: order.symbol,
  size: order.quantity,
  orderId: order.ref,
  clientOid: order.clientOrderId,
  price: order.limit ?? '',
  executePrice: order.limit ?? '',
  callbackRatio: '',
  triggerPrice: order.waitedFor,
  triggerType: 'fill_price',
  planStatus: stateOf(order),
  side: order.side,
  posSide: 'net',
  marginCoin: 'USDT',
  marginMode: 'crossed',
  enterPointSource: 'API',
  tradeSide: order.side === 'buy' ? 'buy_single' : 'sell_single',
  posMode: 'one_way_mode',
  orderType: order.limit === null ? 'market' : 'limit',
  orderSource: order.limit === null ? 'plan_market' : 'plan_limit',
  cTime: `${order.acceptedAt}`,
  uTime: `${order.updatedAt}`,
});

export function classicPlans(office: Office) {
  const all = ({ holder }: Call) => conditionals(office, holder.account);
  return {
    place(call: Call): Visit {
      const { symbol = '', price, triggerPrice, triggerType = 'fill_price', planType } = call.params;
      // `track_plan` follows the price: this stub keeps none.
      if (planType !== 'normal_plan') return wrong('planType');
      const order = readOrder(call);
      if ('what' in order) return order;
      if (!isListed(symbol)) return turnedAway(REFUSALS.invalid_symbol());
      if (price !== undefined && !order.limit) return wrong('price');
      if (!triggerPrice || !isPrice(triggerPrice, symbol)) return turnedAway(OFF_TICK());
      // By the mark price it would wait for another: this stub's entries wait for the last one.
      if (triggerType !== 'fill_price') return wrong('triggerType');
      return taking(call, { ...order, trigger: quantityOf(triggerPrice) });
    },

    async pending(call: Call, symbol: string | undefined) {
      const own = (await all(call)).filter((order) => order.symbol === (symbol ?? order.symbol));
      return own.filter((order) => stateOf(order) === 'live').map(tellPlan);
    },

    async ended(call: Call, symbol: string | undefined) {
      const own = (await all(call)).filter((order) => order.symbol === (symbol ?? order.symbol));
      return own
        .filter((order) => stateOf(order) !== 'live')
        .map((order) => ({
          ...tellPlan(order),
          executeOrderId: hasTriggered(order) ? madeRef(order.ref) : '',
          priceAvg: order.fillPrice ?? '',
          baseVolume: order.fillQuantity,
        }));
    },

    /** false: none waits under that id. */
    async end(call: Call, ref: string): Promise<boolean> {
      const order = (await all(call)).find((each) => each.ref === ref);
      return order !== undefined && endWaiting(office, call.holder.account, order);
    },
  };
}
