// The legs of what is kept, for an order that is to be planned: what they have closed counts though nobody has written it down, and what they
// reserve is set free for an exit.

import type { Instrument } from '../../broker/broker.ts';
import { timestamp, type UserId } from '../../domain/ids.ts';
import type { Leg, Order } from '../../domain/orders/order.ts';
import { closingSide, type Protection } from '../../domain/protection/protection.ts';
import { MOST_WAITS, pauseOf } from '../../domain/protection/recognise.ts';
import type { Line } from '../line/line.ts';
import { fateOf, type Place, removeLeg, tradedBy } from '../line/protective-leg.ts';
import type { Saved, WorkerProtections } from '../protections.ts';
import type { Keeping } from './keeping.ts';
import type { Book, Shown, Trades } from './trades.ts';

/** What is to be sent, as far as it closes something. */
export interface Closed {
  readonly instrument: Instrument;
  readonly side: Leg['side'];
}

interface Deps extends Pick<Keeping, 'clock' | 'wait'> {
  readonly protections: WorkerProtections;
  readonly token: string;
  /** Throws where another worker has the user. */
  mine(protection: Protection, saved: Saved): Protection | 'changed';
}

export function protectiveLegs({ protections, clock, wait, token, mine }: Deps, user: UserId) {
  const placeOf = (protection: Protection, instrument: Instrument): Place => ({
    ...{ instrument, side: closingSide(protection), triggerBy: 'last' },
    recorded: (since) => protections.recorded(protection, since),
  });

  async function haveClosed({ accountId, simulation, symbol }: Book & Pick<Order, 'symbol'>, line: Line) {
    const found = await line.resolve(symbol);
    if ('rejection' in found) return false;
    for (const protection of await protections.kept(user, accountId)) {
      if (protection.simulation !== simulation || protection.instrument !== found.symbol) continue;
      const at = placeOf(protection, found);
      for (const leg of protection.legs)
        if (((await fateOf(line, leg, at))?.fills.length ?? 0) > 0) return true;
    }
    return false;
  }

  async function see(line: Line, protection: Protection, trades: Trades, shown?: Shown): Promise<boolean> {
    const found = await line.resolve(protection.instrument);
    if ('rejection' in found) return true;
    const at = placeOf(protection, found);
    const closed: ReturnType<typeof tradedBy>[] = [];
    let areOver = true;
    try {
      for (const leg of protection.legs) {
        const fate = await fateOf(line, leg, at);
        for (const { by, order } of fate?.fills ?? []) closed.push(tradedBy(leg, by, order, at));
        if (fate !== null && fate.status !== 'ended') areOver = false;
      }
    } finally {
      // Where the broker stops answering, what was seen by then counts.
      trades.closed(closed, shown?.get(found.symbol));
    }
    return areOver;
  }

  /** Until none of them can be filled any more: what they took meanwhile is in no plan that was made before. false: nothing was in the way. */
  async function free(
    { accountId, simulation }: Book,
    { instrument, side }: Closed,
    line: Line,
    trades: Trades,
  ): Promise<boolean> {
    let hasFreed = false;
    for (const first of await protections.kept(user, accountId)) {
      if (first.simulation !== simulation || first.instrument !== instrument.symbol) continue;
      // For this very close they may have left already: it may be sent more than once.
      if (side !== closingSide(first) || (first.suspendedAt !== null && (await see(line, first, trades))))
        continue;
      const at = placeOf(first, instrument);
      const suspended: Protection = {
        ...first,
        // What has no stop anyway has none: that is told once, however often somebody tries to close it.
        state: first.state === 'unprotected' ? first.state : 'suspended',
        suspendedAt: timestamp(clock.now()),
        legs: first.legs.map((leg) => ({ ...leg, isLeaving: true })),
      };
      if (mine(first, await protections.save(suspended, first, token)) === 'changed') continue;
      hasFreed = true;
      for (const leg of first.legs) await removeLeg(line, leg, at);
      for (let waits = 0; waits < MOST_WAITS && !(await see(line, first, trades)); waits++)
        await wait(pauseOf({ waits }));
    }
    return hasFreed;
  }

  return { see, free, haveClosed };
}
