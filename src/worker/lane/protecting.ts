// A user's positions that are protected: which of them is to be looked at, and when. Each account's are kept on its own lane, one after
// the other; what is wanted of them by orders that were filled since is taken in first.

import { setImmediate as immediate } from 'node:timers/promises';
import { BrokerUnavailable, CredentialsRejected, type Instrument } from '../../broker/broker.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import { type AccountId, timestamp, type UserId } from '../../domain/ids.ts';
import { isUnderWay, type Order, openLeg } from '../../domain/orders/order.ts';
import { unasked } from '../../domain/protection/answers.ts';
import { awaitsVerification, NOT_LISTED, NOT_VERIFIED } from '../../domain/protection/credentials.ts';
import { closingSide, isWatched, type Protection } from '../../domain/protection/protection.ts';
import { withFound } from '../../domain/protection/resume.ts';
import type { Room } from '../../domain/protection/step.ts';
import { mayOpen } from '../../domain/protection/undecided.ts';
import { closingOf } from '../../domain/protection/under-way.ts';
import type { Connections } from '../line/connections.ts';
import type { Line } from '../line/line.ts';
import { foundThere } from '../line/protective-leg.ts';
import type { Sweeps } from '../line/sweeps.ts';
import type { Young } from '../line/young.ts';
import type { WorkerOrders } from '../orders.ts';
import type { Saved, WorkerProtections } from '../protections.ts';
import type { Keeping, Kept, ToKeep } from './keeping.ts';
import type { Turn } from './lanes.ts';
import { createLookTimes } from './look-times.ts';
import type { makeRoom } from './make-room.ts';
import { openElsewhere } from './open-elsewhere.ts';
import { OrderTaken } from './order-taken.ts';
import { keepProtection } from './protect.ts';
import { type Closed, protectiveLegs } from './protect-legs.ts';
import { isOfSame } from './resting.ts';
import { createRetries, FIRST_RETRY_MS, LONGEST_RETRY_MS } from './retries.ts';
import { createSweepTurns, mostUrgentFirst, nextTimeStop } from './sweep-turns.ts';
import { takenIn } from './taken-in.ts';
import type { Book, Books, Shown, Trades } from './trades.ts';

