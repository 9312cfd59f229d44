// OKX's algo orders of the type `trigger`: entries that wait for a price, and become a plain order at the market or with a limit.

import type { Office, SeenOrder, Visit } from '../../chaos/exchange-dialect.ts';
import { conditionals, endWaiting, hasTriggered, madeRef } from './conditional.ts';
import { isListed, isPrice, OFF_TICK, REFUSALS } from './okx-words.ts';
import { type Call, type Params, quantityOf } from './wire.ts';

export type Words = readonly [code: number, text: string];

/** One that triggered is effective, whatever becomes of its order. */
export const stateOf = (order: SeenOrder): string => {
  if (hasTriggered(order)) return 'effective';
  if (order.status === 'cancelled') return 'canceled';
  return order.status === 'failed' ? 'order_failed' : 'live';
};

/** What every algo order is told with; of what it is besides, the fields are empty. */
export const tellAlgo = (
  algo: Pick<SeenOrder, 'clientOrderId' | 'ref' | 'symbol' | 'side' | 'acceptedAt' | 'updatedAt'>,
  { holder }: Pick<Call, 'holder'>,
) => ({
  activePx: '',
  actualSide: '',
  algoClOrdId: algo.clientOrderId,
  algoId: algo.ref,
  amendPxOnTriggerType: '0',
  attachAlgoOrds: [],
  cTime: `${algo.acceptedAt}`,
  callbackRatio: '',
  callbackSpread: '',
  ccy: '',
  clOrdId: '',
  closeFraction: '',
  instId: algo.symbol,
  instType: 'SWAP',
  lever: '20',
  linkedOrd: { ordId: '' },
  posSide: 'net',
  side: algo.side,
  slOrdPx: '',
  slTriggerPx: '',
  slTriggerPxType: '',
  tag: '',
  tdMode: holder.standing.marginMode,
  tgtCcy: '',
  tpOrdPx: '',
  tpTriggerPx: '',
  tpTriggerPxType: '',
  triggerPx: '',
  triggerPxType: '',
  uTime: `${algo.updatedAt}`,
});

export const tellTrigger = (order: SeenOrder, call: Pick<Call, 'holder'>) => ({
  ...tellAlgo(order, call),
  actualPx: order.fillPrice ?? '',
  actualSz: hasTriggered(order) ? order.quantity : '0',
  failCode: order.status === 'failed' ? '51008' : '',
  last: order.waitedFor,
  ordId: hasTriggered(order) ? madeRef(order.ref) : '',
  ordIdList: hasTriggered(order) ? [madeRef(order.ref)] : [],
  ordPx: order.limit ?? '-1',
  ordType: 'trigger',
  reduceOnly: `${order.reduceOnly}`,
  state: stateOf(order),
  sz: order.quantity,
  triggerPx: order.waitedFor,
  triggerPxType: 'last',
  triggerTime: hasTriggered(order) ? `${order.updatedAt}` : '',
});

export const wrong = (name: string): Words => [51000, `Parameter ${name} error`];

/** What is wrong with an algo order, whatever it waits for; null: nothing. */
export function algoFault({ params, holder }: Call): Words | null {
  const { instId = '', tdMode, side, algoClOrdId = 'a' } = params;
  if (holder.standing.accountType === 'classic')
    return [51010, "You can't complete this request under your current account mode."];
  if (!isListed(instId)) return REFUSALS.invalid_symbol;
  if (tdMode !== 'cross' && tdMode !== 'isolated') return wrong('tdMode');
  if (side !== 'buy' && side !== 'sell') return wrong('side');
  return /^[A-Za-z0-9]{1,32}$/.test(algoClOrdId) ? null : wrong('algoClOrdId');
}

export function triggerFault(call: Call): Words | null {
  const { instId = '', sz, triggerPx, orderPx, triggerPxType = 'last' } = call.params;
  const fault = algoFault(call);
  if (fault) return fault;
  if (!(Number(sz) > 0)) return wrong('sz');
  if (!triggerPx || !orderPx) return wrong(triggerPx ? 'orderPx' : 'triggerPx');
  if (!isPrice(triggerPx, instId) || (orderPx !== '-1' && !isPrice(orderPx, instId))) return OFF_TICK;
  // The exchange knows the mark and the index price too; this stub's entries wait for the last one.
  return triggerPxType === 'last' ? null : wrong('triggerPxType');
}

/** Without its `tell`. */
export function askedTrigger({ holder, params, signedAt, windowMs }: Call) {
  const { instId = '', side, sz, triggerPx, orderPx, tdMode, posSide = 'net' } = params;
  return {
    what: 'order' as const,
    account: holder.account,
    order: {
      clientOrderId: params.algoClOrdId ?? crypto.randomUUID().replaceAll('-', ''),
      symbol: instId,
      side: side === 'buy' ? ('buy' as const) : ('sell' as const),
      quantity: quantityOf(sz),
      reduceOnly: params.reduceOnly === 'true',
      sendBefore: signedAt + windowMs,
      isHedged: posSide !== 'net',
      marginMode: tdMode === 'isolated' ? ('isolated' as const) : ('cross' as const),
      trigger: quantityOf(triggerPx),
      ...(orderPx !== '-1' && { limit: quantityOf(orderPx) }),
    },
  } satisfies Omit<Extract<Visit, { what: 'order' }>, 'tell'>;
}

export function okxTriggers(office: Office) {
  return {
    async find({ holder }: Call, { algoId, algoClOrdId }: Params): Promise<SeenOrder | null> {
      const all = await conditionals(office, holder.account);
      return all.find((each) => (algoId ? each.ref === algoId : each.clientOrderId === algoClOrdId)) ?? null;
    },
    all: ({ holder }: Call) => conditionals(office, holder.account),
    end: ({ holder }: Call, order: SeenOrder) => endWaiting(office, holder.account, order),
  };
}
