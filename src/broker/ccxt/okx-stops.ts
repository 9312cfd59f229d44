// OKX's stops: algo orders of the type `conditional` that close the whole position (closeFraction) and go with it. There is one of
// these for a position, whoever set it: beside another one, and in portfolio margin, ours is of a size. It is amended where it
// stands, in its trigger price alone: of one for the whole position nothing else can be changed.

import { compare } from '../../domain/decimal.ts';
import { CONFIG, dataOf, readOrder, SIDES } from './okx-rows.ts';
import { type Page, question } from './profile.ts';
import { amount, at, each, exact, oneOf, type Row, text } from './rows.ts';
import type { SeenStop, StopQuestion, StopToFind, StopWords } from './stop-words.ts';

const FATES = {
  live: 'standing',
  pause: 'standing',
  partially_effective: 'triggered',
  effective: 'triggered',
  canceled: 'ended',
  order_failed: 'failed',
  partially_failed: 'failed',
} as const;

/** null: it takes a profit and stops nothing, or it could open. */
function readStop(row: Row): SeenStop | null | undefined {
  const [ref, marketId, state] = [text(row, 'algoId'), text(row, 'instId'), text(row, 'state')];
  const [side, fate] = [oneOf(SIDES, text(row, 'side')), oneOf(FATES, state)];
  if (!ref || !marketId || !side || !fate) return undefined;
  if (at(row, 'slTriggerPx') === '' || text(row, 'reduceOnly') !== 'true') return null;
  const [price, contracts] = [amount(row, 'slTriggerPx'), sizeOf(row)];
  const became = ordersOf(row);
  if (!price || contracts === undefined || !became) return undefined;
  return {
    ref,
    clientId: text(row, 'algoClOrdId') ?? null,
    marketId,
    side,
    price,
    contracts,
    fate,
    reason: fate === 'ended' || fate === 'failed' ? reasonOf(row, state) : null,
    became,
  };
}

const sizeOf = (row: Row): SeenStop['contracts'] | undefined =>
  text(row, 'closeFraction') === undefined ? exact(row, 'sz') : null;

function ordersOf(row: Row): readonly string[] | undefined {
  const list = at(row, 'ordIdList');
  return Array.isArray(list) && list.every((id) => typeof id === 'string') ? list : undefined;
}

function reasonOf(row: Row, state: string | undefined): string {
  const code = text(row, 'failCode');
  return code === undefined || code === '0' ? `the stop is ${state}` : `the stop is ${state} (${code})`;
}

const PAGE = 100;

/** By the id that is ours, which it keeps when it is amended. */
const named = ({ clientOrderId }: Pick<StopToFind, 'clientOrderId'>) =>
  question('privateGetTradeOrderAlgo', [{ algoClOrdId: clientOrderId }], (body) => {
    const row = at(dataOf(body), 0);
    return each([row], readStop)?.[0];
  });

const taking = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  clientId: StopToFind['clientOrderId'],
): StopQuestion =>
  question(method, [params], (body) => {
    const row = at(dataOf(body), 0);
    const ref = text(row, 'algoId');
    const isIt = text(row, 'sCode') === '0' && text(row, 'algoClOrdId') === clientId;
    return ref && isIt ? { ref, clientId } : undefined;
  });

export const okxStops: StopWords = {
  codes: {
    // By the last price and by the mark price, below a buy and above a sell.
    '51278': 'passed',
    '51280': 'passed',
    '51302': 'passed',
    '51304': 'passed',
    '51088': 'second',
    // "closeFraction is not applicable to Portfolio Margin"
    '51332': 'second',
    '51043': 'no_position',
    '51058': 'no_position',
    '51521': 'no_position',
    '51522': 'no_position',
    '51065': 'duplicate',
    '51068': 'duplicate',
    '51503': 'not_found',
    '51527': 'not_found',
    // It has been triggered, in part or as a whole.
    '51532': 'not_found',
    '51416': 'not_found',
    '51412': (words) => (/triggered/i.test(words) ? 'not_found' : 'unsaid'),
    '51523': 'refused',
    '51524': 'refused',
    '51528': 'refused',
  },
  namesMarginMode: true,

  async place(stop, { ask }) {
    const { market, clientOrderId, side, contracts, price, triggerBy, marginMode, isSecond } = stop;
    // In portfolio margin a stop is not bound to its position.
    const isBound = !isSecond || text(await ask(CONFIG), 'acctLv') !== '4';
    return taking(
      'privatePostTradeOrderAlgo',
      {
        instId: market.id,
        tdMode: marginMode,
        side,
        ordType: 'conditional',
        ...(isSecond ? { sz: contracts } : { closeFraction: '1' }),
        reduceOnly: true,
        ...(isBound && { cxlOnClosePos: true }),
        slTriggerPx: price,
        slOrdPx: '-1',
        slTriggerPxType: triggerBy,
        algoClOrdId: clientOrderId,
      },
      clientOrderId,
    );
  },

  async move(stop, to, { tell }) {
    const { market, clientOrderId } = stop;
    const standing = compare(stop.contracts, to.contracts) === 0 ? null : await tell(named(stop));
    const isSized = standing !== null && 'answer' in standing && standing.answer?.contracts !== null;
    return taking(
      'privatePostTradeAmendAlgos',
      {
        instId: market.id,
        algoClOrdId: clientOrderId,
        newSlTriggerPx: to.price,
        ...(isSized && { newSz: to.contracts }),
      },
      clientOrderId,
    );
  },

  remove: ({ market, clientOrderId, ref }) =>
    question(
      'privatePostTradeCancelAlgos',
      [[{ instId: market.id, ...(ref === null ? { algoClOrdId: clientOrderId } : { algoId: ref }) }]],
      (body) => {
        const row = at(dataOf(body), 0);
        return text(row, 'sCode') === '0' && (ref === null || text(row, 'algoId') === ref) ? true : undefined;
      },
    ),

  standing: (market, after) =>
    question(
      'privateGetTradeOrdersAlgoPending',
      [{ ordType: 'conditional', instType: 'SWAP', instId: market.id, ...(after !== null && { after }) }],
      (body): Page<SeenStop> | undefined => {
        const all = dataOf(body);
        const rows = each(all, readStop);
        const last = Array.isArray(all) && all.length >= PAGE ? text(all, PAGE - 1, 'algoId') : undefined;
        return rows && { rows: rows.filter((row) => row !== null), next: last ?? null };
      },
    ),

  lookUps: (stop) => [
    named(stop),
    // It keeps them for three months, by its own id.
    ...(stop.ref === null
      ? []
      : [
          question(
            'privateGetTradeOrdersAlgoHistory',
            [{ ordType: 'conditional', algoId: stop.ref }],
            (body) => {
              const rows = each(dataOf(body), readStop);
              return rows && (rows[0] ?? null);
            },
          ),
        ]),
  ],

  order: (ref, market) =>
    question('fetchOrder', [ref, market.symbol], (body) => readOrder(at(dataOf(body), 0))),
};
