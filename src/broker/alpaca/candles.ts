// What was traded before, from Alpaca's bars. Its prices are counted apart from orders: whatever it refuses here is no word about them.

import { type Candle, type CandleSpan, type Interval, inOrder, MOST_CANDLES } from '../../domain/candles.ts';
import { BrokerUnavailable } from '../broker.ts';
import { BARS, priceOf } from './answers.ts';
import { type Api, ask } from './api.ts';
import { brief } from './refusals.ts';

const TIMEFRAMES: Readonly<Record<Interval, string>> = {
  ...{ '1m': '1Min', '5m': '5Min', '15m': '15Min', '1h': '1Hour', '4h': '4Hour', '1d': '1Day' },
};

/** All exchanges together; of the last minutes only who pays for them gets them, and everybody gets those of IEX. */
const FEEDS = ['sip', 'iex'] as const;

export async function candlesAt(
  api: Pick<Api, 'stocks' | 'unreadable'>,
  symbol: string,
  span: CandleSpan,
  signal: AbortSignal,
): Promise<readonly Candle[]> {
  const asked = {
    ...{ symbol, timeframe: TIMEFRAMES[span.interval], limit: MOST_CANDLES, adjustment: 'raw' },
    ...{ start: new Date(span.from), end: new Date(span.to - 1) },
  };
  let why = 'it gave no answer';
  for (const feed of FEEDS) {
    const answer = await ask((init) => api.stocks.stockBarSingleRaw({ ...asked, feed }, init), signal);
    if (answer.kind === 'refusal') {
      why = `“${brief(answer.message)}”`;
      continue;
    }
    if (answer.kind === 'answer' && BARS.Check(answer.body) && answer.body.symbol === symbol) {
      const candles = (answer.body.bars ?? []).map(({ t, o, h, l, c }) => ({
        at: Date.parse(t),
        ...{ open: priceOf(o), high: priceOf(h), low: priceOf(l), close: priceOf(c) },
      }));
      return inOrder(candles, span);
    }
    api.unreadable(answer);
    if (answer.kind === 'busy') why = 'it limits the rate of requests';
    break;
  }
  throw new BrokerUnavailable(`Alpaca has no candles of ${symbol}: ${why}.`);
}
