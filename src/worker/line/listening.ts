// Hears of fills where the broker tells by itself. While an order of an account waits for its fill, and only then, the broker's
// stream is open; what it says of one makes a look come now, and is not believed: fill verification looks and decides as ever.
// Whatever becomes of the stream, trading does not notice: the looks come at their times without it. Only an order that asks for
// protection has no time for that: while nothing is heard, it is looked at so often that its stop is in time.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { BrokerUnavailable, CredentialsRejected, type OrderHint } from '../../broker/broker.ts';
import type { AccountId, OrderId } from '../../domain/ids.ts';
import { type Order, openLeg } from '../../domain/orders/order.ts';
import { isForgotten } from '../../domain/orders/other-legs.ts';
import type { Connections } from './connections.ts';
import type { Line } from './line.ts';
import { createPace, type Pace } from './pace.ts';

export interface ListeningDeps {
  readonly connections: Pick<Connections, 'use'>;
  /** Has fill verification look at the order now. */
  askForLook(order: OrderId): Promise<void>;
  /** Something happened on an account that is held; null: it may have, before the stream was open. */
  onHint?(account: AccountId, hint: OrderHint | null): void;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void };
  readonly times?: Partial<typeof TIMES>;
}

export interface Listening {
  /** The order stands so now: one with an open leg is listened for. */
  note(order: Order): void;
  /** Something protects the account's positions: its stream stays open, and whatever it says makes somebody look. */
  hold(account: AccountId, isHeld: boolean): void;
  /** What was waited for has come. */
  forget(order: Pick<Order, 'id' | 'accountId'>): void;
  close(): void;
}

const TIMES = {
  /** The next order may wait too: so long after the last one the stream stays. */
  lingerMs: 30_000,
  /** An order that nobody has looked at for so long is not waited for any more. */
  waitMs: 15 * 60_000,
  /** A stream that broke is opened again after this, twice as much each time. */
  firstRetryMs: 1_000,
  longestRetryMs: 5 * 60_000,
  /** One order is not looked at more often, however many fills it has. */
  spacingMs: 500,
  /** An account's looks: so many at once, then one in so long. They share the broker's patience with what is sent. */
  burst: 5,
  paceMs: 1_000,
  /** While nothing is heard: an order that asks for protection is looked at so often. */
  unheardMs: 5_000,
  /** Not before the look before has come back, or has been away for so long: a broker that hangs is not to keep others' words waiting. */
  awayMs: 30_000,
};

/** A stream that was good for so long has not failed, it has ended. */
const GOOD_MS = 60_000;
/** Who is refused is not to knock again soon. */
const MANY = 20;

