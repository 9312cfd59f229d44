// What a strategy says of itself, heard in order: every genuine word is kept, executed or not, and the next one shows
// whether one was missed. And whether the broker's position is the strategy's.

import type { Account } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { insertNotice } from '../../data/notifications/notices.ts';
import { followersOf } from '../../data/orders/story.ts';
import {
  findStrategy,
  forgetStance,
  keepWord,
  type StrategyKey,
  type StrategyState,
  setDrift,
  strategyStands,
} from '../../data/orders/strategies.ts';
import { type Decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { timestamp, type UserId } from '../../domain/ids.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { hasEnded, hasTraded, NO_NOTES, type Order, type SignalNotes } from '../../domain/orders/order.ts';
import { leavesToAnother, positionAfter } from '../../domain/orders/position.ts';
import type { Signal } from '../../domain/signals/signal.ts';
import {
  hasGap,
  isRepeated,
  isSuperseded,
  positionOf,
  type Stance,
  type StrategyWord,
} from '../../domain/signals/strategy.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { fingerprint } from '../../domain/signals/webhook.ts';
import { type AuditEvent, audit, type RequestContext } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import type { Contested, Placed } from './place-order.ts';

/** A strategy that speaks faster than this is not worth a longer wait. */
const MOST_TRIES = 4;

const FLAT: Stance = { side: 'flat', size: ZERO };

/** A word as it was heard: what is noted with its order, and what is to be committed with it, guarded by `strategy`. */
export interface Heard {
  readonly notes: SignalNotes;
  readonly unit: readonly Statement[];
}

export interface Hearing {
  readonly account: Account;
  readonly signal: Signal;
  readonly simulation: boolean;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

export const keyOf = (account: Account, symbol: string, simulation: boolean): StrategyKey => ({
  accountId: account.id,
  symbol: canonicalSymbol(account.brokerName, symbol),
  simulation,
});

async function hear(db: Db, hearing: Hearing): Promise<Heard> {
  const { account, signal, simulation, arrivedAt, context } = hearing;
  const { before, price, ignored } = signal;
  // Who closes is flat, and need not say so.
  const after = signal.action === 'close' ? FLAT : signal.after;
  const plain = { ...NO_NOTES, price, ignored };
  const key = keyOf(account, signal.symbol, simulation);
  if (before === null && after === null)
    return {
      notes: price === null && ignored.length === 0 ? NO_NOTES : plain,
      // It trades, and does not say where the strategy stands now.
      unit: [forgetStance(key, timestamp(arrivedAt))],
    };

  const print = fingerprint(account.userId, signal);
  // In simulation nobody has proven a time: one from far ahead would be the last word for ever.
  const latest = arrivedAt + account.maxRequestAge * 1000;
  const said = Math.min(signal.timestamp ?? arrivedAt, latest);
  const word: StrategyWord = { before, after, timestamp: said, print };
  const known = await findStrategy(db, key);
  const last = known?.word ?? null;
  const isLate = isSuperseded(last, word);
  const gap = !isLate && hasGap(last, word, { isSync: signal.action === 'sync' });
  const notes: SignalNotes = {
    ...plain,
    marketPosition: signal.after?.side ?? null,
    gap,
    outOfTurn: isLate,
    // Who asks for an amount, or to close, is not told where to stop by a later word.
    superseded: isLate && signal.after !== null && signal.intent.target !== undefined,
  };
  return { notes, unit: [kept(), ...(gap ? gapNoted() : [])] };

  function kept(): Statement {
    const at = timestamp(arrivedAt);
    if (known && (isLate || isRepeated(known.word, word))) return strategyStands(known);
    if (after !== null) return keepWord(key, known, word, at);
    // It says where it began, and not where it ended: there is nothing to compare the next one with.
    return known
      ? keepWord(key, known, { ...known.word, before: null, after: null }, at)
      : forgetStance(key, at);
  }

  function gapNoted(): Statement[] {
    const event = {
      userId: account.userId,
      action: 'webhook_signal_gap',
      failure: null,
      resource: { type: 'account', id: account.id },
      metadata: {
        trading_account_id: account.id,
        symbol: key.symbol,
        simulation,
        expected: last?.after ?? null,
        said: before ?? after,
      },
    };
    const detail = `An alert of the strategy in ${key.symbol} never arrived: this one begins where the last one did not end.`;
    return [audit(context, event, arrivedAt), ...noticeOf(key, account.userId, 'gap', detail, arrivedAt)];
  }
}

/** Places with what was heard; where the strategy says something else meanwhile, it is heard again. A refused word is kept too. */
export async function heardAnd(
  { db, log }: Pick<DriftDeps, 'db' | 'log'>,
  hearing: Hearing,
  place: (heard: Heard) => Promise<Denial | Contested | Placed>,
): Promise<Denial | Contested | Placed> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const heard = await hear(db, hearing);
    const outcome = await place(heard);
    if ('contested' in outcome && outcome.contested === 'strategy') continue;
    if (isDenial(outcome) && outcome.code !== 'outcome_unknown' && heard.unit.length > 0)
      // The refusal is the answer, whether or not this can be kept.
      await keepHeard(db, hearing).catch((fault: unknown) =>
        log.warn({ fault }, 'what a refused signal said could not be kept'),
      );
    return outcome;
  }
  return deny('database_unavailable', {
    detail: 'The strategy is saying more at this moment. Nothing was queued.',
    advice: 'Send the signal again.',
  });
}

export async function keepHeard(db: Db, hearing: Hearing): Promise<Heard> {
  for (let tries = 1; ; tries++) {
    const heard = await hear(db, hearing);
    if (heard.unit.length === 0 || tries === MOST_TRIES || (await db.commit(heard.unit)) === null)
      return heard;
  }
}