export interface ProtectingDeps extends Pick<Keeping, 'clock' | 'wait' | 'rules'> {
  readonly protections: WorkerProtections;
  readonly orders: Pick<WorkerOrders, 'unsettled' | 'findAccount'>;
  readonly connections: Connections;
  readonly books: Pick<Books, 'upToDate'>;
  /** Of this process. */
  readonly sweeps: Sweeps;
  /** Of this process: one price of an instrument for all who follow it. */
  readonly prices: Young;
  /** Whoever began last has the user. */
  readonly token: string;
  /** Throws where another worker has the user: this one ends. */
  mine(protection: Protection, saved: Saved): Protection | 'changed';
  /** On the account's lane, after what stands there. */
  trading<T>(account: AccountId, does: (turn: Turn) => Promise<T>): Promise<T>;
  /** Orders that were accepted meanwhile. */
  workOff(account: AccountId, turn: Turn): Promise<unknown>;
  /** What was read of the account before is no longer so. */
  forget(account: AccountId): void;
  /** Whether something is kept of the account's own book: its broker may tell of it. */
  hold(account: AccountId, isHeld: boolean): void;
  makeRoom(line: Line, of: readonly Order[], at: Parameters<typeof makeRoom>[3]): Promise<Room>;
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

type Word = 'perhaps' | 'certainly' | 'asked';

export interface Protecting {
  /** Everything that the user has is looked at now. */
  begin(): Promise<void>;
  /**
   * Somebody says that something has happened there: the broker by itself, who has seen a fill, or who wants to know. What has happened
   * only perhaps is swept; what a person asks for, and what was refused before, is tried now.
   */
  hear(account: AccountId, word?: Word): void;
  /** An order of the account was executed, or its fill was seen. */
  note(order: Pick<Order, 'accountId' | 'wish' | 'legs'>): void;
  /** What its legs have closed counts for what is held, though nobody has written it down yet. */
  see(of: Book, line: Line, trades: Trades, shown: Shown): Promise<void>;
  /** Where the broker reserves what its legs would close: they leave for what is sent to close it. false: none was in the way. */
  free(of: Book, closed: Closed, line: Line, trades: Trades): Promise<boolean>;
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

interface Looking extends Pick<ToKeep, 'isTold' | 'isAsked'> {
  readonly account: Account;
  /** That something has happened is known. */
  readonly isUrgent: boolean;
}

/** What is due within so long is looked at together. */
const TOGETHER_MS = 250;
/** What is closed by an order is looked at again so often at once. */
const MOST_ROUNDS = 8;

export function createProtecting(deps: ProtectingDeps, user: UserId): Protecting {
  const { protections, clock, rules, log, token, mine } = deps;
  const legs = protectiveLegs(deps, user);
  /** Where something has happened since it was looked at: by account, in these instruments, or anywhere. */
  const told = new Map<AccountId, ReadonlySet<string> | 'anywhere'>();
  /** Accounts where that is known, and not only possible. */
  const urgent = new Set<AccountId>();
  /** Accounts whose owner wants all of it tried now. */
  const asked = new Set<AccountId>();
  const retries = createRetries<AccountId>();
  /** Protections that were to be looked at, and the broker did not answer; whether their owner asked for it. */
  const unseen = new Map<string, boolean>();
  /** As each was left last, and until when: what was seen of it and was not worth saving is remembered. */
  const lefts = new Map<string, Pick<Kept, 'protection' | 'untilMs'>>();
  const turns = createSweepTurns({
    ...deps,
    putOff: (account, until) => protections.putOff(user, account, until),
    begin: (account) => times.now(account),
  });
  const times = createLookTimes({
    clock,
    longestMs: rules.sweepMs,
    look: (account) => deps.trading(account, (turn) => afterwards(account, turn)),
  });
  let isClosed = false;

  /** Something has happened there, or may have. */
  function soon(account: AccountId, where: ReadonlySet<string> | 'anywhere'): void {
    tell(account, where);
    times.now(account);
  }

  /** The answer of the order that it is about is given first: whoever waits for that does not wait for this. */
  async function afterwards(account: AccountId, turn: Turn): Promise<boolean> {
    await immediate();
    return first(account, turn);
  }

  /** Once, though more than one turn was to come to it. Throws where another worker has the user, or this one stops. */
  async function first(account: AccountId, turn: Turn): Promise<boolean> {
    if (!times.begin(account)) return false;
    const isUrgent = urgent.delete(account);
    try {
      await lookAt(account, isUrgent, turn);
    } catch (fault) {
      if (isClosed || fault instanceof OrderTaken) throw fault;
      log.error({ fault, user_id: user, trading_account_id: account }, 'protection could not be kept');
      // Whatever it was to be looked at for, it was not.
      tell(account, 'anywhere');
      if (isUrgent) urgent.add(account);
      times.at(account, clock.now() + retries.after(account, LONGEST_RETRY_MS));
    }
    return true;
  }

  function tell(account: AccountId, where: ReadonlySet<string> | 'anywhere'): void {
    const before = told.get(account) ?? new Set();
    told.set(account, before === 'anywhere' || where === 'anywhere' ? 'anywhere' : before.union(where));
  }

  function hearing(account: AccountId, word: Word = 'certainly'): void {
    if (word !== 'perhaps') urgent.add(account);
    if (word === 'asked') asked.add(account);
    tell(account, 'anywhere');
    times.hear(account);
  }

  const readKept = async (account: AccountId): Promise<readonly Protection[]> =>
    (await protections.kept(user, account)).map((protection) => {
      const left = lefts.get(protection.id);
      return left?.protection.version === protection.version ? left.protection : protection;
    });

  /** At once where something has happened or is amiss, else when its turn to be swept has come. */
  async function lookAt(id: AccountId, isUrgent: boolean, turn: Turn): Promise<void> {
    const [all, account] = await Promise.all([readKept(id), deps.orders.findAccount(id)]);
    const keep = (known: Account) => keepAccount({ account: known, isUrgent }, all, turn);
    if (all.length === 0 || !account) {
      turns.leave(id);
      return account ? keep(account) : times.at(id, Number.POSITIVE_INFINITY);
    }
    const now = clock.now();
    const look = await turns.take({ account, all, isUrgent }, () => keep(account));
    if (look === 'waits') times.at(id, nextTimeStop(all, now));
  }

  /** Until all of them rest. */
  async function keepAccount(
    look: Pick<Looking, 'account' | 'isUrgent'>,
    first: readonly Protection[],
    turn: Turn,
  ): Promise<void> {
    const { id } = look.account;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (round > 0) times.heed(id);
      const where = told.get(id) ?? new Set();
      told.delete(id);
      const all = round === 0 ? first : await readKept(id);
      deps.hold(
        id,
        all.some(({ simulation }) => !simulation),
      );
      if (all.length === 0) {
        times.leave(id);
        retries.over(id);
        return;
      }
      const isAsked = asked.delete(id);
      const kept: Kept[] = [];
      for (const protection of mostUrgentFirst(all, (one) => lefts.has(one.id))) {
        const left = lefts.get(protection.id);
        const isTold = where === 'anywhere' || where.has(protection.instrument);
        const isLater = left?.protection === protection && left.untilMs > clock.now() + TOGETHER_MS;
        kept.push(
          isLater && !isTold
            ? { ...left, is: 'kept' }
            : await keepOne(protection, {
                ...look,
                isTold: isTold || round > 0 || unseen.has(protection.id),
                isAsked: isAsked || unseen.get(protection.id) === true,
              }),
        );
      }
      for (const { protection, is, untilMs } of kept)
        if (is === 'kept' && isWatched(protection)) lefts.set(protection.id, { protection, untilMs });
        else lefts.delete(protection.id);
      deps.forget(id);
      if (kept.some(({ is }) => is === 'closing')) await deps.workOff(id, turn);
      // Where all have ended, the next round finds that nothing is kept: what is opened then is protected anew.
      else if (kept.every(({ is }) => is === 'kept') && kept.some(({ protection }) => isWatched(protection)))
        return times.at(id, Math.min(...kept.map(({ untilMs }) => untilMs)));
    }
    times.at(id, clock.now() + FIRST_RETRY_MS);
  }

