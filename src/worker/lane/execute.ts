// One order at the broker, from `queued` to whatever the broker makes of it. domain/orders/next-step.ts decides what to do next;
// this is the driver that does it. Every step is saved before the next one is taken, and whatever was learnt before it rests, so
// that it can begin on an order that a dead worker left anywhere in between.

import { AccountUnfit, BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../broker/broker.ts';
import { ZERO } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import { agrees } from '../../domain/orders/expected.ts';
import { recordState, STALE_MS } from '../../domain/orders/fill.ts';
import { nextStep } from '../../domain/orders/next-step.ts';
import {
  isLate,
  keyOf,
  type Leg,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
  openLeg,
  passed,
  wasSent,
} from '../../domain/orders/order.ts';
import { givenUp, late } from '../../domain/orders/outcome.ts';
import { beforeRound, isExit, isWorthWaiting, PATIENCE, patienceOf } from '../../domain/orders/patience.ts';
import { endingFor } from '../../domain/orders/resting.ts';
import type { Facts, Judgement, Pause } from '../../domain/orders/step.ts';
import { type Errand, onErrand } from '../line/errand.ts';
import { queryOf, whyDoubt } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import type { Execution, Task } from './execution.ts';
import { type Instruments, resolveAll } from './instruments.ts';
import { lookElsewhere, openElsewhere, refreshed, takenBack } from './open-elsewhere.ts';
import { wrongPriceIn } from './priced-entry.ts';
import { wrongIn } from './protected-entry.ts';
import { readHeld } from './read-held.ts';
import { freeing, sendLeg } from './send-leg.ts';
import { marketFor } from './sizing.ts';
import type { Shown } from './trades.ts';
import { stopwatch } from './watches.ts';
import { whyNot } from './why-not.ts';

/** The account was changed while the order rested: it goes on over a connection of now. */
class Replaced extends Error {}

const SPREAD_MS = 100;
/** After a wait. A broker that never lets us look holds nothing up for ever. */
const MOST_LOOKS_AGAIN = 2;

export async function executeOrder(
  deps: Execution,
  { order: accepted, others, now: readNow, version: asked, trades, rest, ...guarding }: Task,
): Promise<Order> {
  const begunAt = deps.clock.now();
  let restedMs = 0;
  // A test's clock may stand still: what was rested counts too.
  const now = () => Math.max(deps.clock.now(), begunAt + restedMs);
  const answered = (order: Order) => passed(order, 'answered', now());

  // What was saved last. That it is being executed is saved with the first leg that is sent, or with its end.
  let order = passed(accepted, 'taken', now());
  if (order.status === 'queued') order = moveTo(order, 'executing');
  let [refusals, rounds, waits] = [0, 0, 0];
  let version = asked;
  let { guards, revision } = guarding;
  const watches = { leg: stopwatch(), others: stopwatch(), position: stopwatch() };
  let open = openElsewhere(others);
  const gone = new Set<string>();
  /** A look that fails may fail by the connection: that is tried once. */
  let hasReconnected = false;
  let opposed: Facts['opposed'] = null;
  let isLookAnswered = true;
  const isSaved = () => order.version !== accepted.version || accepted.status !== 'queued';
  /** Saves as `deps` does, and remembers what was saved last. */
  const saving: Execution = {
    ...deps,
    save: async (toSave, options) => (order = await deps.save(toSave, options)),
    async saveSending(toSave, of) {
      const saved = await deps.saveSending(toSave, of);
      if (saved !== 'halted' && !('revision' in saved)) order = saved;
      return saved;
    },
  };
  /** By what was last read, or else by our own record: whether the entry has something to close first. null: nobody asked yet. */
  let isAgainst: boolean | null = null;
  const mayReverse = () => isAgainst ?? false;
  async function learnWhetherItReverses(): Promise<void> {
    const { intent, symbol } = order;
    if (isAgainst !== null || intent.operation !== 'PLACE_ENTRY_ORDER') return;
    const { side } = intent;
    // What was sent the other way, and of which nobody knows the end, may be held by now.
    const mayBeAgainst = open.some(({ order: other, leg }) => other.symbol === symbol && leg.side !== side);
    isAgainst = mayBeAgainst || trades.isAgainst(order) || (await deps.isAgainstRecord(order));
  }
  /** Who has sent something stands behind nobody any more: what is begun is brought to its end. */
  const errand = (): Errand =>
    wasSent(order) || patienceOf(order, { mayReverse: mayReverse() }) === PATIENCE.exit ? 'exit' : 'entry';
  if (!wasSent(order) && isLate(order, now())) return end(late(order));
  for (const leg of order.legs) trades.seen(leg);
  for (;;)
    try {
      return await onErrand(errand, () =>
        deps.connections.use({ ...order, version }, trade, { mayTryRefused: isExit(order), isTrading: true }),
      );
    } catch (fault) {
      if (fault instanceof Replaced) continue;
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      await learnWhetherItReverses();
      const ms = beforeTheNextTry(fault);
      if (ms === null) return end(givenUp(order, whyNot(fault, order)));
      if (isLate(order, now())) return end(lateFor(fault));
      await (patienceOf(order, { mayReverse: mayReverse() }).rounds > 0 ? resting(ms, fault) : deps.wait(ms));
      if (!wasSent(order) && isLate(order, now())) return end(lateFor(fault));
    }

  /** null: it is not tried again. */
  function beforeTheNextTry(fault: BrokerUnavailable): number | null {
    const patience = patienceOf(order, { mayReverse: mayReverse() });
    if (fault instanceof CredentialsRejected || fault instanceof AccountUnfit) return null;
    if (fault instanceof BrokerBusy) {
      const busyMs = fault.retryAfterMs;
      const facts = { now: now(), busyMs, refusals: ++refusals, mayReverse: mayReverse() };
      return isWorthWaiting(order, facts) ? busyMs : null;
    }
    return ++rounds > patience.rounds ? null : beforeRound(rounds);
  }

  /** What may have been sent is unknown; the rest was never sent, and says what was in the way. */
  function lateFor(fault: BrokerUnavailable): Order {
    const given = givenUp(order, whyNot(fault, order));
    return openLeg(order) ? given : late(order, whyNot(fault, order).message);
  }

  /** Not beyond the deadline: then it is over. */
  async function resting(ms: number, fault: BrokerUnavailable | null = null): Promise<void> {
    const most = Math.min(ms, Math.max(0, millis(order.deadlineAt) - now()) + 1);
    if (!isSaved()) await saving.save(order);
    await rest(most, fault);
    restedMs = Math.max(restedMs + most, deps.clock.now() - begunAt);
    for (const watch of Object.values(watches)) watch.pass(most);
    // Others had the lane meanwhile: what they sent counts.
    const fresh = await readNow();
    open = refreshed(fresh.others, open, gone);
    version = fresh.version ?? version;
  }

  /** Once its main leg is known to be at the broker, fill verification may have come first. */
  async function end(ended: Order): Promise<Order> {
    if (order.status === 'executing') return deps.save(answered(ended), { settled: true });
    return deps.saveSeen(answered(ended));
  }

  async function trade(line: Line): Promise<Order> {
    const opened = version;
    let instruments: Instruments | null = null;
    let position: Facts['position'] = null;
    let wrong: OrderError | null = null;
    let market: Facts['market'] = null;
    let closedBy: Facts['closedBy'] = null;
    let wrongPrice: OrderError | null = null;
    let isCleared = false;
    let isMissing = false;
    const freed = freeing({ ...deps, line, trades });
    let judged: (Judgement & { readonly at: number }) | null = null;
    // The order as it goes on, yet to be saved.
    let current = order;
    // Over a new connection too: what was filled meanwhile would count twice, in the position and as what is open.
    watches.others.begin();

    for (;;) {
      if (line.busyMs() > 0) await learnWhetherItReverses();
      const inHand = current.legs.find(({ status }) => status === 'sending' || status === 'unknown');
      const facts: Facts = {
        now: now(),
        able: line.capabilities,
        instrument: instruments?.meant ?? null,
        isSameLogin:
          current.credentialsVersion === null || current.credentialsVersion === line.credentialsVersion,
        others: instruments ? open.filter((other) => instruments?.has(other.instrument)) : [],
        othersWatch: watches.others.read(),
        position,
        positionWatch: watches.position.read(),
        mayReverse: !wasSent(current) && mayReverse(),
        guards: guards === null ? 'none' : judged && now() - judged.at < STALE_MS ? judged : 'unjudged',
        busyMs: line.busyMs(),
        refusals,
        watch: watches.leg.read(),
        wrong,
        wrongPrice,
        isCleared,
        opposed,
        market,
        closedBy,
        isMissing,
        isBelieved: inHand !== undefined && whyDoubt(current, inHand, line, now()) === null,
      };
      const step = nextStep(current, facts, deps.rules);
      try {
        switch (step.do) {
          case 'end':
            return await end(step.order);
          case 'wait':
            // All who wait for the same moment are not to come in it.
            await pass(
              { ...step, afterMs: step.afterMs + Math.floor(Math.random() * SPREAD_MS) },
              new BrokerBusy('the broker limits the rate of requests', step.afterMs),
            );
            position = null;
            isMissing = false;
            // A look at what else is open was turned away, or is of before.
            if (++waits <= MOST_LOOKS_AGAIN) watches.others.begin();
            break;
          case 'resolve the symbol':
            instruments = await resolved();
            if (typeof instruments.meant === 'string') trades.named(current.symbol, instruments.meant);
            break;
          case 'take back':
            open = await takenBack({ ...saving, line, trades, gone }, open, step.others, endingFor(current));
            isCleared = true;
            position = null;
            // What was refused beside them counts no more.
            opposed &&= { ...opposed, times: 1 };
            break;
          case 'look at others':
            await pass(step);
            if (facts.othersWatch.looks === 0) watches.others.begin();
            open = await lookAt(step.withinMs);
            watches.others.looked();
            // What they filled is not in it.
            position = null;
            break;
          case 'read the position':
            await pass(step);
            // Beside it, and not waited for: what the day began with.
            if (guards?.max_daily_loss !== undefined) deps.noteEquity(current, line);
            [position, wrong, market] = await Promise.all([positionNow(), wrongNow(), marketNow()]);
            watches.position.looked();
            break;
          case 'look':
            await pass(step);
            await look(step.leg, step.withinMs);
            break;
          case 'ask who closed it':
            closedBy = await deps.closedBy(current, line);
            break;
          case 'judge the guards': {
            const { order: planned, positionAfter } = step;
            const instrument = tradable().get(mainLeg(planned)?.instrument);
            const entry = { order: planned, positionAfter, guards: guards ?? {}, line, instrument };
            const verdicts = await deps.judge(entry);
            judged = { verdicts, quantity: mainLeg(planned)?.quantity ?? ZERO, positionAfter, at: now() };
            break;
          }
          case 'send': {
            // What protected the position has left only now, and may have been filled meanwhile: it is planned anew.
            if (await freed.forClose(tradable(), step)) {
              position = await positionNow();
              watches.position.looked();
              break;
            }
            const makeWay = () => freed.forEntry(tradable(), step);
            const sent = await sendLeg(saving, line, tradable(), {
              ...{ ...step, revision, refusals, makeWay, now },
            });
            ({ order: current, revision, refusals } = sent);
            if (sent.guards !== undefined) guards = sent.guards;
            opposed = sent.opposed ? { ...sent.opposed, times: (opposed?.times ?? 0) + 1 } : null;
            // Other entries may be in the way of it than those that rest.
            if (opposed) isCleared = false;
            for (const leg of current.legs) trades.seen(leg);
            if (sent.isSaved) return current;
            isMissing = false;
            judged = null;
            if (!current.legs.some(({ leg, status }) => leg === 'exit' && status === 'planned'))
              position = null;
            for (const watch of Object.values(watches)) watch.begin();
          }
        }
      } catch (fault) {
        if (!(fault instanceof BrokerBusy)) throw fault;
        refusals++;
        // That the broker does not have it was its word of before the wait: it may have arrived since.
        isMissing = false;
        // After the wait the position is another: what else is open is looked at once more, or it would count twice.
        watches.others.begin();
      }
    }

    /** Waits, and lets every watch know: a test's clock may stand still. Before it rests, what was learnt is saved. */
    async function pass({ afterMs, rests }: Pause, fault: BrokerBusy | null = null): Promise<void> {
      if (afterMs <= 0) return;
      if (rests) {
        if (current !== order) await saving.save(current);
        await resting(afterMs, fault);
        current = order;
        position = null;
        if (version !== opened) throw new Replaced();
        return;
      }
      await deps.wait(afterMs);
      for (const watch of Object.values(watches)) watch.pass(afterMs);
    }

    /** With what its price is worth in the market: where that cannot be asked, it is asked for once more with the symbol. */
    async function resolved(): Promise<Instruments> {
      const found = await resolveAll(line, current, () => deps.monthsUnder(current));
      if (typeof found.meant === 'string') wrongPrice = await wrongPriceIn(line, found.get(null), current);
      return found;
    }

    /** The symbol is resolved before anything is read or sent. */
    function tradable(): Instruments {
      if (!instruments) throw new Error('there is no instrument to trade');
      return instruments;
    }

    async function positionNow(): Promise<Facts['position']> {
      const learn = (shown: Shown) => deps.protecting.see(current, line, trades, shown);
      const onlyReduces = isExit(current) && line.capabilities.reduceOnly;
      const reading = { line, trades, open: () => open, lookAgain, learn, onlyReduces, now };
      const { held, isStill } = await readHeld(reading, tradable().all);
      for (const each of held)
        if (agrees(each) && isStill(each)) {
          const there = open.filter(({ instrument }) => instrument === each.instrument);
          const own = current.legs.map((leg) => ({ leg, order: current }));
          trades.agreed(each.instrument, each.quantity, [...there, ...own]);
          // By our own exit, and not by one answer.
          const isOver = each.quantity === ZERO && each.expected === ZERO && there.length === 0;
          if (isOver && each.instrument !== tradable().meant) deps.forgetMonth(current, each.instrument);
        }
      return { held, readAt: now() };
    }

    /** While the position is read, an entry's protection is held against the market; and its price again, since clearing the way takes time. */
    async function wrongNow(): Promise<OrderError | null> {
      if (typeof tradable().meant !== 'string') return null;
      const of = [line, tradable().get(null), current] as const;
      return (await wrongIn(...of)) ?? wrongPriceIn(...of);
    }

    /** What its size is computed by, where that is to be computed. */
    async function marketNow(): Promise<Facts['market']> {
      const { meant } = tradable();
      return current.sizing?.units === null && typeof meant === 'string'
        ? marketFor(line, tradable().get(meant), current, current.sizing)
        : null;
    }

    /** Where the broker lets nobody look, it is not tried over and over: nothing is to be held up by that. */
    async function lookAgain(): Promise<boolean> {
      if (!isLookAnswered) return false;
      open = await lookAt(deps.rules.settleMs, () => {
        isLookAnswered = false;
      });
      return isLookAnswered;
    }

    async function lookAt(withinMs: number, onUnanswered = () => {}) {
      const of = { order: current, opposed, line, rules: deps.rules };
      const onFault = (fault: unknown) => {
        onUnanswered();
        return orReconnect(fault, withinMs);
      };
      const looking = { ...of, now: now(), withinMs, onFault, onSeen: (leg: Leg) => trades.seen(leg) };
      const found = await Promise.all(
        open.map((other) => (tradable().has(other.instrument) ? lookElsewhere(looking, other) : [other])),
      );
      for (const [index, still] of found.entries())
        if (still.length === 0) gone.add(open[index]?.leg.clientOrderId ?? '');
      return found.flat();
    }

    async function look(leg: Leg, withinMs: number | null): Promise<void> {
      // Whether it was sent at all is asked until there is an answer.
      const isLost = leg.status === 'sending' || (leg.status === 'unknown' && leg.leg === 'exit');
      const state = await line.find(queryOf(leg, current), withinMs ?? undefined).catch((fault: unknown) => {
        if (isLost) throw fault;
        return orReconnect(fault, withinMs);
      });
      watches.leg.looked();
      isMissing = isLost && state === null;
      // What it has done is not in a position that was read before.
      if (state) [current, position] = [recordState(current, keyOf(leg), state, now()), null];
      for (const each of current.legs) trades.seen(each);
    }
  }

  /**
   * An unavailable broker is a look without an answer: the looks are the retries. One that had hardly any time, as the last
   * one has, says nothing of the connection.
   */
  function orReconnect(fault: unknown, withinMs: number | null): null {
    if (!(fault instanceof BrokerUnavailable)) throw fault;
    const hadTime = withinMs === null || withinMs >= deps.rules.lookEveryMs;
    if (!hasReconnected && hadTime && !(fault instanceof BrokerBusy)) {
      hasReconnected = true;
      throw fault;
    }
    return null;
  }
}
