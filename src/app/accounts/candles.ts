// What an instrument was traded at, as the account's broker has it. Only to be looked at: it waits for orders, and no order for it.

import type { Db } from '../../data/engine/db.ts';
import { candlesIn, INTERVAL_MS, type Interval, MOST_CANDLES, wholeCandles } from '../../domain/candles.ts';
import type { Clock } from '../../domain/clock.ts';
import { toNumber } from '../../domain/decimal.ts';
import { deny, isDenial } from '../../domain/denial.ts';
import { timestamp, type UserId } from '../../domain/ids.ts';
import { type AskDeps, askWorker, NO_SYMBOL, UPGRADING } from './account-broker.ts';
import { ownAccount } from './accounts.ts';

/** Where nobody says since when. */
const USUAL_CANDLES = 200;

export async function readCandles(
  deps: AskDeps & { readonly db: Db; readonly clock: Clock },
  user: UserId,
  id: string,
  { symbol, interval, ...asked }: { symbol: string; interval: Interval; from?: string; to?: string },
) {
  const now = deps.clock.now();
  const until = asked.to === undefined ? now : Date.parse(asked.to);
  const since =
    asked.from === undefined ? until - USUAL_CANDLES * INTERVAL_MS[interval] : Date.parse(asked.from);
  const problem = spanProblem(since, until, now);
  if (problem) return deny('request_invalid', { detail: problem });
  // What is to come has no candle.
  const span = wholeCandles({ interval, from: since, to: Math.min(until, now) });
  if (candlesIn(span) > MOST_CANDLES) return deny('request_invalid', { detail: tooMany(interval) });
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  if (!deps.pool.allKnow('enquiries')) return UPGRADING;
  const { id: accountId, connectionVersion: version } = account;
  const answer = await askWorker(deps, user, { kind: 'candles', accountId, version, symbol, ...span });
  if (isDenial(answer)) return answer;
  if (!answer.charted) return NO_SYMBOL;
  const { candles } = answer.charted;
  return {
    symbol: answer.charted.symbol,
    interval,
    source: candles === null ? 'none' : 'broker',
    candles: (candles ?? []).map(({ at, open, high, low, close }) => ({
      at: timestamp(at),
      open: toNumber(open),
      high: toNumber(high),
      low: toNumber(low),
      close: toNumber(close),
    })),
  };
}

function spanProblem(from: number, to: number, now: number): string | null {
  if (!(from < to)) return '"from" must be before "to".';
  return from < now ? null : '"from" must be in the past.';
}

const tooMany = (interval: Interval): string =>
  `There are more than ${MOST_CANDLES} candles of ${interval} between "from" and "to": ask for less time, or for longer candles.`;