export function createListening(deps: ListeningDeps): Listening {
  const { connections, askForLook, clock, log } = deps;
  const times = { ...TIMES, ...deps.times };
  const ears = new Map<AccountId, Ear>();
  /** Of accounts whose broker tells nothing. */
  const silent = new Set<AccountId>();
  const held = new Set<AccountId>();
  const closing = new AbortController();

  interface Awaited {
    /** By which a hint can name it. */
    names: ReadonlySet<string>;
    expiry: NodeJS.Timeout;
    /** What it has filled has no stop before that is known. */
    asksForProtection: boolean;
    /** A look that was asked for because nothing is heard has not come back. */
    awayUntil: number;
    /** It is to be looked at: because it was named, or because the stream could not tell; first come, first served. */
    due: { readonly isNamed: boolean; readonly turn: number } | null;
    restsUntil: number;
  }

  interface Ear {
    readonly orders: Map<OrderId, Awaited>;
    readonly leaving: AbortController;
    readonly pace: Pace;
    turns: number;
    nextLook: NodeJS.Timeout | undefined;
    line: Line | null;
    lingering: NodeJS.Timeout | undefined;
    /** The stream is open, as far as we know. */
    isOpen: boolean;
    /** Our credentials were: they are not presented often, and nothing can be protected with them. */
    isRefused: boolean;
    nextUnheard: NodeJS.Timeout | undefined;
  }

  function note(order: Order): void {
    const { id, accountId, simulation, legs, wish } = order;
    if (closing.signal.aborted || simulation) return;
    const open = openLeg(order);
    if (!open) {
      forget(order);
      return;
    }
    const asksForProtection = wish !== undefined && open.leg === 'entry' && !isForgotten(open, clock.now());
    if (silent.has(accountId) && !asksForProtection) return;
    const ear = ears.get(accountId) ?? listen(accountId);
    clearTimeout(ear.lingering);
    ear.lingering = undefined;
    const names = new Set(legs.flatMap((leg) => [leg.clientOrderId, leg.brokerRef ?? []].flat()));
    const known = ear.orders.get(id);
    clearTimeout(known?.expiry);
    const expiry = setTimeout(() => forget(order), times.waitMs).unref();
    if (known) Object.assign(known, { names, expiry, asksForProtection, awayUntil: 0 });
    else ear.orders.set(id, { names, expiry, asksForProtection, awayUntil: 0, due: null, restsUntil: 0 });
    lookUnheard(ear);
  }

  function forget({ id, accountId }: Pick<Order, 'id' | 'accountId'>): void {
    const ear = ears.get(accountId);
    clearTimeout(ear?.orders.get(id)?.expiry);
    if (!ear?.orders.delete(id) || ear.orders.size > 0 || held.has(accountId)) return;
    linger(accountId, ear);
  }

  function hold(account: AccountId, isHeld: boolean): void {
    if (closing.signal.aborted || silent.has(account) || held.has(account) === isHeld) return;
    if (isHeld) {
      held.add(account);
      const ear = ears.get(account) ?? listen(account);
      clearTimeout(ear.lingering);
      ear.lingering = undefined;
      return;
    }
    held.delete(account);
    const ear = ears.get(account);
    if (ear && ear.orders.size === 0) linger(account, ear);
  }

  function linger(account: AccountId, ear: Ear): void {
    ear.lingering = setTimeout(() => leave(account, ear), times.lingerMs).unref();
  }

  function leave(account: AccountId, ear: Ear): void {
    if (ears.get(account) === ear) ears.delete(account);
    clearTimeout(ear.lingering);
    clearTimeout(ear.nextLook);
    clearTimeout(ear.nextUnheard);
    for (const { expiry } of ear.orders.values()) clearTimeout(expiry);
    ear.leaving.abort();
  }

  function listen(account: AccountId): Ear {
    const ear: Ear = {
      orders: new Map(),
      leaving: new AbortController(),
      pace: createPace(times),
      turns: 0,
      nextLook: undefined,
      line: null,
      lingering: undefined,
      isOpen: false,
      isRefused: false,
      nextUnheard: undefined,
    };
    ears.set(account, ear);
    void keepListening(account, ear).finally(() => leave(account, ear));
    return ear;
  }

  async function keepListening(account: AccountId, ear: Ear): Promise<void> {
    const { signal } = ear.leaving;
    let hasWarned = false;
    for (let failures = 0; !signal.aborted; ) {
      const begun = performance.now();
      let isRefused = false;
      try {
        if (!(await hearOnce(account, ear))) return await leftOf(ear);
      } catch (fault) {
        if (performance.now() - begun > GOOD_MS) failures = 0;
        if (!hasWarned && !signal.aborted)
          log.warn(
            { account, reason: reasonOf(fault) },
            'a broker’s stream ended; fills are looked for as ever',
          );
        hasWarned = true;
        isRefused = fault instanceof CredentialsRejected;
        failures = isRefused ? MANY : failures + 1;
      }
      Object.assign(ear, { isOpen: false, isRefused });
      lookUnheard(ear);
      const ms = Math.min(times.firstRetryMs * 2 ** (failures - 1), times.longestRetryMs);
      // All whom a broker has cut off at once are not to come back at once.
      await sleep(ms * (0.5 + Math.random()), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Until the stream ends, which throws. false: this broker has none. */
  async function hearOnce(account: AccountId, ear: Ear): Promise<boolean> {
    const { signal } = ear.leaving;
    // The stream's end is not the connection's: it is not waited for in there.
    const opened = await connections.use(
      { accountId: account, simulation: false },
      async (line) => {
        ear.line = line;
        const ended = line.watch?.((hint) => {
          ear.isOpen = true;
          hear(ear, hint);
          if (held.has(account)) deps.onHint?.(account, hint);
        }, signal);
        ended?.catch(() => {});
        return { ended };
      },
      { retries: 0 },
    );
    if (!opened.ended) {
      silent.add(account);
      return false;
    }
    await opened.ended;
    return true;
  }

  /** Of a broker that tells nothing: until nothing is waited for any more. */
  async function leftOf({ leaving, orders }: Ear): Promise<void> {
    if ([...orders.values()].some(({ asksForProtection }) => asksForProtection) && !leaving.signal.aborted)
      await once(leaving.signal, 'abort');
  }

  /** Again and again, until the stream is open. */
  function lookUnheard(ear: Ear): void {
    const isAsked = [...ear.orders.values()].some(({ asksForProtection }) => asksForProtection);
    if (ear.isOpen || ear.isRefused || ear.nextUnheard || !isAsked || ear.leaving.signal.aborted) return;
    ear.nextUnheard = setTimeout(() => {
      ear.nextUnheard = undefined;
      if (ear.isOpen || ear.isRefused) return;
      const now = performance.now();
      for (const awaited of ear.orders.values()) {
        if (!awaited.asksForProtection || awaited.due || now < awaited.awayUntil) continue;
        Object.assign(awaited, {
          due: { isNamed: false, turn: ear.turns++ },
          awayUntil: now + times.awayMs,
        });
      }
      lookInTurn(ear);
      lookUnheard(ear);
    }, times.unheardMs).unref();
  }

  function hear(ear: Ear, hint: OrderHint | null): void {
    const isNamed = hint !== null;
    for (const awaited of ear.orders.values()) {
      // What happened before the stream was open was told to nobody.
      const isMeant =
        !isNamed ||
        [hint.clientOrderId, hint.brokerRef].some((name) => name !== null && awaited.names.has(name));
      if (!isMeant) continue;
      const { isNamed: wasNamed, turn } = awaited.due ?? { isNamed, turn: ear.turns++ };
      awaited.due = { isNamed: isNamed || wasNamed, turn };
    }
    lookInTurn(ear);
  }

  /** However much is heard of an order before its turn, it is one look; and none comes sooner than the broker takes it. */
  function lookInTurn(ear: Ear): void {
    clearTimeout(ear.nextLook);
    while (!ear.leaving.signal.aborted) {
      const now = performance.now();
      const next = nextOf(ear, now);
      if (!next) return;
      const { id, awaited } = next;
      const ms = Math.max(ear.line?.busyMs() ?? 0, ear.pace.waitMs(now), restMs(awaited, now));
      if (ms > 0) {
        ear.nextLook = setTimeout(lookInTurn, ms, ear).unref();
        return;
      }
      ear.pace.take(now);
      Object.assign(awaited, { due: null, restsUntil: now + times.spacingMs });
      askForLook(id).catch((fault: unknown) =>
        log.warn({ fault, order: id }, 'a look could not be asked for; the next one comes at its time'),
      );
    }
  }

  /** Of those that have rested: one that was named, and of these the one that has waited longest. */
  function nextOf(ear: Ear, now: number) {
    const [next] = [...ear.orders]
      .flatMap(([id, awaited]) => (awaited.due ? { id, awaited, ...awaited.due } : []))
      .toSorted(
        (one, other) =>
          restMs(one.awaited, now) - restMs(other.awaited, now) ||
          Number(other.isNamed) - Number(one.isNamed) ||
          one.turn - other.turn,
      );
    return next;
  }

  const restMs = ({ restsUntil }: Awaited, now: number) => Math.max(0, restsUntil - now);

  return {
    note,
    hold,
    forget,
    close() {
      closing.abort();
      for (const [account, ear] of ears) leave(account, ear);
    },
  };
}

const reasonOf = (fault: unknown): string =>
  fault instanceof BrokerUnavailable ? fault.message : 'the stream could not be opened';
