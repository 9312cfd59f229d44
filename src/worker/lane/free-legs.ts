// What the legs of a protection have filled, for who plans by what is held; and how they leave for who closes by himself.

import { timestamp } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { closingSide, type Protection } from '../../domain/protection/protection.ts';
import { MOST_WAITS, pauseOf } from '../../domain/protection/recognise.ts';
import type { Line } from '../line/line.ts';
import { fateOf, removeLeg, tradedBy } from '../line/protective-leg.ts';
import type { Book, Trades } from './trades.ts';

/** Whether none of them can be filled any more. */
export async function seeLegs(line: Line, protection: Protection, trades: Trades): Promise<boolean> {
  const found = await line.resolve(protection.instrument);
  if ('rejection' in found) return true;
  const at = { instrument: found, side: closingSide(protection), triggerBy: 'last' } as const;
  let areOver = true;
  for (const leg of protection.legs) {
    const fate = await fateOf(line, leg, at);
    for (const { by, order } of fate?.fills ?? []) trades.seen(tradedBy(leg, by, order, at));
    if (fate !== null && fate.status !== 'ended') areOver = false;
  }
  return areOver;
}

interface FreeDeps {
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  /** false: somebody else has saved it since. */
  suspend(after: Protection, before: Protection): Promise<boolean>;
}

/** Until none of them can be filled any more: what they took meanwhile is in no plan. */
export async function freeLegs(
  { clock, wait, suspend }: FreeDeps,
  all: readonly Protection[],
  { simulation, symbol, intent }: Book & Pick<Order, 'symbol' | 'intent'>,
  line: Line,
  trades: Trades,
): Promise<void> {
  const found = await line.resolve(symbol);
  if ('rejection' in found) return;
  for (const first of all) {
    if (first.simulation !== simulation || first.instrument !== found.symbol) continue;
    const isAdding = intent.operation === 'PLACE_ENTRY_ORDER' && intent.side !== closingSide(first);
    // For this very close they may have left already: a position is read more than once.
    if (isAdding || (first.state === 'suspended' && (await seeLegs(line, first, trades)))) continue;
    const at = { instrument: found, side: closingSide(first), triggerBy: 'last' } as const;
    const suspended: Protection = {
      ...first,
      state: 'suspended',
      suspendedAt: timestamp(clock.now()),
      legs: first.legs.map((leg) => ({ ...leg, isLeaving: true })),
    };
    if (!(await suspend(suspended, first))) continue;
    for (const leg of first.legs) await removeLeg(line, leg, at);
    for (let waits = 0; waits < MOST_WAITS && !(await seeLegs(line, first, trades)); waits++)
      await wait(pauseOf({ waits }));
  }
}
