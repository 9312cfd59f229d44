// How each exchange speaks of entries that wait for a price.

import { readOrder as readBinance } from './binance.ts';
import {
  SIDES as BITGET_SIDES,
  dataOf as bitgetData,
  listOf,
  PRODUCT,
  readOrder as readBitget,
} from './bitget-rows.ts';
import type { ConditionalToSend, ConditionalWords, SeenConditional } from './conditional.ts';
import { SIDES as OKX_SIDES, dataOf as okxData, readOrder as readOkx } from './okx-rows.ts';
import { acknowledged } from './orders.ts';
import {
  type AccountKind,
  type ExchangeName,
  type OrderToFind,
  question,
  type SeenOrder,
} from './profile.ts';
import { at, each, exact, oneOf, type Row, text, word } from './rows.ts';

const taken = (
  { market, side, contracts: quantity, clientOrderId }: ConditionalToSend,
  ref: string | undefined,
  clientId: string | undefined,
): SeenOrder | undefined =>
  ref && clientId === clientOrderId
    ? acknowledged({ ref, clientId, marketId: market.id, side, quantity, reduceOnly: false })
    : undefined;

/** Of one that waits: what it becomes tells of fills. */
const waiting = (
  order: Pick<SeenOrder, 'ref' | 'clientId' | 'marketId' | 'side' | 'quantity'>,
  fate: SeenOrder['fate'],
  status: string | undefined,
): SeenOrder => ({
  ...acknowledged({ ...order, reduceOnly: false }),
  fate,
  reason: fate === 'open' ? null : `the order is ${status}`,
});

/** The latest of these times of a row; null: it has none of them. */
function latestOf(row: unknown, ...names: readonly string[]): number | null {
  const times = names.map((name) => Number(word(row, name) ?? '0')).filter((time) => time > 0);
  return times.length === 0 ? null : Math.max(...times);
}

const BINANCE_FATES = {
  NEW: 'open',
  TRIGGERING: 'open',
  TRIGGERED: 'open',
  FINISHED: 'ended',
  CANCELED: 'ended',
  EXPIRED: 'ended',
  REJECTED: 'failed',
} as const;

function readAlgo(row: unknown): SeenConditional | undefined {
  const [ref, clientId, marketId] = [word(row, 'algoId'), text(row, 'clientAlgoId'), text(row, 'symbol')];
  const [status, quantity] = [text(row, 'algoStatus'), exact(row, 'quantity')];
  const side = oneOf({ BUY: 'buy', SELL: 'sell' }, text(row, 'side'));
  const fate = oneOf(BINANCE_FATES, status);
  if (!ref || !clientId || !marketId || !quantity || !side || !fate) return undefined;
  const became = word(row, 'actualOrderId') ?? '0';
  return {
    order: waiting({ ref, clientId, marketId, side, quantity }, fate, status),
    became: became === '' || became === '0' ? null : became,
    hasTriggered: status === 'FINISHED',
    changedAt: latestOf(row, 'triggerTime', 'updateTime'),
  };
}

/** By its Algo Service, as its stops. */
const binance: ConditionalWords = {
  codes: { '-2021': 'passed', '-4045': 'refused' },
  place: (order) => {
    const { market, clientOrderId, side, contracts, trigger, limit } = order;
    return question(
      'fapiPrivatePostAlgoOrder',
      [
        {
          algoType: 'CONDITIONAL',
          symbol: market.id,
          side: side.toUpperCase(),
          type: limit === null ? 'STOP_MARKET' : 'STOP',
          quantity: contracts,
          ...(limit !== null && { price: limit, timeInForce: 'GTC' }),
          triggerPrice: trigger,
          workingType: 'CONTRACT_PRICE',
          clientAlgoId: clientOrderId,
        },
      ],
      (body) => taken(order, word(body, 'algoId'), text(body, 'clientAlgoId')),
    );
  },
  apart: {
    lookUps: ({ market, clientOrderId }) => [
      question('fapiPrivateGetAlgoOrder', [{ clientAlgoId: clientOrderId }], readAlgo),
      // By its id it may be found a moment later only.
      question('fapiPrivateGetOpenAlgoOrders', [{ symbol: market.id }], (body) => {
        const rows = each(body, (row) =>
          text(row, 'clientAlgoId') === clientOrderId ? readAlgo(row) : null,
        );
        return rows && (rows.find((row) => row !== null) ?? null);
      }),
    ],
    order: (ref, { market }) => question('fetchOrder', [ref, market.symbol], readBinance),
    cancel: (ref) =>
      question('fapiPrivateDeleteAlgoOrder', [{ algoId: ref }], (body) =>
        word(body, 'algoId') === ref && word(body, 'code') === '200' ? true : undefined,
      ),
  },
};

