// The stops of a unified account at Bitget: strategy orders of the type `tpsl`. There is one for the whole position (`full`),
// whoever set it: beside another one ours is of a size (`partial`). What it became when it triggered is among its sub-orders.

import { sign } from '../../domain/decimal.ts';
import type { TriggerBy } from '../broker.ts';
import { dataOf, listOf, PRODUCT, readOrder } from './bitget-rows.ts';
import { lastPage, question } from './profile.ts';
import { amount, each, exact, oneOf, type Row, text } from './rows.ts';
import {
  type SeenStop,
  type StopQuestion,
  type StopToFind,
  type StopWords,
  stopAmong,
} from './stop-words.ts';

const TRIGGERS: Readonly<Record<TriggerBy, string>> = { last: 'market', mark: 'mark' };

const FATES = {
  pending: 'standing',
  submitting: 'standing',
  success: 'triggered',
  failed: 'failed',
  cancelled: 'ended',
} as const;

/** Of the order that it becomes: what is held long is sold. */
const CLOSES = { long: 'sell', short: 'buy' } as const;

/** null: it takes a profit, and stops nothing. */
function readStop(row: Row, unsaid?: keyof typeof FATES): SeenStop | null | undefined {
  const [ref, marketId] = [text(row, 'orderId'), text(row, 'symbol')];
  const status = text(row, 'status') ?? unsaid;
  const [side, fate] = [oneOf(CLOSES, text(row, 'posSide')), oneOf(FATES, status)];
  const [price, size] = [amount(row, 'stopLoss'), exact(row, 'qty')];
  if (!ref || !marketId || !side || !fate) return undefined;
  if (!price || sign(price) === 0) return null;
  return {
    ref,
    clientId: text(row, 'clientOid') ?? null,
    marketId,
    side,
    price,
    // Of the whole position it has none.
    contracts: size && sign(size) > 0 ? size : null,
    fate,
    reason: fate === 'ended' || fate === 'failed' ? `the stop is ${status}` : null,
    became: [],
  };
}

/** `unsaid`: what they are where they do not say. */
const stopsIn = (list: unknown, unsaid?: keyof typeof FATES): readonly SeenStop[] | undefined =>
  each(list, (row) => readStop(row, unsaid))?.filter((stop) => stop !== null);

const OF_STOPS = { category: PRODUCT, type: 'tpsl' } as const;

/** In whatever they stand: it cannot be asked for one market. */
const unfilled = <T>(read: (stops: readonly SeenStop[] | undefined) => T | undefined) =>
  question('privateUtaGetV3TradeUnfilledStrategyOrders', [OF_STOPS], (body) => {
    const list = dataOf(body);
    return read(stopsIn(list === null ? [] : list, 'pending'));
  });

const named = ({ clientOrderId, ref }: Pick<StopToFind, 'clientOrderId' | 'ref'>) =>
  ref === null ? { clientOid: clientOrderId } : { orderId: ref };

const taking = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  { clientOrderId, ref }: Pick<StopToFind, 'clientOrderId' | 'ref'>,
): StopQuestion => ({
  ...question(method, [params], (body) => {
    const [orderId, clientId] = [text(dataOf(body), 'orderId'), text(dataOf(body), 'clientOid')];
    const isIt = clientId === clientOrderId && (ref === null || orderId === ref);
    return orderId && isIt ? { ref: orderId, clientId: clientOrderId } : undefined;
  }),
  standing: { ref, clientId: clientOrderId },
});

export const unifiedStops: StopWords = {
  codes: {
    // By the last price and by the mark price, of a long position and of a short one.
    '25586': 'passed',
    '25588': 'passed',
    '25590': 'passed',
    '25592': 'passed',
    '25650': 'passed',
    '25594': 'second',
    '25600': 'unchanged',
    '25601': 'no_position',
    // It is beyond the average price of entry, which is no question of the market.
    '25580': 'refused',
    '25582': 'refused',
    // It has triggered, is gone, or is in a state in which it cannot be changed.
    '25596': 'not_found',
    '25597': 'not_found',
    '25598': 'not_found',
  },
  namesMarginMode: false,

  place: ({ market, clientOrderId, side, contracts, price, triggerBy, isSecond }) =>
    taking(
      'privateUtaPostV3TradePlaceStrategyOrder',
      {
        ...OF_STOPS,
        symbol: market.id,
        ...(isSecond ? { tpslMode: 'partial', qty: contracts } : { tpslMode: 'full' }),
        posSide: side === 'sell' ? 'long' : 'short',
        stopLoss: price,
        slTriggerBy: TRIGGERS[triggerBy],
        slOrderType: 'market',
        clientOid: clientOrderId,
      },
      { clientOrderId, ref: null },
    ),

  move: (stop, { contracts, price, triggerBy }) =>
    taking(
      'privateUtaPostV3TradeModifyStrategyOrder',
      {
        ...named(stop),
        qty: contracts,
        stopLoss: price,
        slTriggerBy: TRIGGERS[triggerBy],
        slOrderType: 'market',
      },
      stop,
    ),

  // Its answer carries nothing.
  remove: (stop) =>
    question('privateUtaPostV3TradeCancelStrategyOrder', [named(stop)], (body) =>
      dataOf(body) === undefined ? undefined : true,
    ),

  standing: (market) =>
    unfilled((stops) => lastPage(stops?.filter(({ marketId }) => marketId === market.id))),

  lookUps(stop) {
    const isIt = ({ clientId, ref }: SeenStop): boolean =>
      stop.ref === null ? clientId === stop.clientOrderId : ref === stop.ref;
    return [
      unfilled((stops) => stopAmong(stops, isIt)),
      // The last ones of the account.
      question('privateUtaGetV3TradeHistoryStrategyOrders', [OF_STOPS], (body) =>
        stopAmong(stopsIn(listOf(body, 'list')), isIt),
      ),
    ];
  },

  became: ({ ref }) =>
    question('privateUtaGetV3TradeStrategySubOrders', [{ orderId: ref }], (body) =>
      each(listOf(body, 'list'), (row) => text(row, 'subOrderId')),
    ),

  order: (ref, market) => question('fetchOrder', [ref, market.symbol], (body) => readOrder(dataOf(body))),
};
