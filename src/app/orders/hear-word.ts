// What a strategy says of itself, heard in order: every genuine word is kept, executed or not, and the next one shows
// whether one was missed.

import type { Account } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import {
  findStrategy,
  forgetStance,
  keepWord,
  NOTHING_COMPARED,
  type StrategyState,
  strategyStands,
} from '../../data/orders/strategies.ts';
import { type Decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { isEntry } from '../../domain/orders/entitlement.ts';
import { NO_NOTES, type SignalNotes } from '../../domain/orders/order.ts';
import type { Signal } from '../../domain/signals/signal.ts';
import {
  hasGap,
  hasMoved,
  isByReport,
  isOvertaken,
  isRepeated,
  isSuperseded,
  positionOf,
  printOfReport,
  type Stance,
  type Stopped,
  type StrategyWord,
  staysOnSide,
} from '../../domain/signals/strategy.ts';
import { fingerprint } from '../../domain/signals/webhook.ts';
import { OURSELVES, type RequestContext } from '../audit/audit.ts';
import type { Contested, Placed } from './place-order.ts';
import { compareWith, driftNoted, gapNoted, heardAs, keyOf } from './strategy.ts';

/**
 * Of the signals that several processes, or several webhooks, hear of a strategy at one moment one is heard at each try. More than the
 * rate limit lets through in a minute, as it comes.
 */
const MOST_TRIES = 100;

const FLAT: Stance = { side: 'flat', size: ZERO };

/** A word as it was heard: what is noted with its order, and what is to be committed with it, guarded by `strategy`. */
export interface Heard {
  readonly notes: SignalNotes;
  readonly unit: readonly Statement[];
  /** What protection has closed of the position that the word is about. */
  readonly stopped?: Stopped | null;
  /** By which signal the strategy stands where the word says; absent: it says something else by now. */
  readonly print?: string | null;
}

export interface Hearing {
  readonly account: Account;
  readonly signal: Signal;
  readonly simulation: boolean;
  /** With which the account takes what is said; see `takenWith`. */
  readonly factor: Decimal;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

/** A `sync` and the alert of the same bar are two requests: for so long the alert may yet come. */
const OVERTAKING_MS = 5_000;

/** `isAgain`: what was decided without a look did not stand. */
async function hear(db: Db, hearing: Hearing, { isAgain }: { isAgain: boolean }): Promise<Heard> {
  const { account, signal, simulation, factor, arrivedAt, context } = hearing;
  const { before, price, ignored } = signal;
  const at = timestamp(arrivedAt);
  // Who closes is flat, and need not say so.
  const after = signal.action === 'close' ? FLAT : signal.after;
  const plain = { ...NO_NOTES, price, ignored };
  const few = price === null && ignored.length === 0 ? NO_NOTES : plain;
  // It trades nothing: where the strategy stands, and whether it was stopped out, is as it was.
  if (signal.action === 'protect' || signal.action === 'cancel') return { notes: few, unit: [] };
  const key = keyOf(account, signal.symbol, simulation);
  // It trades, and does not say where the strategy stands now.
  const saysNothing = before === null && after === null;
  const known = saysNothing && !isAgain ? null : await findStrategy(db, key);
  if (saysNothing)
    return {
      notes: few,
      unit: known ? [forgotten(known), ...settled(known, null)] : [forgetStance(key, at)],
    };

  const isSync = signal.action === 'sync';
  const own = fingerprint(account.userId, signal);
  const print = isSync ? printOfReport(own) : own;
  // In simulation nobody has proven a time: one from far ahead would be the last word for ever.
  const latest = arrivedAt + account.maxRequestAge * 1000;
  const said = Math.min(signal.timestamp ?? arrivedAt, latest);
  const word: StrategyWord = { before, after, timestamp: said, print };
  const last = known?.word ?? null;
  const isLate = isSuperseded(last, word);
  const isExpected = known !== null && known.owed !== null && !isSync && isOvertaken(known.word, word);
  const gap = !isLate && !isExpected && hasGap(last, word, { isSync });
  const isAgainSaid = known !== null && isRepeated(known.word, word);
  const staysIn = known !== null && staysOnSide(known.word, word);
  const stopped = staysIn ? known.stopped : null;
  const notes: SignalNotes = {
    ...plain,
    marketPosition: signal.after?.side ?? null,
    gap,
    outOfTurn: isLate,
    // Who asks for an amount, or to close, is not told where to stop by a later word. Nor is the alert by which the strategy stands
    // there: where that comes again its first delivery came to nothing, and a report that has confirmed it since took nobody elsewhere.
    superseded:
      isLate &&
      signal.after !== null &&
      signal.intent.target !== undefined &&
      !isAgainSaid &&
      !leadsOut(signal, last),
    ...(stopped?.isAll && { stoppedOut: true }),
    ...(staysIn && { staysIn }),
  };
  if (known && (isLate || isAgainSaid)) {
    const unit = [strategyStands(known), ...(gap ? missed(word) : [])];
    return isLate ? { notes, stopped, unit } : { notes, stopped, unit, print };
  }
  // It says where it began, and not where it ended: there is nothing to compare the next one with.
  if (after === null)
    return {
      notes,
      unit: known
        ? [forgotten(known), ...(isExpected ? [] : settled(known, null)), ...(gap ? missed(word) : [])]
        : [forgetStance(key, at)],
    };
  const isMoved = hasMoved(last, word);
  // What a report confirms stands by the signal that said it first.
  const by = isSync && !isMoved && last?.after && last.print !== null ? last.print : print;
  return { notes, stopped, unit: kept(), print: by };

  function kept(): Statement[] {
    const compared = known ?? NOTHING_COMPARED;
    if (isSync && last !== null && isMoved) {
      // By where it stands alone nobody can tell yet: its alert may come a moment later.
      const seems = gap && before === null;
      const owed = { at: timestamp(arrivedAt + OVERTAKING_MS), gap: seems };
      const moved = { ...word, before: before ?? last.after };
      return [
        keepWord(key, known, moved, { ...compared, arrivedAt: at, factor, owed }),
        ...(known ? settled(known, word) : []),
        ...(gap && !seems ? missed(word) : []),
      ];
    }
    if (isSync) {
      const again = { ...word, print: by, before: before ?? (compared.owed ? (last?.before ?? null) : null) };
      return [
        keepWord(key, known, again, { ...compared, arrivedAt: at, factor }),
        ...(gap ? missed(word) : []),
      ];
    }
    const isComparable = after !== null && positionOf(after) !== null;
    const next = isComparable ? { ...compared, owed: null } : NOTHING_COMPARED;
    return [
      keepWord(key, known, word, { ...next, arrivedAt: at, factor }),
      ...(known && !isExpected ? settled(known, isComparable ? word : null) : []),
      ...(gap ? missed(word) : []),
    ];
  }

  function forgotten(state: StrategyState): Statement {
    const nothing = { ...state.word, before: null, after: null };
    return keepWord(key, state, nothing, { ...NOTHING_COMPARED, arrivedAt: at, factor });
  }

  /** What was found before, and ends with this word or was still to be told; `next`: what there is to compare with from now on. */
  function settled(state: StrategyState, next: StrategyWord | null): Statement[] {
    const { owed, held } = state;
    const isDue = owed !== null && owed.at <= at && held !== null && state.driftSince === null;
    const begun = isDue ? driftNoted(key, account.userId, compareWith(state, held), arrivedAt) : [];
    const isOver = state.driftSince !== null && next === null;
    return [
      ...(owed?.gap ? gapNoted(key, account.userId, heardAs(state.word), arrivedAt, OURSELVES) : []),
      ...begun,
      ...(isOver || begun.length > 0
        ? driftNoted(
            key,
            account.userId,
            { strategyPosition: null, brokerPosition: held ?? ZERO, inSync: true },
            arrivedAt,
          )
        : []),
    ];
  }

  function missed({ before: began, after: ended }: StrategyWord): Statement[] {
    const found = { expected: last?.after ?? null, said: began ?? ended };
    return gapNoted(key, account.userId, found, arrivedAt, context);
  }
}

/** An exit that only reports have overtaken, to where they say the strategy stands: nothing else has made it meanwhile. */
function leadsOut({ intent }: Signal, last: StrategyWord | null): boolean {
  const after = last && isByReport(last) ? last.after : null;
  const stands = after && positionOf(after);
  return !isEntry(intent) && stands !== null && stands === intent.target?.position;
}

/** It says where the strategy stands, or stood: the order of such signals counts. */
export const saysStance = ({ action, before, after }: Signal): boolean =>
  action !== 'protect' && action !== 'cancel' && (action === 'close' || before !== null || after !== null);

/** What each account of a signal has heard. */
type HeardBy = ReadonlyMap<AccountId, Heard>;

export type Hear = (hearings: readonly Hearing[]) => Promise<HeardBy>;

type Outcome = Denial | Contested | readonly (Placed | Denial)[];

/**
 * Places with what was heard, which `place` asks for, and asks for again where an account has changed since; where the strategy says
 * something else meanwhile, at any of the accounts, all of it is done again. A refused word is kept too.
 */
export async function heardAnd(
  { db, log }: { readonly db: Db; readonly log: { warn(context: object, text: string): void } },
  place: (hear: Hear) => Promise<Outcome>,
): Promise<Outcome> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    let last: { hearings: readonly Hearing[]; heard: HeardBy } = { hearings: [], heard: new Map() };
    const outcome = await place(async (hearings) => {
      const heard = await hearAll(db, hearings, { isAgain: tries > 1 });
      last = { hearings, heard };
      return heard;
    });
    if ('contested' in outcome && outcome.contested === 'strategy') continue;
    const { hearings, heard } = last;
    await Promise.all(
      hearings
        .filter((hearing) => isRefusedWord(hearing, heard, outcome))
        .map((hearing) =>
          // The refusal is the answer, whether or not this can be kept.
          keepHeard(db, hearing).catch((fault: unknown) =>
            log.warn({ fault }, 'what a refused signal said could not be kept'),
          ),
        ),
    );
    return outcome;
  }
  return deny('database_unavailable', {
    detail: 'The strategy is saying more at this moment. Nothing was queued.',
    advice: 'Send the signal again.',
  });
}