/** An order like any other there, under our id; found and cancelled as one. */
const bybit: ConditionalWords = {
  // The trigger is on the wrong side of the last price.
  codes: { '110092': 'passed', '110093': 'passed' },
  place: (order) => {
    const { market, clientOrderId, side, contracts, trigger, limit } = order;
    return question(
      'privatePostV5OrderCreate',
      [
        {
          category: 'linear',
          symbol: market.id,
          side: side === 'buy' ? 'Buy' : 'Sell',
          orderType: limit === null ? 'Market' : 'Limit',
          qty: contracts,
          ...(limit !== null && { price: limit, timeInForce: 'GTC' }),
          triggerPrice: trigger,
          // 1: when the price rises to it, 2: when it falls to it.
          triggerDirection: side === 'buy' ? 1 : 2,
          triggerBy: 'LastPrice',
          positionIdx: 0,
          orderLinkId: clientOrderId,
        },
      ],
      (body) =>
        word(body, 'retCode') === '0'
          ? taken(order, text(body, 'result', 'orderId'), text(body, 'result', 'orderLinkId'))
          : undefined,
    );
  },
};

const OKX_FATES = {
  live: 'open',
  pause: 'open',
  partially_effective: 'open',
  effective: 'ended',
  canceled: 'ended',
  order_failed: 'failed',
  partially_failed: 'failed',
} as const;

function readTrigger(row: Row): SeenConditional | undefined {
  const [ref, clientId, marketId] = [text(row, 'algoId'), text(row, 'algoClOrdId'), text(row, 'instId')];
  const [status, quantity] = [text(row, 'state'), exact(row, 'sz')];
  const [side, fate] = [oneOf(OKX_SIDES, text(row, 'side')), oneOf(OKX_FATES, status)];
  const list = at(row, 'ordIdList');
  if (!ref || !clientId || !marketId || !quantity || !side || !fate || !Array.isArray(list)) return undefined;
  const [became] = list as readonly unknown[];
  return {
    order: waiting({ ref, clientId, marketId, side, quantity }, fate, status),
    became: typeof became === 'string' && became !== '' ? became : null,
    hasTriggered: status === 'effective',
    changedAt: latestOf(row, 'triggerTime', 'uTime'),
  };
}

/** Algo orders of the type `trigger`. */
const okx: ConditionalWords = {
  codes: {
    '51278': 'passed',
    '51280': 'passed',
    '51302': 'passed',
    '51304': 'passed',
    '51065': 'duplicate',
    '51068': 'duplicate',
    '51503': 'not_found',
    '51527': 'not_found',
    '51532': 'not_found',
    '51416': 'not_found',
  },
  place: (order) => {
    const { market, clientOrderId, side, contracts, trigger, limit, marginMode } = order;
    return question(
      'privatePostTradeOrderAlgo',
      [
        {
          instId: market.id,
          tdMode: marginMode,
          side,
          ordType: 'trigger',
          sz: contracts,
          triggerPx: trigger,
          triggerPxType: 'last',
          // -1: at the market.
          orderPx: limit ?? '-1',
          algoClOrdId: clientOrderId,
        },
      ],
      (body) => {
        const row = at(okxData(body), 0);
        return text(row, 'sCode') === '0'
          ? taken(order, text(row, 'algoId'), text(row, 'algoClOrdId'))
          : undefined;
      },
    );
  },
  apart: {
    lookUps: ({ clientOrderId, ref }) => [
      question('privateGetTradeOrderAlgo', [{ algoClOrdId: clientOrderId }], (body) => {
        const rows = each(okxData(body), readTrigger);
        return rows?.[0];
      }),
      // It keeps them for three months, by its own id.
      ...(ref === null
        ? []
        : [
            question('privateGetTradeOrdersAlgoHistory', [{ ordType: 'trigger', algoId: ref }], (body) => {
              const rows = each(okxData(body), readTrigger);
              return rows && (rows[0] ?? null);
            }),
          ]),
    ],
    order: (ref, { market }) =>
      question('fetchOrder', [ref, market.symbol], (body) => readOkx(at(okxData(body), 0))),
    cancel: (ref, market) =>
      question('privatePostTradeCancelAlgos', [[{ instId: market.id, algoId: ref }]], (body) => {
        const row = at(okxData(body), 0);
        return text(row, 'sCode') === '0' && text(row, 'algoId') === ref ? true : undefined;
      }),
  },
};

