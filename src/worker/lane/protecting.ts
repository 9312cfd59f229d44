// A user's positions that are protected: which of them is to be looked at, and when. Each account's are kept on its own lane, one after
// the other; what is wanted of them by orders that were filled since is taken in first.

import { BrokerBusy, BrokerUnavailable, CredentialsRejected, type Instrument } from '../../broker/broker.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import { absolute, compare, type Decimal, sign, ZERO } from '../../domain/decimal.ts';
import { type AccountId, millis, type OrderId, type UserId } from '../../domain/ids.ts';
import { hasEnded, isOpenLeg, isUnderWay, type Order } from '../../domain/orders/order.ts';
import { fillOf } from '../../domain/orders/result.ts';
import { adopt, anew, beginsAnew, opensAnew, toTakeIn } from '../../domain/protection/adopt.ts';
import { unasked } from '../../domain/protection/answers.ts';
import { isWatched, type Protection } from '../../domain/protection/protection.ts';
import type { Connections } from '../line/connections.ts';
import type { Line } from '../line/line.ts';
import type { Young } from '../line/young.ts';
import type { WorkerOrders } from '../orders.ts';
import type { Saved, WorkerProtections } from '../protections.ts';
import type { Turn } from './lanes.ts';
import { OrderTaken } from './order-taken.ts';
import { type Keeping, type Kept, keepProtection } from './protect.ts';
import { protectiveLegs } from './protect-legs.ts';
import type { Book, Books, Trades } from './trades.ts';

