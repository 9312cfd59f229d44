// OKX's algo orders of the type `trigger`: entries that wait for a price, and become a plain order at the market or with a limit.

import type { Office, SeenOrder, Visit } from '../../chaos/exchange-dialect.ts';
import { conditionals, endWaiting, hasTriggered, madeRef } from './conditional.ts';
import { isListed, isPrice, OFF_TICK, REFUSALS } from './okx-words.ts';
import { type Call, type Params, quantityOf } from './wire.ts';

type Words = readonly [code: number, text: string];

/** One that triggered is effective, whatever becomes of its order. */
export const stateOf = (order: SeenOrder): string => {
  if (hasTriggered(order)) return 'effective';
  if (order.status === 'cancelled') return 'canceled';
  return order.status === 'failed' ? 'order_failed' : 'live';
};

export const tellTrigger = (order: SeenOrder, { holder }: Pick<Call, 'holder'>) => ({
  activePx: '',
  actualPx: order.fillPrice ?? '',
  actualSide: '',
  actualSz: hasTriggered(order) ? order.quantity : '0',
  algoClOrdId: order.clientOrderId,
  algoId: order.ref,
  amendPxOnTriggerType: '0',
  attachAlgoOrds: [],
  cTime: `${order.acceptedAt}`,
  callbackRatio: '',
  callbackSpread: '',
  ccy: '',
  clOrdId: '',
  closeFraction: '',
  failCode: order.status === 'failed' ? '51008' : '',
  instId: order.symbol,
  instType: 'SWAP',
  last: order.waitedFor,
  lever: '20',
  linkedOrd: { ordId: '' },
  ordId: hasTriggered(order) ? madeRef(order.ref) : '',
  ordIdList: hasTriggered(order) ? [madeRef(order.ref)] : [],
  ordPx: order.limit ?? '-1',
  ordType: 'trigger',
  posSide: 'net',
  reduceOnly: `${order.reduceOnly}`,
  side: order.side,
  slOrdPx: '',
  slTriggerPx: '',
  slTriggerPxType: '',
  state: stateOf(order),
  sz: order.quantity,
  tag: '',
  tdMode: holder.standing.marginMode,
  tgtCcy: '',
  tpOrdPx: '',
  tpTriggerPx: '',
  tpTriggerPxType: '',
  triggerPx: order.waitedFor,
  triggerPxType: 'last',
  triggerTime: hasTriggered(order) ? `${order.updatedAt}` : '',
  uTime: `${order.updatedAt}`,
});

/** What is wrong with it; null: nothing. */
export function triggerFault({ params, holder }: Call): Words | null {
  const { instId = '', tdMode, side, sz, triggerPx, orderPx, triggerPxType = 'last' } = params;
  const wrong = (name: string): Words => [51000, `Parameter ${name} error`];
  if (holder.standing.accountType === 'classic')
    return [51010, "You can't complete this request under your current account mode."];
  if (!isListed(instId)) return REFUSALS.invalid_symbol;
  if (tdMode !== 'cross' && tdMode !== 'isolated') return wrong('tdMode');
  if (side !== 'buy' && side !== 'sell') return wrong('side');
  if (!(Number(sz) > 0)) return wrong('sz');
  if (!triggerPx || !orderPx) return wrong(triggerPx ? 'orderPx' : 'triggerPx');
  if (!isPrice(triggerPx, instId) || (orderPx !== '-1' && !isPrice(orderPx, instId))) return OFF_TICK;
  // The exchange knows the mark and the index price too; this stub's entries wait for the last one.
  if (triggerPxType !== 'last') return wrong('triggerPxType');
  return /^[A-Za-z0-9]{1,32}$/.test(params.algoClOrdId ?? 'a') ? null : wrong('algoClOrdId');
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
