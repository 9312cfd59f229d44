// Binance's klines, as its documents have them: lists of twelve, the oldest first, of those that begin from `startTime` to `endTime`. Only
// the intervals that are asked for here.

import type { Answer, Listed, Office } from '../../chaos/exchange-dialect.ts';
import { type Candle, INTERVAL_MS, INTERVALS } from '../../src/domain/candles.ts';
import type { Decimal } from '../../src/domain/decimal.ts';
import type { Params } from './wire.ts';

const USUAL = 500;
const MOST = 1_500;

interface Speech {
  said(body: object): Answer;
  refused(status: number, code: number, msg: string): Answer;
  missing(name: string): Answer;
  readonly badSymbol: Answer;
}

export async function tellKlines(
  office: Pick<Office, 'now' | 'candles'>,
  markets: readonly Listed[],
  params: Params,
  { said, refused, missing, badSymbol }: Speech,
): Promise<Answer> {
  if (!params.symbol) return missing('symbol');
  if (!params.interval) return missing('interval');
  const market = markets.find(({ symbol }) => symbol === params.symbol);
  if (!market) return badSymbol;
  const interval = INTERVALS.find((each) => each === params.interval);
  if (!interval) return refused(400, -1120, 'Invalid interval.');
  const limit = Number(params.limit ?? USUAL);
  if (!(limit >= 1 && limit <= MOST))
    return refused(400, -1130, "Data sent for parameter 'limit' is not valid.");
  const each = INTERVAL_MS[interval];
  const last = Math.min(Number(params.endTime ?? office.now()), office.now());
  const to = Math.floor(last / each) * each + each;
  const from =
    params.startTime === undefined ? to - limit * each : Math.ceil(Number(params.startTime) / each) * each;
  const candles = await office.candles(market.symbol, {
    interval,
    from,
    to: Math.min(to, from + limit * each),
  });
  return said(candles.map((candle) => tellKline(candle, each, market)));
}

function tellKline({ at, open, high, low, close }: Candle, each: number, { tick }: Listed) {
  const places = tick.split('.')[1]?.length ?? 0;
  const price = (value: Decimal) => Number(value).toFixed(places);
  const prices = [open, high, low, close].map(price);
  // Nobody here reads how much was traded, in how many trades.
  return [at, ...prices, '496.263', at + each - 1, '28425514.78940', 7160, '273.108', '15642623.69718', '0'];
}