const BITGET_FATES = {
  live: 'open',
  not_trigger: 'open',
  executing: 'open',
  executed: 'ended',
  cancelled: 'ended',
  fail_execute: 'failed',
  fail_trigger: 'failed',
} as const;
const PLAN = { planType: 'normal_plan', productType: PRODUCT } as const;

function readPlan(row: Row): SeenConditional | undefined {
  const [ref, clientId, symbol] = [text(row, 'orderId'), text(row, 'clientOid'), text(row, 'symbol')];
  const [status, quantity] = [text(row, 'planStatus'), exact(row, 'size')];
  const side = oneOf(BITGET_SIDES, text(row, 'side')?.toLowerCase());
  const fate = oneOf(BITGET_FATES, status);
  if (!ref || !symbol || !quantity || !side || !fate) return undefined;
  const order = { ref, clientId: clientId ?? null, marketId: symbol.toUpperCase(), side, quantity };
  const became = text(row, 'executeOrderId');
  return {
    order: waiting(order, fate, status),
    became: became ? became : null,
    hasTriggered: status === 'executed',
    changedAt: latestOf(row, 'uTime'),
  };
}

const plannedAmong = (body: unknown, { clientOrderId }: OrderToFind): SeenConditional | null | undefined => {
  const rows = each(listOf(body, 'entrustedList'), readPlan);
  return rows && (rows.find(({ order }) => order.clientId === clientOrderId) ?? null);
};

/** A classic account's plan orders. */
const bitgetClassic: ConditionalWords = {
  codes: {
    '40834': 'passed',
    '40836': 'passed',
    '40917': 'passed',
    '45062': 'passed',
    '45122': 'passed',
    '43020': 'not_found',
    '43021': 'not_found',
    '43025': 'not_found',
    '43026': 'not_found',
  },
  place: (order) => {
    const { market, clientOrderId, side, contracts, trigger, limit, marginMode } = order;
    return question(
      'privateMixPostV2MixOrderPlacePlanOrder',
      [
        {
          ...PLAN,
          symbol: market.id,
          marginMode: marginMode === 'isolated' ? 'isolated' : 'crossed',
          marginCoin: 'USDT',
          size: contracts,
          ...(limit !== null && { price: limit }),
          triggerPrice: trigger,
          triggerType: 'fill_price',
          side,
          orderType: limit === null ? 'market' : 'limit',
          clientOid: clientOrderId,
          reduceOnly: 'NO',
        },
      ],
      (body) => taken(order, text(bitgetData(body), 'orderId'), text(bitgetData(body), 'clientOid')),
    );
  },
  apart: {
    lookUps: (order) => [
      question(
        'privateMixGetV2MixOrderOrdersPlanPending',
        [{ ...PLAN, symbol: order.market.id, clientOid: order.clientOrderId }],
        (body) => plannedAmong(body, order),
      ),
      question(
        'privateMixGetV2MixOrderOrdersPlanHistory',
        [
          {
            ...PLAN,
            symbol: order.market.id,
            clientOid: order.clientOrderId,
            ...(order.since > 0 && { startTime: String(order.since) }),
          },
        ],
        (body) => plannedAmong(body, order),
      ),
    ],
    order: (ref, { market }) =>
      question('fetchOrder', [ref, market.symbol], (body) => readBitget(bitgetData(body))),
    cancel: (ref, market) =>
      question(
        'privateMixPostV2MixOrderCancelPlanOrder',
        [{ ...PLAN, marginCoin: 'USDT', symbol: market.id, orderIdList: [{ orderId: ref }] }],
        // One that does not wait any more is among those that failed: what became of it is looked for.
        (body) => {
          const named = (list: string) => each(listOf(body, list), (row) => text(row, 'orderId')) ?? [];
          return [...named('successList'), ...named('failureList')].includes(ref) ? true : undefined;
        },
      ),
  },
};

/** null: what would wait there could not be found by our id. */
export const CONDITIONALS: Readonly<Record<ExchangeName, (kind: AccountKind) => ConditionalWords | null>> = {
  binance: () => binance,
  bybit: () => bybit,
  okx: () => okx,
  gate: () => null,
  bitget: (kind) => (kind === 'unified' ? null : bitgetClassic),
};
