// Whether the broker's position is the strategy's, by the strategy's last word; and what its owner is told of that.

import type { Account } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { insertNotice } from '../../data/notifications/notices.ts';
import { followersOf } from '../../data/orders/story.ts';
import {
  type Compared,
  findStrategy,
  forgetSymbol,
  type StrategyKey,
  type StrategyState,
  setCompared,
} from '../../data/orders/strategies.ts';
import { type Decimal, ONE, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { millis, timestamp, type UserId } from '../../domain/ids.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { hasEnded, hasTraded, type Order } from '../../domain/orders/order.ts';
import { leavesToAnother, positionAfter } from '../../domain/orders/position.ts';
import { countedPosition, isMetBy, type Stance, type StrategyWord } from '../../domain/signals/strategy.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { type AuditEvent, audit, OURSELVES, type RequestContext } from '../audit/audit.ts';
import { newId } from '../new-id.ts';

/** A strategy that speaks faster than this is not worth a longer wait. */
const MOST_TRIES = 4;

export const keyOf = (account: Account, symbol: string, simulation: boolean): StrategyKey => ({
  accountId: account.id,
  symbol: canonicalSymbol(account.brokerName, symbol),
  simulation,
});

/** What a `sync` said that may have overtaken its alert. */
export const heardAs = ({ before, after }: StrategyWord) => ({ expected: before, said: after });

export function gapNoted(
  key: StrategyKey,
  userId: UserId,
  { expected, said }: { readonly expected: Stance | null; readonly said: Stance | null },
  now: number,
  context: RequestContext,
): Statement[] {
  const event = {
    userId,
    action: 'webhook_signal_gap',
    failure: null,
    resource: { type: 'account', id: key.accountId },
    metadata: {
      trading_account_id: key.accountId,
      symbol: key.symbol,
      simulation: key.simulation,
      expected,
      said,
    },
  };
  const detail = `An alert of the strategy in ${key.symbol} never arrived: this one begins where the last one did not end.`;
  return [audit(context, event, now), ...noticeOf(key, userId, 'gap', detail, now)];
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
  const { accountId, brokerName, symbol, simulation } = order;
  const key = { accountId, symbol: canonicalSymbol(brokerName, symbol), simulation };
  try {
    // Nobody holds what the broker does not have: what was said of it is not kept.
    if (order.error?.code === 'invalid_symbol') await deps.db.commit([forgetSymbol(key)]);
    else await compareAtEnd(deps, order, key, held);
  } catch (fault) {
    deps.log.warn({ fault, ...namesOf(order) }, 'whether the position drifts could not be noted');
  }
}

async function compareAtEnd(
  deps: DriftDeps,
  order: Order,
  key: StrategyKey,
  held?: (order: Order) => Promise<Decimal | null>,
): Promise<void> {
  const position = positionAfter(order);
  if (position === null || !hasEnded(order.status) || hasForgotten(order) || leavesToAnother(order)) return;
  const state = await findStrategy(deps.db, key);
  const step = order.sizing?.step ?? null;
  const found = compareWith(state, position, step);
  if (!state) return;
  if (found.inSync && state.driftSince === null && state.owed === null && !isNews(state, step)) return;
  // The alert that a sync has overtaken may yet come: whoever sees to what is owed waits for it.
  if (state.owed !== null && millis(state.owed.at) > deps.clock.now()) return;
  // Whoever comes later decides: an order that was sent, or that of a later word, which may not have begun. A word that has no order,
  // as a sync or what was refused, leaves it to us; where the end was found late, the broker is asked.
  const isLast = state.owed !== null || !held || !isBehind(order, state, found);
  const ask = hasTraded(order) || !isLast ? held : undefined;
  const followers = () =>
    followersOf(deps.db, order, (other) => canonicalSymbol(order.brokerName, other) === key.symbol);
  const note = (brokerPosition: Decimal) =>
    noteDrift(deps, { key, userId: order.userId, brokerPosition, step, metadata: { order_id: order.id } });
  const before = await followers();
  if (isLast && before === 'none') return void (await note(position));
  // What was filled behind the last of them nobody has counted. Once they have ended the broker tells, or one that began since.
  if (!ask || before === 'open') return;
  const holding = await ask(order);
  if (holding !== null && (await followers()) !== 'open') await note(holding);
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

/** What the account holds of a strategy's symbol, and how it was found. */
export interface Holding {
  readonly key: StrategyKey;
  readonly userId: UserId;
  readonly brokerPosition: Decimal;
  /** Of its instrument, where the broker was asked for it. */
  readonly step: Decimal | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Audited when it begins and when it ends. What a sync owes is settled by it, or, where that is not due yet and nobody says that it
 * is (`settles`), only noted.
 */
export async function noteDrift(
  { db, clock }: Pick<DriftDeps, 'db' | 'clock'>,
  { key, userId, brokerPosition, step, metadata }: Holding,
  { settles = false } = {},
): Promise<Comparison> {
  for (let tries = 1; ; tries++) {
    const state = await findStrategy(db, key);
    const found = compareWith(state, brokerPosition, step);
    if (!state) return found;
    const now = clock.now();
    const { owed, driftSince } = state;
    const isEarly = owed !== null && !settles && millis(owed.at) > now;
    const since = found.inSync ? null : (driftSince ?? (isEarly ? null : timestamp(now)));
    const held = found.inSync ? null : brokerPosition;
    const next: Compared = { driftSince: since, held, owed: isEarly ? owed : null };
    const isSame = since === driftSince && held === state.held && next.owed === owed;
    if (isSame && !isNews(state, step)) return found;
    const hasTurned = (since === null) !== (driftSince === null);
    const lost = await db.commit([
      setCompared(state, next, step ?? undefined),
      ...(owed?.gap && !isEarly ? gapNoted(key, userId, heardAs(state.word), now, OURSELVES) : []),
      ...(hasTurned ? driftNoted(key, userId, found, now, metadata) : []),
    ]);
    if (lost === null || tries === MOST_TRIES) return found;
  }
}

/** An order of that symbol is under way: what is held now says nothing. It is compared when that has ended. */
export async function compareLater(
  deps: Pick<DriftDeps, 'db' | 'clock'>,
  { key, brokerPosition, step }: Holding,
): Promise<Comparison> {
  return compareWith(await oweComparison(deps, key, step), brokerPosition, step);
}

/** With whoever ends the order, or, where that does not say what is held, with the verifiers. The strategy as it was then. */
export async function oweComparison(
  { db, clock }: Pick<DriftDeps, 'db' | 'clock'>,
  key: StrategyKey,
  step: Decimal | null = null,
): Promise<StrategyState | null> {
  for (let tries = 1; ; tries++) {
    const state = await findStrategy(db, key);
    if (!state || state.owed !== null || compareWith(state, ZERO).strategyPosition === null) return state;
    const owed = { at: timestamp(clock.now()), gap: false };
    const lost = await db.commit([setCompared(state, { ...state, owed }, step ?? undefined)]);
    if (lost === null || tries === MOST_TRIES) return state;
  }
}

/** It begins, or ends. */
export function driftNoted(
  key: StrategyKey,
  userId: UserId,
  found: Comparison,
  now: number,
  metadata: Readonly<Record<string, unknown>> = {},
): Statement[] {
  const event: AuditEvent = {
    userId,
    action: found.inSync ? 'position_drift_ended' : 'position_drift',
    failure: null,
    resource: { type: 'account', id: key.accountId },
    metadata: {
      trading_account_id: key.accountId,
      symbol: key.symbol,
      simulation: key.simulation,
      // null: it no longer says where it stands.
      strategy_position: toNumberOrNull(found.strategyPosition),
      broker_position: toNumber(found.brokerPosition),
      ...metadata,
    },
  };
  return [
    audit(OURSELVES, event, now),
    ...(found.inSync ? [] : noticeOf(key, userId, 'drift', drifted(key.symbol, found), now)),
  ];
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

/** Where nothing is multiplied, nobody has to know it. */
const isNews = ({ scale }: StrategyState, step: Decimal | null): boolean =>
  step !== null && scale.factor !== ONE && step !== scale.step;

/** `step`: where the broker has just told it. */
export function compareWith(
  state: StrategyState | null,
  brokerPosition: Decimal,
  step: Decimal | null = null,
): Comparison {
  const after = state?.word.after;
  const scale = state && { ...state.scale, step: step ?? state.scale.step };
  const strategyPosition = scale && after ? countedPosition(after, state.stopped, scale) : null;
  return {
    strategyPosition,
    brokerPosition,
    inSync:
      !scale ||
      !after ||
      strategyPosition === null ||
      isMetBy(brokerPosition, strategyPosition, after, scale),
  };
}
