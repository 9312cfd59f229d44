// Binance's stops: conditional orders of its Algo Service, which have ids of their own and become plain orders when they trigger.
// Of a quantity, reduce-only: of those that close the whole position it takes no second one, and so none before the old one is gone.

import type { Decimal } from '../../domain/decimal.ts';
import { readOrder } from './binance.ts';
import { lastPage, question } from './profile.ts';
import { at, each, exact, oneOf, text, word } from './rows.ts';
import { type SeenStop, type StopWords, stopAmong } from './stop-words.ts';

const FATES = {
  NEW: 'standing',
  TRIGGERING: 'triggered',
  TRIGGERED: 'triggered',
  // The order that it became has ended, filled or not.
  FINISHED: 'triggered',
  CANCELED: 'ended',
  EXPIRED: 'expired',
  REJECTED: 'failed',
} as const;
const KINDS = ['STOP_MARKET', 'STOP'];

const isTrue = (value: unknown): boolean => value === true || value === 'true';

/** null: a conditional order that is no stop. Of a list it is passed over. */
function readConditional(row: unknown): SeenStop | null | undefined {
  const [ref, clientId, marketId] = [word(row, 'algoId'), text(row, 'clientAlgoId'), text(row, 'symbol')];
  const [kind, status] = [text(row, 'orderType'), text(row, 'algoStatus')];
  const side = oneOf({ BUY: 'buy', SELL: 'sell' }, text(row, 'side'));
  const fate = oneOf(FATES, status);
  if (!ref || !clientId || !marketId || !kind || !side || !fate) return undefined;
  const closesAll = isTrue(at(row, 'closePosition'));
  if (!KINDS.includes(kind) || !(closesAll || isTrue(at(row, 'reduceOnly')))) return null;
  const [price, quantity] = [exact(row, 'triggerPrice'), exact(row, 'quantity')];
  if (!price || !quantity) return undefined;
  const order = word(row, 'actualOrderId') ?? '0';
  return {
    ref,
    clientId,
    marketId,
    side,
    price,
    contracts: closesAll ? null : quantity,
    fate,
    reason: fate === 'ended' || fate === 'expired' || fate === 'failed' ? `the stop is ${status}` : null,
    became: order === '0' ? [] : [order],
  };
}

const readStop = (body: unknown): SeenStop | undefined => readConditional(body) ?? undefined;

const readOpen = (body: unknown): readonly SeenStop[] | undefined =>
  each(body, readConditional)?.filter((stop) => stop !== null);

export const binanceStops: StopWords = {
  codes: {
    '-2021': 'passed',
    '-4112': 'no_position',
    // Too many stops, which ccxt takes for a fault.
    '-4045': 'refused',
  },
  namesMarginMode: false,

  place: ({ market, clientOrderId, side, contracts, price, triggerBy }) =>
    question(
      'fapiPrivatePostAlgoOrder',
      [
        {
          algoType: 'CONDITIONAL',
          symbol: market.id,
          side: side.toUpperCase(),
          type: 'STOP_MARKET',
          quantity: contracts,
          reduceOnly: 'true',
          triggerPrice: price,
          workingType: triggerBy === 'mark' ? 'MARK_PRICE' : 'CONTRACT_PRICE',
          clientAlgoId: clientOrderId,
        },
      ],
      (body) => {
        const seen = readStop(body);
        const isIt =
          seen?.clientId === clientOrderId &&
          seen.marketId === market.id &&
          isSame(seen, { side, price, contracts });
        return isIt ? { ref: seen.ref, clientId: clientOrderId } : undefined;
      },
    ),

  remove: ({ clientOrderId }) =>
    question('fapiPrivateDeleteAlgoOrder', [{ clientAlgoId: clientOrderId }], (body) =>
      text(body, 'clientAlgoId') === clientOrderId && word(body, 'code') === '200' ? true : undefined,
    ),

  // Without a symbol it counts forty times as much.
  standing: ({ id: symbol }) =>
    question('fapiPrivateGetOpenAlgoOrders', [{ symbol }], (body) => lastPage(readOpen(body))),

  lookUps: ({ market, clientOrderId }) => [
    question('fapiPrivateGetAlgoOrder', [{ clientAlgoId: clientOrderId }], readStop),
    // By its id it may be found a moment later only.
    question('fapiPrivateGetOpenAlgoOrders', [{ symbol: market.id }], (body) =>
      stopAmong(readOpen(body), ({ clientId }) => clientId === clientOrderId),
    ),
  ],

  order: (ref, market) => question('fetchOrder', [ref, market.symbol], readOrder),
};

/** Of what was asked for: another one's answer tells nothing of this one. */
const isSame = (
  seen: SeenStop,
  asked: Pick<SeenStop, 'side' | 'price'> & { readonly contracts: Decimal },
): boolean => seen.side === asked.side && seen.price === asked.price && seen.contracts === asked.contracts;