async function hearAll(db: Db, hearings: readonly Hearing[], how: { isAgain: boolean }): Promise<HeardBy> {
  const heard = await Promise.all(hearings.map((hearing) => hear(db, hearing, how)));
  return new Map(hearings.map(({ account }, index) => [account.id, heard[index] ?? UNHEARD]));
}

/** Of an account whose own checks have refused it. */
export const UNHEARD: Heard = { notes: NO_NOTES, unit: [] };

/** A rehearsal needs no secret: whoever knows the address could fill the table by what is refused. */
function isRefusedWord({ account, simulation }: Hearing, heard: HeardBy, outcome: Outcome): boolean {
  if (simulation || heard.get(account.id)?.unit.length === 0 || 'contested' in outcome) return false;
  if ('code' in outcome) return true;
  const mayStand = (each: Placed | Denial) =>
    isDenial(each) ? each.code === 'outcome_unknown' : each.order.accountId === account.id;
  return !outcome.some(mayStand);
}

export async function keepHeard(db: Db, hearing: Hearing): Promise<Heard> {
  for (let tries = 1; ; tries++) {
    const heard = await hear(db, hearing, { isAgain: tries > 1 });
    if (heard.unit.length === 0 || (await db.commit(heard.unit)) === null || tries === MOST_TRIES)
      return heard;
  }
}