  async function keepOne(first: Protection, how: Looking): Promise<Kept> {
    const { accountId, simulation, id } = first;
    // Whose account they are of is found out when they are verified.
    if (awaitsVerification(first, how.account))
      return away(first, how, new CredentialsRejected(NOT_VERIFIED));
    try {
      let isFirst = true;
      const target = { accountId, simulation, version: how.account.connectionVersion };
      // Where the last look was not answered the looks are the retries: as many accounts as there are ask a broker that is away.
      const patience = { isTrading: true, ...(unseen.has(id) && { retries: 1 }) };
      const lookAfter = async (line: Line) => {
        // Over a new connection what was saved over the last one counts.
        const protection = isFirst ? first : await reread(first);
        isFirst = false;
        return protection === null ? gone(first) : keep(line, protection, how);
      };
      const kept = await deps.connections.use(target, lookAfter, patience);
      retries.over(accountId);
      unseen.delete(id);
      return kept;
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      log.warn({ fault, user_id: user, trading_account_id: accountId, protection: id }, 'protection waits');
      return away(first, how, fault);
    }
  }

  const reread = async ({ id, accountId }: Protection): Promise<Protection | null> =>
    (await protections.kept(user, accountId)).find((each) => each.id === id) ?? null;
  const gone = (protection: Protection): Kept => ({ protection, is: 'changed', untilMs: clock.now() });

  /** The broker cannot be asked now. */
  async function away(first: Protection, how: Looking, fault: BrokerUnavailable): Promise<Kept> {
    const { accountId } = first;
    const now = clock.now();
    const untilMs = now + retries.afterFault(accountId, { fault, protection: first, sweepMs: rules.sweepMs });
    const isRefused = fault instanceof CredentialsRejected;
    // Of new credentials somebody tells.
    unseen.set(first.id, how.isAsked && !isRefused);
    if (how.isUrgent && !isRefused) urgent.add(accountId);
    const current = await reread(first);
    if (current === null) return gone(first);
    const told = unasked(current, fault.message, { now, protectMs: rules.protectMs });
    const after: Protection = isRefused ? { ...told, state: 'unwatched', reason: fault.message } : told;
    const saved = after === current ? current : mine(current, await protections.save(after, current, token));
    return saved === 'changed' ? gone(first) : { protection: saved, is: 'kept', untilMs };
  }

