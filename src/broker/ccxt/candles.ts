// What was traded before, from the exchanges' own candles of the last price. Anybody may ask for them: no account's key goes along.

import {
  type AskMore,
  type Candle,
  type CandleSpan,
  candlesIn,
  INTERVAL_MS,
  type Interval,
  inOrder,
  partsOf,
} from '../../domain/candles.ts';
import { type Asking, type CcxtMarket, type ExchangeName, type Question, question } from './profile.ts';
import { amount, at, text, word } from './rows.ts';

interface Source {
  /** No more of them are given to one question. `now`: what is long ago some keep elsewhere. */
  atOnce(span: CandleSpan, now: number): number;
  question(market: CcxtMarket, part: CandleSpan, now: number): Question<readonly Candle[]>;
}

export async function candlesAt(
  { ask }: Pick<Asking, 'ask'>,
  name: ExchangeName,
  {
    market,
    span,
    askMore,
  }: {
    readonly market: CcxtMarket;
    readonly span: CandleSpan;
    readonly askMore: AskMore | undefined;
  },
): Promise<readonly Candle[]> {
  const source = SOURCES[name];
  const now = Date.now();
  const candles: Candle[] = [];
  for (const part of partsOf(span, source.atOnce(span, now))) {
    if (part.from > span.from) await askMore?.();
    candles.push(...(await ask(source.question(market, part, now))));
  }
  return inOrder(candles, span);
}

type Keys = Readonly<Record<'time' | 'open' | 'high' | 'low' | 'close', string | number>>;
/** Four of them write a candle as a list, in this order. */
const LISTED: Keys = { time: 0, open: 1, high: 2, low: 3, close: 4 };

/** Each of them, or nothing at all. `unit`: of its time, in ms. */
function read(rows: unknown, keys: Keys = LISTED, unit = 1): Candle[] | undefined {
  if (!Array.isArray(rows)) return undefined;
  const candles: Candle[] = [];
  for (const row of rows) {
    const begins = Number(word(row, keys.time)) * unit;
    const [open, high] = [amount(row, keys.open), amount(row, keys.high)];
    const [low, close] = [amount(row, keys.low), amount(row, keys.close)];
    if (!Number.isSafeInteger(begins) || !open || !high || !low || !close) return undefined;
    candles.push({ at: begins, open, high, low, close });
  }
  return candles;
}

/** OKX and Bitget have days of Hong Kong, and of UTC under another name. */
const UTC_DAYS: Readonly<Record<Interval, string>> = {
  ...{ '1m': '1m', '5m': '5m', '15m': '15m', '1h': '1H', '4h': '4H', '1d': '1Dutc' },
};
const BYBIT: Readonly<Record<Interval, string>> = {
  ...{ '1m': '1', '5m': '5', '15m': '15', '1h': '60', '4h': '240', '1d': 'D' },
};

/** Bitget's list of late goes back so many days; what is older has another name. */
const BITGET_DAYS: Readonly<Record<Interval, number>> = {
  ...{ '1m': 30, '5m': 30, '15m': 52, '1h': 83, '4h': 240, '1d': 360 },
};
const DAY_MS = INTERVAL_MS['1d'];
const isLate = ({ interval, from }: CandleSpan, now: number): boolean =>
  from > now - (BITGET_DAYS[interval] - 1) * DAY_MS;
/** OKX's goes back so many candles. */
const OKX_LATE = 1_440 - 1;

const SOURCES: Readonly<Record<ExchangeName, Source>> = {
  binance: {
    // Below 500 it counts 2 of its rate, from there on 5.
    atOnce: () => 499,
    question: ({ id }, part) =>
      question(
        'fapiPublicGetKlines',
        [
          {
            symbol: id,
            interval: part.interval,
            startTime: part.from,
            endTime: part.to - 1,
            limit: candlesIn(part),
          },
        ],
        (body) => read(body),
      ),
  },
  bybit: {
    atOnce: () => 1_000,
    question: ({ id }, part) =>
      question(
        'publicGetV5MarketKline',
        [
          {
            ...{ category: 'linear', symbol: id, interval: BYBIT[part.interval] },
            ...{ start: part.from, end: part.to - 1, limit: candlesIn(part) },
          },
        ],
        (body) => (text(body, 'result', 'symbol') === id ? read(at(body, 'result', 'list')) : undefined),
      ),
  },
  okx: {
    atOnce: () => 300,
    question: ({ id }, part, now) =>
      question(
        part.from > now - OKX_LATE * INTERVAL_MS[part.interval]
          ? 'publicGetMarketCandles'
          : 'publicGetMarketHistoryCandles',
        [
          {
            // Its words: what is earlier than `after`, and newer than `before`.
            ...{ instId: id, bar: UTC_DAYS[part.interval], limit: candlesIn(part) },
            ...{ after: part.to, before: part.from - 1 },
          },
        ],
        (body) => read(at(body, 'data')),
      ),
  },
  gate: {
    atOnce: () => 1_000,
    question: ({ id }, part) =>
      question(
        'publicFuturesGetSettleCandlesticks',
        [
          {
            ...{ settle: 'usdt', contract: id, interval: part.interval },
            ...{ from: part.from / 1000, to: part.to / 1000 - 1 },
          },
        ],
        (body) => read(body, { time: 't', open: 'o', high: 'h', low: 'l', close: 'c' }, 1000),
      ),
  },
  bitget: {
    // No more than 90 days at once.
    atOnce: (span, now) =>
      Math.min(isLate(span, now) ? 1_000 : 200, (90 * DAY_MS) / INTERVAL_MS[span.interval]),
    question: ({ id }, part, now) =>
      question(
        isLate(part, now) ? 'publicMixGetV2MixMarketCandles' : 'publicMixGetV2MixMarketHistoryCandles',
        [
          {
            ...{ symbol: id, productType: 'USDT-FUTURES', granularity: UTC_DAYS[part.interval] },
            ...{ startTime: part.from, endTime: part.to, limit: Math.min(1_000, candlesIn(part)) },
          },
        ],
        (body) => read(at(body, 'data')),
      ),
  },
};
