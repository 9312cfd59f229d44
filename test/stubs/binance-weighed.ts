// Binance's stub, which counts as Binance does: each request has a weight, all who ask from one address have 2,400 in a minute by
// the clock, and who goes on beyond that is refused, whatever is asked, until the minute is over. Weights are from the exchange's
// own documents; placing an order has none.

import type { Answer, Dialect, StopTaken, Taken, Visit, WireRequest } from '../../chaos/exchange-dialect.ts';
import { turnedAway } from '../../chaos/exchange-dialect.ts';
import { binance } from './binance.ts';

export const WEIGHT_A_MINUTE = 2_400;
const MINUTE_MS = 60_000;

const WEIGHTS: Readonly<Record<string, number>> = {
  'POST /fapi/v1/order': 0,
  'POST /fapi/v1/algoOrder': 0,
  'GET /fapi/v1/allAlgoOrders': 5,
  'GET /fapi/v1/openOrders': 40,
  'GET /fapi/v1/allOrders': 5,
  'GET /fapi/v1/userTrades': 5,
  'GET /fapi/v3/positionRisk': 5,
  'GET /fapi/v2/positionRisk': 5,
  'GET /fapi/v3/account': 5,
  'GET /fapi/v2/account': 5,
  'GET /fapi/v3/balance': 5,
  'GET /fapi/v2/balance': 5,
  'GET /fapi/v1/positionSide/dual': 30,
  'GET /fapi/v1/accountConfig': 5,
  'GET /fapi/v1/symbolConfig': 5,
  'GET /fapi/v1/ticker/bookTicker': 2,
};

function weightOf({ method, path, query }: WireRequest): number {
  // The other hosts of Binance count by themselves.
  if (!path.startsWith('/fapi/')) return 0;
  if (path === '/fapi/v1/openAlgoOrders' && !query.has('symbol')) return 40;
  if (path === '/fapi/v1/klines') return weightOfKlines(Number(query.get('limit') ?? 500));
  return WEIGHTS[`${method} ${path}`] ?? 1;
}

const weightOfKlines = (limit: number): number =>
  limit < 100 ? 1 : limit < 500 ? 2 : limit <= 1_000 ? 5 : 10;

/** `now`: by which its minutes are counted. */
export function weighedBinance({ now = Date.now }: { now?: () => number } = {}) {
  let minute = 0;
  let used = 0;
  /** Over all minutes. */
  const seen = { requests: 0, refused: 0 };

  function begin(): void {
    if (Math.floor(now() / MINUTE_MS) === minute) return;
    minute = Math.floor(now() / MINUTE_MS);
    used = 0;
  }

  function count(request: WireRequest): number {
    begin();
    used += weightOf(request);
    seen.requests++;
    return used;
  }

  const told = ({ headers, ...answer }: Answer): Answer => ({
    ...answer,
    headers: { ...headers, 'x-mbx-used-weight-1m': `${used}` },
  });

  const dialect: Dialect = {
    ...binance,
    open(office, desk) {
      const listen = binance.open(office, desk);
      return async (request): Promise<Visit> => {
        if (count(request) > WEIGHT_A_MINUTE) {
          seen.refused++;
          return turnedAway(told(binance.busy(MINUTE_MS - (now() % MINUTE_MS))));
        }
        const visit = await listen(request);
        if (visit.what === 'order') return { ...visit, tell: (taken: Taken) => told(visit.tell(taken)) };
        if (visit.what === 'stop') return { ...visit, tell: (taken: StopTaken) => told(visit.tell(taken)) };
        return { ...visit, answer: async () => told(await visit.answer()) };
      };
    },
  };
  return {
    dialect,
    seen,
    used: () => used,
    /** Somebody else at this address has used so much of the minute that is. */
    useUp(weight: number): void {
      begin();
      used = Math.max(used, weight);
    },
  };
}
