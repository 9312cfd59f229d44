// Gate's stops: price-triggered orders that close the position. They are found by the exchange's id. Ours goes along as the text,
// which by its documents is only the source and may not come back: where the id was lost, ours is the one of that shape. The
// order that one became may have no size: then what it traded tells.

import {
  absolute,
  add,
  average,
  compare,
  type Decimal,
  decimal,
  multiply,
  sign,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import type { Side } from '../../domain/orders/order.ts';
import { closesAll, readFill, readOrder, sizeOf } from './gate.ts';
import { acknowledged, type Fill } from './orders.ts';
import { type CcxtMarket, type Page, type Question, question, type SeenOrder } from './profile.ts';
import { amount, at, count, each, exact, isRow, type Row, text, word } from './rows.ts';
import type { SeenStop, StopToFind, StopToSend, StopWords } from './stop-words.ts';

const SETTLE = 'usdt';
const ONE = decimal(1);
const PAGE = 100;

/** With when it was placed, in ms. */
type PriceOrder = SeenStop & { readonly ref: string; readonly createdAt: number };

/** When the price falls to it, or rises to it. */
const ruleOf = (side: Side): string => (side === 'sell' ? '2' : '1');

/** Of whom it closes, where it says so; of how much else. null: it closes nothing that could be told. */
function sideOf(kind: string, size: Decimal): Side | null {
  if (/close-long-/.test(kind)) return 'sell';
  if (/close-short-/.test(kind)) return 'buy';
  return sign(size) === 0 ? null : sign(size) > 0 ? 'buy' : 'sell';
}

/** In seconds by its documents, and finer by some of its answers. */
function millisOf(time: string | undefined): number {
  const found = Number(time ?? '');
  if (!(found > 0)) return Number.NaN;
  return found > 1e14 ? found / 1000 : found > 1e11 ? found : found * 1000;
}

/** The exchange's id. It is all that a stop is known by later, so what is no number is none. */
function refOf(body: unknown): string | undefined {
  const ref = text(body, 'id_string') ?? word(body, 'id') ?? '';
  return /^[1-9]\d*$/.test(ref) ? ref : undefined;
}

/** null: it is no stop. Of a list it is passed over. */
function readPriceOrder(row: Row): PriceOrder | null | undefined {
  const ref = refOf(row);
  const [marketId, size] = [text(row, 'initial', 'contract'), count(row, 'initial', 'size')];
  const [rule, price] = [word(row, 'trigger', 'rule'), exact(row, 'trigger', 'price')];
  const [status, kind] = [text(row, 'status'), at(row, 'order_type') ?? ''];
  const createdAt = millisOf(word(row, 'create_time'));
  if (!ref || !marketId || !size || !rule || !price || !status || typeof kind !== 'string') return undefined;
  if (Number.isNaN(createdAt)) return undefined;
  const side = sideOf(kind, size);
  const reduces = kind !== '' || at(row, 'initial', 'is_reduce_only') === true;
  const isOfPrice = word(row, 'trigger', 'strategy_type') === '0';
  if (side === null || !reduces || !isOfPrice || rule !== ruleOf(side)) return null;
  return {
    ref,
    clientId: text(row, 'initial', 'text')?.match(/^t-(.+)/)?.[1] ?? null,
    marketId,
    side,
    price,
    contracts: sign(size) === 0 ? null : absolute(size),
    createdAt,
    ...endOf(row, status),
  };
}

function endOf(row: Row, status: string): Pick<SeenStop, 'fate' | 'reason' | 'became'> {
  if (status === 'open') return { fate: 'standing', reason: null, became: [] };
  const order = text(row, 'trade_id_string') ?? word(row, 'trade_id') ?? '0';
  const became = order === '0' ? [] : [order];
  const finishedAs = text(row, 'finish_as');
  if (finishedAs === 'succeeded') return { fate: 'triggered', reason: null, became };
  const words = [`the stop is ${finishedAs ?? status}`, text(row, 'reason')];
  const fate = finishedAs === 'failed' || finishedAs === 'expired' ? finishedAs : 'ended';
  return { fate, reason: words.filter(Boolean).join(': '), became };
}

const readList = (body: unknown): readonly PriceOrder[] | undefined =>
  each(body, readPriceOrder)?.filter((stop) => stop !== null);

/** `told`: all of its rows, also those that are passed over. A full page is followed by another. */
const pageOf = <T>(rows: readonly T[], told: readonly unknown[], offset: string | null): Page<T> => ({
  rows,
  next: told.length < PAGE ? null : String(Number(offset ?? 0) + PAGE),
});

const list = <T>(
  market: CcxtMarket,
  of: { readonly status: 'open' | 'finished'; readonly offset?: string },
  read: (body: unknown) => T | undefined,
): Question<T> =>
  question(
    'privateFuturesGetSettlePriceOrders',
    [{ settle: SETTLE, contract: market.id, limit: PAGE, ...of }],
    read,
  );

/** By our id where it came back, and else by its shape: of several the first, for those after it have another's id. */
function ours(stops: readonly PriceOrder[] | undefined, stop: StopToFind): PriceOrder | null | undefined {
  const own = stops?.filter(
    ({ ref, clientId, side, price, contracts, createdAt }) =>
      (stop.ref === null || ref === stop.ref) &&
      (clientId === null || clientId === stop.clientOrderId) &&
      side === stop.side &&
      price === stop.price &&
      (contracts === null || contracts === stop.contracts) &&
      createdAt >= stop.since,
  );
  const oldest = own?.toSorted((a, b) => a.createdAt - b.createdAt);
  return oldest && (oldest.find(({ clientId }) => clientId !== null) ?? oldest[0] ?? null);
}

const initialOf = ({ market, clientOrderId, isSecond, ...stop }: StopToSend): object => ({
  contract: market.id,
  ...(isSecond ? { size: sizeOf(stop) } : { size: 0, close: true }),
  price: '0',
  tif: 'ioc',
  reduce_only: true,
  text: `t-${clientOrderId}`,
});

export const gateStops: StopWords = {
  names: 'theirs',
  codes: {
    AUTO_TRIGGER_PRICE_LESS_LAST: 'passed',
    AUTO_TRIGGER_PRICE_GREATE_LAST: 'passed',
    AUTO_TRIGGER_PRICE_LESS_MARK: 'passed',
    AUTO_TRIGGER_PRICE_GREATE_MARK: 'passed',
    INVALID_PARAM_VALUE: (words) =>
      /trigger\.?price must\b.*(?:last|mark)_?price/i.test(words) ? 'passed' : 'refused',
    AUTO_ORDER_NOT_FOUND: 'not_found',
  },
  namesMarginMode: false,
  hidesSecond: true,

  place: (stop) => {
    const { side, price, triggerBy, isSecond, clientOrderId } = stop;
    const of = side === 'sell' ? 'long' : 'short';
    return question(
      'privateFuturesPostSettlePriceOrders',
      [
        {
          settle: SETTLE,
          initial: initialOf(stop),
          trigger: {
            strategy_type: 0,
            price_type: triggerBy === 'mark' ? 1 : 0,
            price,
            rule: Number(ruleOf(side)),
          },
          order_type: `${isSecond ? 'plan-' : ''}close-${of}-position`,
        },
      ],
      (body) => {
        const ref = refOf(body);
        return ref === undefined ? undefined : { ref, clientId: clientOrderId };
      },
    );
  },

  async remove(stop, { ask }) {
    const ref =
      stop.ref ??
      (await ask(list(stop.market, { status: 'open' }, (body) => ours(readList(body), stop))))?.ref;
    if (ref === undefined) return null;
    return question(
      'privateFuturesDeleteSettlePriceOrdersOrderId',
      [{ settle: SETTLE, order_id: ref }],
      (body) => (refOf(body) === ref ? true : undefined),
    );
  },

  standing: (market, offset) =>
    list(
      market,
      { status: 'open', ...(offset !== null && { offset }) },
      (body): Page<SeenStop> | undefined => {
        const rows = readList(body);
        return rows && Array.isArray(body) ? pageOf(rows, body, offset) : undefined;
      },
    ),

  lookUps: (stop) => [
    ...(stop.ref === null
      ? []
      : [
          question(
            'privateFuturesGetSettlePriceOrdersOrderId',
            [{ settle: SETTLE, order_id: stop.ref }],
            (body): SeenStop | undefined => readList([body])?.[0],
          ),
        ]),
    list(stop.market, { status: 'open' }, (body) => ours(readList(body), stop)),
    list(stop.market, { status: 'finished' }, (body) => ours(readList(body), stop)),
  ],

  order: (ref, market, side) =>
    question('fetchOrder', [ref, market.symbol], (body) =>
      isRow(body) && closesAll(body) ? readClose(body, side) : readOrder(body),
    ),
  fills: {
    of: (order, market, offset) =>
      question(
        'privateFuturesGetSettleMyTrades',
        [
          {
            ...{ settle: SETTLE, contract: market.id, order: order.ref, limit: PAGE },
            ...(offset !== null && { offset }),
          },
        ],
        (body) => {
          const isIts = (row: Row) =>
            text(row, 'contract') === market.id &&
            sign(count(row, 'size') ?? ZERO) === (order.side === 'buy' ? 1 : -1);
          const rows = each(body, (row) => (isIts(row) ? readFill(row) : undefined));
          return rows?.every(({ ref }) => ref === order.ref) ? pageOf(rows, rows, offset) : undefined;
        },
      ),
    added: withFills,
  },
};

/** Of whatever was held, in one order without a size. Its price is what its trades have to make. */
function readClose(row: Row, side: Side): SeenOrder | undefined {
  const [ref, marketId, status] = [word(row, 'id'), text(row, 'contract'), text(row, 'status')];
  if (!ref || !marketId || (status !== 'open' && status !== 'finished')) return undefined;
  const end = text(row, 'finish_as') ?? 'filled';
  return {
    ...acknowledged({ ref, clientId: null, marketId, side, quantity: ZERO, reduceOnly: true }),
    price: amount(row, 'fill_price') ?? null,
    fate: status === 'open' ? 'open' : 'ended',
    reason: end === 'filled' ? null : `the order is finished as ${end}`,
  };
}

const decimalsOf = (price: Decimal): number => price.split('.')[1]?.length ?? 0;

/** Whether these are all of them, as far as that can be known: their average is the order's own price, to the last digit that it shows. */
function isTold({ price, reason }: SeenOrder, fills: readonly Fill[]): boolean {
  const isPriced = price !== null && sign(price) > 0;
  if (fills.length === 0) return !isPriced && reason !== null;
  if (!isPriced) return false;
  const digits = Math.max(...[price, ...fills.map((fill) => fill.price)].map(decimalsOf));
  const [filled, paid] = sumOf(fills);
  const apart = absolute(subtract(paid, multiply(price, filled)));
  return compare(apart, multiply(decimal(`1e-${digits}`), filled)) < 0;
}

/** How much was traded, and what was paid in all. */
const sumOf = (fills: readonly Fill[]): readonly [filled: Decimal, paid: Decimal] => [
  fills.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), ZERO),
  fills.reduce<Decimal>((sum, { quantity, price }) => add(sum, multiply(quantity, price)), ZERO),
];

/** null: it has ended, and not all of its trades are shown yet. */
function withFills(order: SeenOrder, fills: readonly Fill[]): SeenOrder | null {
  const hasEnded = order.fate === 'ended';
  if (hasEnded && !isTold(order, fills)) return null;
  const [filled, paid] = sumOf(fills);
  return {
    ...order,
    // How much more it wanted nobody says.
    quantity: hasEnded && order.reason === null ? filled : add(filled, ONE),
    filled,
    price: sign(filled) === 0 ? null : average(paid, filled),
    fee: fills.reduce<Decimal | null>((sum, { fee }) => (sum && fee ? add(sum, fee) : null), ZERO),
  };
}