  async function keep(line: Line, first: Protection, { account, isTold, isAsked }: Looking): Promise<Kept> {
    const { accountId, simulation, instrument: name } = first;
    const found = await line.resolve(name);
    if ('rejection' in found) return unlisted(line, first, found.rejection.message);
    const unsettled = (await deps.orders.unsettled(user, accountId)).orders.filter(
      (order) => order.simulation === simulation,
    );
    // Whoever they left for has ended, and nobody else is about to close it.
    const isOver =
      first.suspendedAt !== null &&
      !unsettled.some((order) => isUnderWay(order.status) && isOfSame(order, first));
    const known = await again(line, found, first);
    if (known === 'changed') return gone(first);
    const { credentialsVersion } = line;
    const isSame = !isOver && known.credentialsVersion === credentialsVersion;
    const suspendedAt = isOver ? null : known.suspendedAt;
    const current = isSame ? known : { ...known, credentialsVersion, suspendedAt };
    const { protection: asked, isUndecided } = await takenIn(protections, line, found, current, rules);
    const wished = asked === current ? current : mine(current, await protections.save(asked, current, token));
    if (wished === 'changed') return gone(first);
    const keeping: Keeping = {
      ...deps,
      quote: (of, instrument) =>
        deps.prices.get(`${of.listing ?? accountId} ${simulation} ${instrument.symbol}`, () =>
          of.quote(instrument),
        ),
      saves: savesFrom(wished),
    };
    return keepProtection(keeping, line, {
      protection: wished,
      instrument: found,
      trades: await deps.books.upToDate({ accountId, simulation }, unsettled.filter(openLeg)),
      triggerBy: account.triggerBy,
      recorded: (since) => protections.recorded(wished, since),
      // What is not traded at present cannot be closed either: the stop is tried with each sweep.
      unprotected: found.open || found.nextOpen !== null ? account.unprotected : 'alert',
      isUnsettled: wished.wantedBy.length > 0 || unsettled.some((order) => mayOpen(order, name)),
      isUndecided,
      isTold: isTold || wished !== first,
      isAsked,
      closing: closingOf(wished, unsettled),
      others: openElsewhere(unsettled).filter(({ instrument }) => instrument === name),
      makeRoom: () => deps.makeRoom(line, unsettled, { instrument: name, side: closingSide(wished) }),
    });
  }

  /** The broker does not know the name. Where nothing is held of it any more, nothing can stand there. */
  async function unlisted(line: Line, first: Protection, reason: string): Promise<Kept> {
    // What is not listed may be shown by another name, and cannot be traded here.
    const isHeld = (await line.positions()).some(
      ({ symbol, tradable }) => symbol === first.instrument || !tradable,
    );
    const againMs = clock.now() + rules.sweepMs;
    const after: Protection = isHeld
      ? { ...first, state: 'unwatched', reason: `${NOT_LISTED}: ${reason}`, dueAt: timestamp(againMs) }
      : { ...first, state: 'ended', reason, dueAt: null };
    const saved = mine(first, await protections.save(after, first, token));
    if (saved === 'changed') return gone(first);
    return { protection: saved, is: 'kept', untilMs: againMs };
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

  /** One that was left may be older than what stands there: that is looked at first. */
  async function again(line: Line, found: Instrument, first: Protection): Promise<Protection | 'changed'> {
    if (!first.isResumed) return first;
    const known = withFound(first, await foundThere(line, first, found, clock.now()));
    return mine(first, await protections.save(known, first, token));
  }

  return {
    async begin() {
      for (const account of new Set((await protections.kept(user)).map(({ accountId }) => accountId)))
        soon(account, 'anywhere');
    },
    hear: hearing,
    note({ accountId, wish, legs }) {
      if (wish === undefined && !times.has(accountId)) return;
      urgent.add(accountId);
      soon(accountId, new Set(legs.flatMap(({ instrument }) => instrument ?? [])));
    },
    async see({ accountId, simulation }, line, trades, shown) {
      for (const protection of await protections.kept(user, accountId))
        if (protection.simulation === simulation) await legs.see(line, protection, trades, shown);
    },
    free: legs.free,
    hasClosed: async (of, line) => times.has(of.accountId) && legs.haveClosed(of, line),
    first,
    has: times.has,
    isKeeping: times.isAny,
    close() {
      isClosed = true;
      turns.leave();
      times.close();
    },
  };
}
