// Bybit's stop is a part of the position: one call sets it, moves it and takes it away, and its price stands in the position's row.
// It has no id: ours is the one with the price that we set. What it became is found among the orders and executions since then.

import { type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import type { Side } from '../../domain/orders/order.ts';
import { listOf, readOrder } from './bybit.ts';
import {
  type AccountKind,
  type CcxtMarket,
  lastPage,
  type Meaning,
  type Question,
  question,
  type SeenOrder,
} from './profile.ts';
import { at, each, exact, isRow, oneOf, type Row, text, word } from './rows.ts';
import { type SeenStop, type StopToFind, type StopWords, stopAmong, type TakenStop } from './stop-words.ts';

/** Of the order that closes it. */
const CLOSES = { Buy: 'sell', Sell: 'buy' } as const;
const SIDES = { Buy: 'buy', Sell: 'sell' } as const;
const PRICES = { last: 'LastPrice', mark: 'MarkPrice' } as const;

/** As many as one answer has. */
const LIMIT = 50;
/** Executions are told of one week from the time that is named, and no further. A minute less, for clocks differ. */
const WEEK_MS = 7 * 86_400_000 - 60_000;

/** null: the position has none. */
function readKept(row: Row): SeenStop | null | undefined {
  const [marketId, size] = [text(row, 'symbol'), exact(row, 'size')];
  const told = at(row, 'stopLoss');
  if (!marketId || !size || typeof told !== 'string') return undefined;
  const price = told === '' ? ZERO : exact(row, 'stopLoss');
  if (!price) return undefined;
  if (sign(size) === 0 || sign(price) === 0) return null;
  const side = oneOf(CLOSES, text(row, 'side'));
  if (!side) return undefined;
  return { ...SHAPELESS, marketId, side, price, fate: 'standing', reason: null, became: [] };
}

const SHAPELESS = { ref: null, clientId: null, contracts: null } as const;

const positionOf = <T>(
  market: CcxtMarket,
  read: (row: Row) => T | null | undefined,
): Question<readonly T[]> =>
  question('privateGetV5PositionList', [{ category: 'linear', symbol: market.id }], (body) => {
    const rows = each(listOf(body), (row) => (text(row, 'symbol') === market.id ? row : undefined));
    // By its documents a market that is asked for has a row, whether or not anything is held there.
    return rows && rows.length > 0 ? each(rows, read)?.filter((found) => found !== null) : undefined;
  });

const kept = (market: CcxtMarket) => positionOf(market, readKept);

/** Of what would close it. What is flat may be about to be shown as held. */
const sidesHeld = (market: CcxtMarket) =>
  positionOf(market, (row): Side | null | undefined => {
    const size = exact(row, 'size');
    return size && sign(size) === 0 ? null : size && oneOf(CLOSES, text(row, 'side'));
  });

const set = <T>(market: CcxtMarket, stop: Readonly<Record<string, string>>, done: T): Question<T> =>
  question(
    'privatePostV5PositionTradingStop',
    // Nothing is said of the target: a 0 there would take away the user's.
    [{ category: 'linear', symbol: market.id, positionIdx: 0, tpslMode: 'Full', ...stop }],
    (body) => (word(body, 'retCode') === '0' && isRow(at(body, 'result')) ? done : undefined),
  );

/** It says "parameter error" of all of it: the price may be beyond the stop, or the stop beyond the liquidation. */
function meaningOf(words: string): Meaning | undefined {
  if (/zero[- ]position/i.test(words)) return 'no_position';
  const [, stop, side, base] =
    /StopLoss:([\d.]+) set for (Buy|Sell) position should .*base_price:([\d.]+)/i.exec(words) ?? [];
  if (stop === undefined || base === undefined) return undefined;
  const isBeyond = side === 'Buy' ? Number(stop) >= Number(base) : Number(stop) <= Number(base);
  return isBeyond ? 'passed' : 'refused';
}

/** Whether an order, or an execution, is of the stop of a position. */
const isStopLoss = (row: unknown, side: Side): boolean =>
  text(row, 'stopOrderType') === 'StopLoss' && oneOf(SIDES, text(row, 'side')) === side;

export function bybitStops(kind: AccountKind): StopWords {
  /** Those that were this stop, and have changed since it was set. */
  const fired =
    ({ market, side, price, since, until }: StopToFind) =>
    (body: unknown): SeenStop | null | undefined => {
      const rows = each(listOf(body), (row) => (text(row, 'symbol') === market.id ? row : undefined));
      const own = rows?.filter(
        (row) =>
          isStopLoss(row, side) &&
          exact(row, 'triggerPrice') === price &&
          Number(text(row, 'updatedTime')) >= since &&
          Number(text(row, 'updatedTime')) <= until &&
          text(row, 'orderStatus') !== 'Untriggered',
      );
      const orders = each(own, readOrder);
      return rows && orders && stopOf(orders, { marketId: market.id, side, price });
    };

  return {
    names: 'none',
    codes: { '10001': meaningOf, '34040': 'unchanged' },
    namesMarginMode: false,

    async place({ market, clientOrderId, side, price, triggerBy }, { ask }) {
      // The call names no side: it would stand where somebody has turned the position around.
      const sides = await ask(sidesHeld(market));
      if (sides.length > 0 && !sides.includes(side))
        return {
          why: 'no_position',
          words: `the position there is closed by a ${sides[0]}, and not by a ${side}`,
        };
      return set<TakenStop>(
        market,
        { stopLoss: price, slTriggerBy: PRICES[triggerBy], slOrderType: 'Market' },
        { ref: null, clientId: clientOrderId },
      );
    },

    async remove({ market, side, price }, { ask }) {
      const isOurs = (stop: SeenStop) => stop.side === side && stop.price === price;
      return stopAmong(await ask(kept(market)), isOurs)
        ? set(market, { stopLoss: '0' }, true as const)
        : null;
    },

    standing: (market) => {
      const { method, args, read } = kept(market);
      return question(method, args, (body) => lastPage(read(body)));
    },

    lookUps(stop) {
      const { market, side, price, since, until, now } = stop;
      const { method, args, read } = kept(market);
      const named = { category: 'linear', symbol: market.id, limit: LIMIT };
      const startTime = Math.floor(Math.max(since, Math.min(now, until) - WEEK_MS));
      return [
        // In whose place another was set does not stand any more: what stands at its price is that one.
        ...(Number.isFinite(until)
          ? []
          : [
              question(method, args, (body) =>
                stopAmong(read(body), (one) => one.side === side && one.price === price),
              ),
            ]),
        // What has just ended too, which the history has a moment later.
        question(
          'privateGetV5OrderRealtime',
          [{ ...named, openOnly: kind === 'unified' ? 1 : 2 }],
          fired(stop),
        ),
        question('privateGetV5OrderHistory', [named], fired(stop)),
        // A stop that was moved keeps the place in those lists that it had when it was first set.
        question('privateGetV5ExecutionList', [{ ...named, startTime }], (body) => {
          const rows = each(listOf(body), (row) => (text(row, 'orderId') ? row : undefined));
          const isIts = (row: Row) => isStopLoss(row, side) && Number(text(row, 'execTime')) <= until;
          const refs = rows?.flatMap((row) => (isIts(row) ? (text(row, 'orderId') ?? []) : []));
          return refs && stopOf([...new Set(refs)], { marketId: market.id, side, price });
        }),
      ];
    },

    order: (ref, market) =>
      question(
        'privateGetV5OrderHistory',
        [{ category: 'linear', symbol: market.id, orderId: ref }],
        (body) => {
          const orders = each(listOf(body), readOrder);
          return orders?.length === 1 ? orders[0] : undefined;
        },
      ),
  };
}

/** What they were before they were orders. null: there are none. */
function stopOf(
  orders: readonly (SeenOrder | string)[],
  stop: { readonly marketId: string; readonly side: Side; readonly price: Decimal },
): SeenStop | null {
  const [first] = orders;
  if (first === undefined) return null;
  const became = orders.filter((order) => typeof order === 'string' || hasBegun(order));
  const [order = first] = became;
  const [ref, reason] = typeof order === 'string' ? [order, null] : [order.ref, order.reason];
  return {
    ...SHAPELESS,
    ...stop,
    ref,
    fate: became.length > 0 ? 'triggered' : 'ended',
    reason: became.length > 0 ? null : reason,
    became,
  };
}

/** It is at the market, or something of it was filled: a stop that was taken away has neither. */
const hasBegun = ({ fate, filled }: SeenOrder): boolean => fate === 'open' || sign(filled) > 0;
