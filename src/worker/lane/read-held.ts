// What is held of an order's instruments, and whether something of ours was filled there while it was read.

import { BrokerBusy, BrokerUnavailable, type Instrument } from '../../broker/broker.ts';
import { ZERO } from '../../domain/decimal.ts';
import { agrees } from '../../domain/orders/expected.ts';
import { isOpenLeg } from '../../domain/orders/order.ts';
import { isForgotten } from '../../domain/orders/other-legs.ts';
import type { Held } from '../../domain/orders/step.ts';
import type { Line } from '../line/line.ts';
import type { OpenElsewhere } from './open-elsewhere.ts';
import type { Shown, Trades } from './trades.ts';

interface Reading {
  readonly line: Pick<Line, 'position'>;
  readonly trades: Pick<Trades, 'expected'>;
  /** What else is open, as it was seen last. */
  open(): readonly OpenElsewhere[];
  /** Looks at it once more; false: not everything was answered, and the next time it is not tried. */
  lookAgain(): Promise<boolean>;
  /** What protects the position may have closed some of it; of each instrument, so much is shown. */
  learn(shown: Shown): Promise<void>;
  /** It can only reduce: where that cannot be asked, nobody is kept in his position for it. */
  readonly onlyReduces: boolean;
  now(): number;
}

interface Read {
  readonly held: readonly Held[];
  /** Nothing of ours was filled there meanwhile. */
  isStill(each: Held): boolean;
}

/** An order that is filled bit by bit keeps no exit from being planned. */
const MOST_READS_AGAIN = 2;

export async function readHeld(
  reading: Reading,
  instruments: readonly Instrument[],
  again = MOST_READS_AGAIN,
): Promise<Read> {
  const quantities = await Promise.all(instruments.map((instrument) => reading.line.position(instrument)));
  const heldNow = () =>
    instruments.map(({ symbol: instrument }, index) => ({
      instrument,
      quantity: quantities[index] ?? ZERO,
      expected: reading.trades.expected(instrument),
    }));
  const first = heldNow();
  if (!first.every(agrees))
    await learnt(reading, new Map(first.map(({ instrument, quantity }) => [instrument, quantity])));
  const held = heldNow();
  const stood = await whatStoodStill(reading, held);
  const isStill = (each: Held) => stood?.(each) ?? false;
  const isMoved = stood !== null && !held.every(stood);
  return isMoved && again > 0 ? readHeld(reading, instruments, again - 1) : { held, isStill };
}

/** A broker that is busy is waited for: it says for how long. */
async function learnt({ learn, onlyReduces }: Reading, shown: Shown): Promise<void> {
  try {
    await learn(shown);
  } catch (fault) {
    const isUnknown = fault instanceof BrokerUnavailable && !(fault instanceof BrokerBusy);
    if (!isUnknown || !onlyReduces) throw fault;
  }
}

/**
 * What was filled while the position was read is in it, or is not. Where nothing else tells, as nothing was filled of late, what is
 * open there is looked at before and after: later fills are added to what was read, and this one would count twice. null: nobody
 * can tell, and it is planned all the same.
 */
async function whatStoodStill(
  { open, lookAgain, now }: Reading,
  held: readonly Held[],
): Promise<Read['isStill'] | null> {
  const isOpenThere = ({ instrument, expected }: Held) =>
    expected === null &&
    open().some(
      (other) => other.instrument === instrument && isOpenLeg(other.leg) && !isForgotten(other.leg, now()),
    );
  if (!held.some(isOpenThere)) return () => true;
  const before = new Map(open().map(({ leg }) => [leg.clientOrderId, leg.fillQuantity ?? ZERO]));
  if (!(await lookAgain())) return null;
  const moved = open().filter(({ leg }) => before.get(leg.clientOrderId) !== (leg.fillQuantity ?? ZERO));
  return ({ instrument }) => !moved.some((other) => other.instrument === instrument);
}
