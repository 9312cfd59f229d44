// Keeps what is wanted of a position's protection true at the broker. domain/protection/next-protection.ts decides what to do
// next; this is the driver that does it, on the account's own lane. Each leg is saved as `sending` before it is sent, so that
// whoever takes over after a crash looks for it first.

import { BrokerUnavailable, unitValueOf } from '../../broker/broker.ts';
import {
  compare,
  type Decimal,
  larger,
  negate,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import { agrees } from '../../domain/orders/expected.ts';
import { keptQuantities } from '../../domain/protection/ability.ts';
import { passed, refused, stuck, taken, unsent, withRoom } from '../../domain/protection/answers.ts';
import type { Quoted } from '../../domain/protection/follow.ts';
import { nextProtection } from '../../domain/protection/next-protection.ts';
import {
  closingSide,
  type ExitReason,
  isWatched,
  type Protection,
  type ProtectiveLeg,
} from '../../domain/protection/protection.ts';
import { isAtRest } from '../../domain/protection/sending.ts';
import type {
  Facts,
  Fate,
  Held,
  LegFill,
  ShownOrder,
  ShownStop,
  Step,
} from '../../domain/protection/step.ts';
import type { Line } from '../line/line.ts';
import {
  fateOf,
  type Place,
  removeLeg,
  sentStop,
  stopOrder,
  strayedStop,
  targetOrder,
  targetsAt,
  tradedBy,
} from '../line/protective-leg.ts';
import type { Keeping, Kept, ToKeep } from './keeping.ts';
import type { Trades } from './trades.ts';

/** What the broker told so long ago is no reason any more to take a stop away or to lessen it: an entry may have been filled since. */
const HELD_MS = 500;

/** So many steps are no pass any more: something goes round in a circle, and the next sweep goes on. */
const MOST_STEPS = 200;

/** Throws BrokerUnavailable where the broker cannot be asked: all that was done by then is saved. */
export async function keepProtection(deps: Keeping, line: Line, task: ToKeep): Promise<Kept> {
  const { saves, clock, rules } = deps;
  const { instrument, trades, triggerBy, recorded } = task;
  const { stops: port } = line;
  const at: Place = { instrument, side: closingSide(task.protection), triggerBy, recorded };
  let saved = task.protection;
  let current = saved;
  let held: Held | null = null;
  /** When the broker told so. */
  let heldAt = 0;
  /** As it was shown then, on whichever side. */
  let position = ZERO;
  /** What our own fills made of it when it was read; null: they said nothing. */
  let ours: Decimal | null = null;
  let stops: readonly ShownStop[] | null = null;
  let resting: readonly ShownOrder[] | null = null;
  let fates = new Map<ClientOrderId, Fate | null>();
  let quoted: Quoted | null = null;
  let waits = 0;
  let { isTold } = task;
  const askedAt = task.isAsked ? clock.now() : null;
  const asked = new Set<string>();

  const factsNow = (): Facts => ({
    ...{ now: clock.now(), able: line.capabilities, stops, resting, fates, quoted, waits, asked },
    held: held && isExplained() ? { ...held, isAgreed: true } : held,
    names: port?.names ?? 'ours',
    tickSize: instrument.tickSize,
    ...keptQuantities(instrument, line.capabilities),
    triggerBy,
    isUnsettled: task.isUnsettled,
    isUndecided: task.isUndecided,
    isTold,
    askedAt,
    isOpen: instrument.open,
    ...task.closing,
    unprotected: task.unprotected,
  });
  /** What was seen before something was sent is no longer so. */
  const lookAgain = () => {
    isTold = true;
    stops = null;
    resting = null;
    fates = new Map();
  };
  const kept = (protection: Protection, is: Kept['is']): Kept => ({ protection, is, untilMs: clock.now() });

  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const step = nextProtection(current, factsNow(), rules);
    switch (step.do) {
      case 'read the position':
        held = await readHeld();
        break;
      case 'look at the stops':
        stops = port ? (await port.standing(instrument)).filter(({ side }) => side === at.side) : [];
        break;
      case 'find':
        fates.set(step.leg.clientOrderId, await fateOf(line, step.leg, at));
        break;
      case 'ask for the price':
        quoted = await deps.quote(line, instrument);
        break;
      case 'place':
      case 'move':
        if ((await saving(step.protection)) === 'changed') return kept(saved, 'changed');
        if (step.do === 'move' && compare(step.leg.quantity, step.from.quantity) < 0 && (await hasGrown())) {
          current = unsent(current, step.leg);
          break;
        }
        current = await send(step);
        lookAgain();
        // The broker's own name of it may be all that it is known by, and how often it was refused decides what is done.
        if ((await saving(current)) === 'changed') return kept(saved, 'changed');
        break;
      case 'remove':
        if ((await saving(step.protection)) === 'changed') return kept(saved, 'changed');
        if (await hasGrown()) break;
        asked.add(step.leg.clientOrderId);
        await removeLeg(line, step.leg, at);
        lookAgain();
        break;
      case 'clear':
        current = step.protection;
        if (step.stop.clientOrderId !== null) asked.add(step.stop.clientOrderId);
        await port?.remove(strayedStop(step.stop, at));
        lookAgain();
        break;
      case 'record': {
        const { leg, fills } = step;
        // With what is left of it by now the history tells what was held before. A position that lags does not show it yet: our fills do.
        const shown = await withClosed(tradedIn(leg, fills));
        const { quantity, counted } = trades.standing(instrument.symbol, shown, task.others);
        const after = await saves.record(step.protection, {
          leg,
          fills,
          left: onSide(quantity),
          counted,
          unitValue: unitValueOf(instrument),
        });
        if (after === 'changed') return kept(saved, 'changed');
        saved = current = after;
        held = null;
        lookAgain();
        break;
      }
      case 'look at the orders':
        resting = await targetsAt(line, current, instrument);
        break;
      case 'cancel':
        current = step.protection;
        asked.add(step.order.clientOrderId);
        await line.cancel({ ...step.order, symbol: instrument.symbol });
        resting = null;
        break;
      case 'close':
        return await close(step.protection, step.reason);
      case 'wait':
        current = step.protection;
        waits++;
        await deps.wait(step.ms);
        held = null;
        lookAgain();
        break;
      case 'rest':
      case 'end':
        return rested(step);
    }
  }
  // It goes round in a circle: the next sweep goes on.
  return rested({ do: 'rest', protection: current, untilMs: clock.now() + rules.sweepMs });

  /** What legs have closed that have not ended is written down when they have: what is shown without it is not late. */
  function isExplained(): boolean {
    if (held === null || ours === null) return false;
    const fills = [...fates.values()].flatMap((fate) => fate?.fills ?? []);
    return fills.reduce((left, { order }) => subtract(left, order.fillQuantity), ours) === held.quantity;
  }

  /** What is held by then. Where the broker does not tell, it is closed all the same. */
  async function withClosed(legs: Parameters<Trades['closed']>[0]): Promise<Decimal> {
    let shown: Decimal | undefined;
    try {
      shown = await line.position(instrument);
      return shown;
    } finally {
      trades.closed(legs, shown);
    }
  }

  function tradedIn(leg: ProtectiveLeg, fills: readonly LegFill[]): Parameters<Trades['closed']>[0] {
    return fills.map(({ by, order }) => tradedBy(leg, by, order, at));
  }

  async function saving(protection: Protection): Promise<'saved' | 'changed'> {
    const after = await saves.save(protection);
    if (after === 'changed') return 'changed';
    saved = current = after;
    return 'saved';
  }

  /** That it was looked at is saved now and then: whoever looks after it where its worker is gone goes by that. */
  async function rested(step: Extract<Step, { do: 'rest' | 'end' }>): Promise<Kept> {
    const { protection } = step;
    const now = clock.now();
    // Each of its legs was asked for. What one has closed that rests in part is told before it is written down.
    if (held !== null && stops !== null && protection.legs.every(isAtRest)) {
      trades.closed(
        protection.legs.flatMap((leg) => tradedIn(leg, fates.get(leg.clientOrderId)?.fills ?? [])),
        position,
      );
      trades.explained(instrument.symbol);
    }
    const untilMs = step.do === 'rest' ? step.untilMs : Number.POSITIVE_INFINITY;
    const dueIn = saved.dueAt === null ? 0 : millis(saved.dueAt) - now;
    const isSeen = dueIn > rules.sweepMs / 2 && dueIn <= rules.sweepMs;
    if (isSeen && isSameBut(protection, saved)) return { protection, is: 'kept', untilMs };
    const due = isWatched(protection) ? timestamp(dueFrom(protection, untilMs, now)) : null;
    const isChanged = (await saving({ ...protection, dueAt: due })) === 'changed';
    return { protection: saved, is: isChanged ? 'changed' : 'kept', untilMs };
  }

  /** What is not protected is looked after as soon as its worker would have done it. */
  function dueFrom({ state }: Protection, untilMs: number, now: number): number {
    return state === 'standing' ? now + rules.sweepMs : Math.min(untilMs, now + rules.sweepMs);
  }

  async function close(protection: Protection, reason: ExitReason): Promise<Kept> {
    const after = await saves.close(protection, reason, held?.quantity ?? ZERO);
    return after === 'changed' ? kept(saved, 'changed') : kept(after, 'closing');
  }

  async function readHeld(): Promise<Held> {
    position = await line.position(instrument);
    heldAt = clock.now();
    const shown = onSide(position);
    const expected = ourCount();
    ours = expected;
    const isAgreed = agrees({ quantity: shown, expected });
    const counted = expected ?? shown;
    return { quantity: shown, most: larger(shown, counted), least: smaller(shown, counted), isAgreed };
  }

  /** What our own fills make of this side; null: they say nothing. Of the other side nothing is this one's: whoever says so agrees that it is gone. */
  function ourCount(): Decimal | null {
    const expected = trades.expected(instrument.symbol);
    return expected && onSide(expected);
  }

  /** Nothing, where the other side is held. */
  function onSide(position: Decimal): Decimal {
    const quantity = current.side === 'long' ? position : negate(position);
    return sign(quantity) > 0 ? quantity : ZERO;
  }

  /**
   * Since it was read, where that is a while ago: what takes a stop away, or lessens it, was decided on less. What has become less loses
   * nothing by that.
   */
  async function hasGrown(): Promise<boolean> {
    if (held === null || clock.now() - heldAt <= HELD_MS) return false;
    const before = held;
    held = await readHeld();
    return compare(held.quantity, before.quantity) > 0 || compare(held.most, before.most) > 0;
  }

  /** As it stands with the broker's answer. */
  async function send(step: Extract<Step, { do: 'place' | 'move' }>): Promise<Protection> {
    const { leg } = step;
    const from = step.do === 'move' ? step.from : null;
    try {
      if (leg.limit !== null && from === null) return await placeTarget(leg);
      const stop = stopOrder(leg, at);
      const outcome =
        from && port?.move ? await port.move(sentStop(from, at), stop) : await port?.place(stop);
      if (!outcome) throw new Error('the broker keeps no stops');
      if (outcome.outcome === 'unknown') return current;
      if (outcome.outcome === 'accepted') return taken(current, leg, outcome, from);
      const { why, words } = outcome;
      if (why === 'passed') return passed(current, leg, words, clock.now(), rules);
      const again = why === 'opposed' ? await afterRoom(leg, words) : null;
      if (again) return again;
      const without = from ? stuck(current, leg, from) : current;
      // One that is gone is looked for: it may have been filled.
      return why === 'gone' ? without : refused(without, leg, words, clock.now(), rules);
    } catch (fault) {
      // The connector's word that nothing was sent: as if it had not been tried.
      if (fault instanceof BrokerUnavailable) await saves.save(unsent(current, leg));
      throw fault;
    }
  }

  /** What was in the way may have been filled in the last moment. */
  async function afterRoom(leg: ProtectiveLeg, words: string): Promise<Protection | null> {
    held = null;
    const room = (await task.makeRoom?.()) ?? 'none';
    return withRoom(current, leg, room, { words, now: clock.now() });
  }

  async function placeTarget(leg: ProtectiveLeg): Promise<Protection> {
    const outcome = await line.place({
      ...targetOrder(leg, at),
      reduceOnly: line.capabilities.reduceOnly,
      sendBefore: timestamp(clock.now() + rules.giveUpMs),
    });
    if (outcome.outcome === 'unknown') return current;
    const { clientOrderId } = leg;
    if (outcome.outcome === 'accepted')
      return taken(current, leg, { clientOrderId, brokerRef: outcome.state.brokerRef });
    const { message } = outcome.error;
    const again = outcome.isOpposed ? await afterRoom(leg, message) : null;
    return again ?? refused(current, leg, message, clock.now(), rules);
  }
}

const UNSEEN = { seenAt: null, heldAt: null, dueAt: null };

/** But for when it was seen. */
const isSameBut = (a: Protection, b: Protection): boolean =>
  JSON.stringify({ ...a, ...UNSEEN }) === JSON.stringify({ ...b, ...UNSEEN });