interface DriftDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void };
}

/**
 * Once an order has ended, whoever asked for it: is the position where the strategy stands? Never in the way of anything:
 * where all is as it was, one read tells. `held`: what the broker says is held now, for an end that was found late.
 */
export async function noteEnd(
  deps: DriftDeps,
  order: Order,
  held?: (order: Order) => Promise<Decimal | null>,
): Promise<void> {
  const position = positionAfter(order);
  if (position === null || !hasEnded(order.status) || hasForgotten(order) || leavesToAnother(order)) return;
  const { accountId, brokerName, symbol, simulation } = order;
  const key = { accountId, symbol: canonicalSymbol(brokerName, symbol), simulation };
  try {
    const state = await findStrategy(deps.db, key);
    const found = compareWith(state, position);
    if (!state || (found.inSync && state.driftSince === null)) return;
    // Whoever comes later decides: a word, whose order may not have begun, or an order that was sent.
    const isLast = !isBehind(order, state, found);
    const ask = hasTraded(order) ? held : undefined;
    if (!isLast && !ask) return;
    const followers = () =>
      followersOf(deps.db, order, (other) => canonicalSymbol(brokerName, other) === key.symbol);
    const note = (holding: Decimal) => noteDrift(deps, key, order.userId, holding, { order_id: order.id });
    const before = await followers();
    if (isLast && before === 'none') return void (await note(position));
    // What was filled behind the last of them nobody has counted. Once they have ended the broker tells, or one that began since.
    if (!ask || before === 'open') return;
    const holding = await ask(order);
    if (holding !== null && (await followers()) !== 'open') await note(holding);
  } catch (fault) {
    deps.log.warn({ fault, ...namesOf(order) }, 'whether the position drifts could not be noted');
  }
}

/** With its acceptance (`forgetStance`): there is nothing to compare with, and nothing is read on the way of most orders. */
const hasForgotten = ({ source, action, notes }: Order): boolean =>
  source === 'webhook' && action !== 'close' && notes.marketPosition === null && !notes.outOfTurn;

/**
 * An order whose end was found late tells what was held then, and no longer what is held beside a later word. Of one
 * moment, an alert that goes elsewhere than the strategy stands now is the earlier one.
 */
function isBehind(
  { submittedAt, source, intent: { target } }: Order,
  { arrivedAt }: StrategyState,
  { strategyPosition }: Comparison,
): boolean {
  if (arrivedAt !== submittedAt) return arrivedAt > submittedAt;
  return source === 'webhook' && target !== undefined && target.position !== strategyPosition;
}

/** What was found by comparing. */
export interface Comparison {
  readonly strategyPosition: Decimal | null;
  readonly brokerPosition: Decimal;
  readonly inSync: boolean;
}

/** Audited when it begins and when it ends. */
export async function noteDrift(
  { db, clock }: Pick<DriftDeps, 'db' | 'clock'>,
  key: StrategyKey,
  userId: UserId,
  brokerPosition: Decimal,
  metadata: Readonly<Record<string, unknown>>,
): Promise<Comparison> {
  for (let tries = 1; ; tries++) {
    const state = await findStrategy(db, key);
    const found = compareWith(state, brokerPosition);
    if (!state || found.strategyPosition === null) return found;
    const wasInSync = state.driftSince === null;
    if (found.inSync && wasInSync) return found;
    const now = clock.now();
    const drift = found.inSync ? null : { since: state.driftSince ?? timestamp(now), held: brokerPosition };
    if (found.inSync === wasInSync) {
      // It has been told of; only how far apart they are may be new.
      if (state.held !== brokerPosition) await db.commit([setDrift(state, drift)]);
      return found;
    }
    const event: AuditEvent = {
      userId,
      action: found.inSync ? 'position_drift_ended' : 'position_drift',
      failure: null,
      resource: { type: 'account', id: key.accountId },
      metadata: {
        trading_account_id: key.accountId,
        symbol: key.symbol,
        simulation: key.simulation,
        strategy_position: Number(found.strategyPosition),
        broker_position: Number(brokerPosition),
        ...metadata,
      },
    };
    const lost = await db.commit([
      setDrift(state, drift),
      audit(OURSELVES, event, now),
      ...(found.inSync ? [] : noticeOf(key, userId, 'drift', drifted(key.symbol, found), now)),
    ]);
    if (lost === null || tries === MOST_TRIES) return found;
  }
}

const drifted = (symbol: string, { strategyPosition, brokerPosition }: Comparison): string =>
  `The strategy stands at ${strategyPosition} ${symbol}, the account holds ${brokerPosition}. Align the position, or the strategy.`;

/** A rehearsal is shown, and nobody is mailed: whoever knows the URL can make one. */
function noticeOf(
  { accountId, simulation }: StrategyKey,
  userId: UserId,
  kind: 'gap' | 'drift',
  detail: string,
  now: number,
): Statement[] {
  if (simulation) return [];
  return [insertNotice({ id: newId(), userId, accountId, kind, detail, createdAt: timestamp(now) })];
}

/** Nobody's request: we found it. */
export const OURSELVES: RequestContext = { requestId: '', ip: '', userAgent: null, path: '', method: '' };

function compareWith(state: StrategyState | null, brokerPosition: Decimal): Comparison {
  const strategyPosition = state?.word.after ? positionOf(state.word.after) : null;
  return {
    strategyPosition,
    brokerPosition,
    inSync: strategyPosition === null || strategyPosition === brokerPosition,
  };
}