export interface ProtectingDeps extends Pick<Keeping, 'clock' | 'wait' | 'rules'> {
  readonly protections: WorkerProtections;
  readonly orders: Pick<WorkerOrders, 'unsettled' | 'findAccount'>;
  readonly connections: Connections;
  readonly books: Pick<Books, 'asOfNow'>;
  /** Of this process: one price of an instrument for all who follow it. */
  readonly prices: Young;
  /** Whoever began last has the user. */
  readonly token: string;
  /** On the account's lane, after what stands there. */
  trading<T>(account: AccountId, does: (turn: Turn) => Promise<T>): Promise<T>;
  /** Orders that were accepted meanwhile. */
  workOff(account: AccountId, turn: Turn): Promise<unknown>;
  /** What was read of the account before is no longer so. */
  forget(account: AccountId): void;
  /** Whether something is kept of the account's own book: its broker may tell of it. */
  hold(account: AccountId, isHeld: boolean): void;
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

export interface Protecting {
  /** Everything that the user has is looked at now. */
  begin(): Promise<void>;
  /** The broker says by itself that something happened. */
  hear(account: AccountId): void;
  /** An order of the account was executed, or its fill was seen. */
  note(order: Pick<Order, 'accountId' | 'wish'>): void;
  /** What its legs have closed counts for what is held, though nobody has written it down yet. */
  see(of: Book, line: Line, trades: Trades): Promise<void>;
  /** Where the broker reserves what its legs would close: they leave for whoever closes by himself. Who adds leaves them alone. */
  free(of: Book & Pick<Order, 'symbol' | 'intent'>, line: Line, trades: Trades): Promise<void>;
  /** What has happened to the account's positions is seen to now, in this turn; false: nothing has. */
  first(account: AccountId, turn: Turn): Promise<boolean>;
  /** A leg of the order's position has closed some of it, and nobody has written that down yet. */
  hasClosed(of: Book & Pick<Order, 'symbol'>, line: Line): Promise<boolean>;
  /** Something of the account is kept. */
  has(account: AccountId): boolean;
  /** Something is kept: the worker is not idle. */
  isKeeping(): boolean;
  close(): void;
}

/** Where the broker does not answer, it is asked again after this, twice as long each time. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** While a position has no stop. */
const LONGEST_BARE_RETRY_MS = 4_000;
/** A stream may tell of every fill of an order. */
const HEARD_MS = 500;
/** What is closed by an order is looked at again so often at once. */
const MOST_ROUNDS = 8;

export function createProtecting(deps: ProtectingDeps, user: UserId): Protecting {
  const { protections, clock, rules, log, token } = deps;
  const legs = protectiveLegs({ ...deps, mine }, user);
  /** When each account is looked at next. */
  const timers = new Map<AccountId, NodeJS.Timeout>();
  /** Accounts where something has happened since they were looked at. */
  const told = new Set<AccountId>();
  /** Accounts that are to be looked at, and whose turn has not come. */
  const waiting = new Set<AccountId>();
  const failures = new Map<AccountId, number>();
  const heardAt = new Map<AccountId, number>();
  /** As each was left last: what was seen of it and was not worth saving is remembered. */
  const lefts = new Map<string, Protection>();
  let isClosed = false;

  /** `isTold`: something has happened, or may have; else its time has come. */
  function soon(account: AccountId, isTold: boolean): void {
    if (isTold) told.add(account);
    if (isClosed || waiting.has(account)) return;
    clearTimeout(timers.get(account));
    // It counts as kept until it is known that nothing is.
    timers.set(
      account,
      setTimeout(() => {}, 0),
    );
    waiting.add(account);
    void deps.trading(account, (turn) => first(account, turn)).catch(() => waiting.delete(account));
  }

  /** Once, though more than one turn was to come to it. Throws where another worker has the user, or this one stops. */
  async function first(account: AccountId, turn: Turn): Promise<boolean> {
    if (!waiting.delete(account)) return false;
    try {
      await keepAccount(account, turn);
    } catch (fault) {
      if (isClosed || fault instanceof OrderTaken) throw fault;
      log.error({ fault, user_id: user, trading_account_id: account }, 'protection could not be kept');
      at(account, clock.now() + LONGEST_RETRY_MS);
    }
    return true;
  }

  function at(account: AccountId, ms: number, isTold = false): void {
    clearTimeout(timers.get(account));
    if (isClosed) return;
    if (isTold) told.add(account);
    const delay = Math.max(0, Math.min(ms - clock.now(), rules.sweepMs));
    timers.set(
      account,
      setTimeout(() => soon(account, false), delay),
    );
  }

  /** However much is heard, it is one look in so long. */
  function hearing(account: AccountId): void {
    const now = clock.now();
    const isSoon = now - (heardAt.get(account) ?? 0) < HEARD_MS;
    heardAt.set(account, now);
    if (isSoon) at(account, now + HEARD_MS, true);
    else soon(account, true);
  }

  /** Until all of them rest. */
  async function keepAccount(account: AccountId, turn: Turn): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const isTold = told.delete(account) || round > 0 || failures.has(account);
      const all = await protections.kept(user, account);
      deps.hold(
        account,
        all.some(({ simulation }) => !simulation),
      );
      if (all.length === 0) {
        clearTimeout(timers.get(account));
        timers.delete(account);
        failures.delete(account);
        return;
      }
      const kept: Kept[] = [];
      // What has no stop yet does not wait for what has one.
      for (const protection of all.toSorted((a, b) => urgency(a) - urgency(b))) {
        const known = lefts.get(protection.id);
        kept.push(await keepOne(known?.version === protection.version ? known : protection, isTold));
      }
      for (const { protection } of kept)
        if (isWatched(protection)) lefts.set(protection.id, protection);
        else lefts.delete(protection.id);
      deps.forget(account);
      if (kept.some(({ is }) => is === 'closing')) await deps.workOff(account, turn);
      else if (kept.every(({ is }) => is === 'kept'))
        return at(account, Math.min(...kept.map(({ untilMs }) => untilMs)));
    }
    at(account, clock.now() + FIRST_RETRY_MS);
  }

  async function keepOne(first: Protection, isTold: boolean): Promise<Kept> {
    const { accountId, simulation, id } = first;
    const account = await deps.orders.findAccount(accountId);
    if (!account) return { protection: first, is: 'kept', untilMs: clock.now() + rules.sweepMs };
    try {
      let isFirst = true;
      const kept = await deps.connections.use({ accountId, simulation }, async (line) => {
        // Over a new connection what was saved over the last one counts.
        const protection = isFirst ? first : await reread(first);
        isFirst = false;
        return protection === null ? gone(first) : keep(line, protection, { account, isTold });
      });
      failures.delete(accountId);
      return kept;
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      log.warn({ fault, user_id: user, trading_account_id: accountId, protection: id }, 'protection waits');
      return away(first, fault);
    }
  }

  const reread = async ({ id, accountId }: Protection): Promise<Protection | null> =>
    (await protections.kept(user, accountId)).find((each) => each.id === id) ?? null;
  const gone = (protection: Protection): Kept => ({ protection, is: 'changed', untilMs: clock.now() });

  /** The broker cannot be asked now. */
  async function away(first: Protection, fault: BrokerUnavailable): Promise<Kept> {
    const { accountId } = first;
    const now = clock.now();
    const times = failures.get(accountId) ?? 0;
    failures.set(accountId, times + 1);
    const isRefused = fault instanceof CredentialsRejected;
    const ms =
      fault instanceof BrokerBusy
        ? Math.max(100, fault.retryAfterMs)
        : isRefused
          ? rules.sweepMs
          : Math.min(longestRetryMs(first), FIRST_RETRY_MS * 2 ** times);
    const current = await reread(first);
    if (current === null) return gone(first);
    const told = unasked(current, fault.message, { now, protectMs: rules.protectMs });
    const after: Protection = isRefused ? { ...told, state: 'unwatched', reason: fault.message } : told;
    const saved = after === current ? current : mine(current, await protections.save(after, current, token));
    return saved === 'changed'
      ? gone(first)
      : { protection: saved, is: 'kept', untilMs: now + Math.min(ms, rules.sweepMs) };
  }

  async function keep(
    line: Line,
    first: Protection,
    { account, isTold }: { readonly account: Account; readonly isTold: boolean },
  ): Promise<Kept> {
    const { accountId, simulation, instrument: name } = first;
    const found = await line.resolve(name);
    if ('rejection' in found) return unlisted(first, found.rejection.message);
    const unsettled = (await deps.orders.unsettled(user, accountId)).orders.filter(
      (order) => order.simulation === simulation,
    );
    const isOver = first.suspendedAt !== null && !unsettled.some(({ status }) => isUnderWay(status));
    const wished = await takenIn(line, found, isOver ? { ...first, suspendedAt: null } : first);
    if (wished === 'changed') return gone(first);
    const keeping: Keeping = {
      ...deps,
      quote: (of, instrument) =>
        deps.prices.get(`${of.listing ?? accountId} ${simulation} ${instrument.symbol}`, () =>
          of.quote(instrument),
        ),
      saves: savesFrom(wished),
    };
    const closing = unsettled.find(({ id }) => id === wished.closing?.order);
    return keepProtection(keeping, line, {
      protection: wished,
      instrument: found,
      trades: await deps.books.asOfNow({ accountId, simulation }),
      triggerBy: account.triggerBy,
      unprotected: account.unprotected,
      isUnsettled: wished.wantedBy.length > 0 || unsettled.some((order) => mayOpen(order, found)),
      isTold: isTold || wished !== first,
      isClosing: closing !== undefined && !hasEnded(closing.status),
    });
  }

  /** The instrument is gone: nothing can stand there. */
  async function unlisted(first: Protection, reason: string): Promise<Kept> {
    const ended: Protection = { ...first, state: 'ended', reason, dueAt: null };
    const saved = mine(first, await protections.save(ended, first, token));
    return {
      protection: first,
      is: saved === 'changed' ? 'changed' : 'kept',
      untilMs: Number.POSITIVE_INFINITY,
    };
  }

  function savesFrom(first: Protection): Keeping['saves'] {
    let before = first;
    const keepLast = (saved: Saved): Protection | 'changed' => {
      const after = mine(before, saved);
      if (after !== 'changed') before = after;
      return after;
    };
    return {
      save: async (protection) => keepLast(await protections.save(protection, before, token)),
      record: async (protection, closed) =>
        keepLast(await protections.record(protection, before, token, closed)),
      close: async (protection, reason, held) =>
        keepLast(await protections.close(protection, before, token, { reason, held })),
    };
  }

  function mine({ setBy }: Protection, saved: Saved): Protection | 'changed' {
    if (saved === 'taken') throw new OrderTaken(setBy);
    return saved;
  }

  /** With the wishes of orders that were filled since, or of which the position decides. */
  async function takenIn(
    line: Line,
    { symbol, tickSize: tick }: Instrument,
    first: Protection,
  ): Promise<Protection | 'changed'> {
    if (first.wantedBy.length === 0) return first;
    const { wantedBy, adopted } = first;
    const ids = adopted && !wantedBy.includes(adopted.order) ? [...wantedBy, adopted.order] : wantedBy;
    const orders = await protections.orders(ids);
    // Until it is known what became of one, the position decides, and then its own fill once more.
    const isOpen = (id: OrderId) => orders.some((each) => each.id === id && !hasEnded(each.status));
    let protection: Protection = { ...first, wantedBy: wantedBy.filter(isOpen) };
    for (const order of toTakeIn(first, orders)) {
      const before = orders.find((each) => each.id === protection.adopted?.order);
      // The position was closed before it: what protected that one is nobody's wish any more.
      if (beginsAnew(order, before)) protection = anew(protection);
      if (!order.wish) continue;
      const price = entryOf(order) ?? (await averageOf(line, symbol, first));
      if (price !== null) {
        const filledAt = millis(order.filledAt ?? order.submittedAt);
        const wish = opensAnew(order) ? order.wish.fromFlat : order.wish.own;
        protection = adopt(protection, wish, { order: order.id, entry: price, tick, filledAt });
      }
    }
    const isSame = JSON.stringify(protection) === JSON.stringify(first);
    return isSame ? first : mine(first, await protections.save(protection, first, token));
  }

  /** By the broker's word, where ours says nothing. */
  async function averageOf(line: Line, symbol: string, { side }: Protection): Promise<Decimal | null> {
    const held = (await line.positions()).find((position) => position.symbol === symbol);
    if (!held || sign(held.quantity) !== (side === 'long' ? 1 : -1)) return null;
    return compare(absolute(held.averagePrice), ZERO) > 0 ? held.averagePrice : null;
  }

  return {
    async begin() {
      for (const account of new Set((await protections.kept(user)).map(({ accountId }) => accountId)))
        soon(account, true);
    },
    hear: (account) => hearing(account),
    note({ accountId, wish }) {
      if (wish !== undefined || timers.has(accountId)) soon(accountId, true);
    },
    async see({ accountId, simulation }, line, trades) {
      for (const protection of await protections.kept(user, accountId))
        if (protection.simulation === simulation) await legs.see(line, protection, trades);
    },
    free: legs.free,
    hasClosed: async (of, line) => timers.has(of.accountId) && legs.haveClosed(of, line),
    first,
    has: (account) => timers.has(account),
    isKeeping: () => timers.size > 0,
    close() {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

const longestRetryMs = ({ state }: Protection): number =>
  state === 'standing' ? LONGEST_RETRY_MS : LONGEST_BARE_RETRY_MS;

const urgency = ({ state }: Protection): number => (state === 'standing' ? 1 : 0);

/** An entry of ours that may yet be filled there. */
const mayOpen = ({ legs }: Order, { symbol }: Instrument): boolean =>
  legs.some((leg) => leg.leg === 'entry' && leg.instrument === symbol && isOpenLeg(leg));

/** At which price it was filled so far; null: nothing is known to be. */
function entryOf(order: Order): Decimal | null {
  const { price, quantity } = fillOf(order);
  return quantity !== null && sign(quantity) > 0 ? price : null;
}
