// The first real trade: everything that a connector assumes, tried in the smallest size, one step after the other. It ends at the first
// surprise, and however it ends, what it opened is closed.
//
// Its orders go beside the service's own path: what is tried (an id twice, a close that is too large) is what that path never does. So they are
// written down in a journal of their own before they leave, under ids that the service takes for nobody's, while the account is halted.

import type { Instrument } from '../../broker/broker.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { Surprise, type TrialRow } from '../../domain/trial/row.ts';
import type { TrialPlan } from '../../domain/trial/size.ts';
import { goHome, type Home } from './closing.ts';
import { type Desk, Interrupted, openDesk, type Sent, type TrialDeps } from './desk.ts';
import { type Listening, listen } from './listening.ts';
import { lookAround, lookForCompany, Refused, type Wanted } from './looking.ts';
import { tryResting, tryUnknownId, tryUsedId } from './resting.ts';
import { tryStops } from './stopping.ts';
import { tryBuying, tryMemory, trySelling } from './trading.ts';

export interface Proposal {
  readonly instrument: Instrument;
  readonly plan: TrialPlan;
}

export interface FieldNews {
  /** Fields of replies that nobody has written down, by call and name. */
  readonly added: readonly string[];
  /** Fields that are written down, and were not there. */
  readonly missing: readonly string[];
}

export interface TrialAsked extends Wanted {
  idOf(what: string): ClientOrderId;
  /** Before anything is sent: whether it may be, and the account kept for it. */
  agree(proposal: Proposal): Promise<boolean>;
  feesIn(): readonly string[];
  news(): FieldNews;
}

export interface Outcome {
  readonly rows: readonly TrialRow[];
  /** `refused`: it was not begun, and why; `declined`: whoever was asked said no. */
  readonly ended: 'well' | 'surprised' | 'interrupted' | 'refused' | 'declined';
  readonly why: string | null;
  /** null: nothing was sent. */
  readonly home: Home | null;
  /** Equity before and after; null: it was not read. */
  readonly equity: { readonly before: Decimal; readonly after: Decimal } | null;
}

export async function runTrial(deps: TrialDeps, asked: TrialAsked): Promise<Outcome> {
  const desk = openDesk(deps);
  const ending = (ended: Outcome['ended'], why: string | null): Outcome => ({
    ...{ rows: desk.rows, ended, why, home: null, equity: null },
  });
  let seen: Awaited<ReturnType<typeof lookAround>>;
  try {
    seen = await lookAround(desk, asked);
    if (!(await asked.agree(seen))) return ending('declined', null);
    // Until the account was kept for it, its strategies went on.
    await lookForCompany(desk, seen.instrument, 'still empty');
  } catch (fault) {
    if (fault instanceof Surprise) tellFields(desk, asked.news());
    return ending(...whyOf(fault));
  }
  const { instrument, plan, balance } = seen;
  let how: readonly [Outcome['ended'], string | null] = ['well', null];
  const listening: { current: Listening | null } = { current: null };
  try {
    await tradeOnce(desk, asked, { instrument, plan }, listening);
  } catch (fault) {
    // Whatever it is, what was opened is closed first.
    how = isForeseen(fault) ? whyOf(fault) : ['surprised', `Something went wrong on our side: ${fault}`];
  } finally {
    listening.current?.stop();
  }
  const home = await goHome(desk, instrument, asked.idOf);
  tellFields(desk, asked.news());
  const after = await desk.ask((signal) => deps.broker.balance(signal)).catch(() => null);
  return { ...ending(...how), home, equity: after && { before: balance.equity, after: after.equity } };
}

/** After a crash, or where the close could not be confirmed: nothing is begun, and what that trial opened is closed. */
export async function finishTrial(
  deps: TrialDeps,
  {
    symbol,
    sent,
    idOf,
  }: { readonly symbol: string; readonly sent: readonly Sent[] } & Pick<TrialAsked, 'idOf'>,
): Promise<Home> {
  const desk = openDesk(deps, sent);
  const instrument = await desk.ask((signal) => deps.broker.resolve(symbol, signal));
  if ('rejection' in instrument) return { isFlat: false, words: instrument.rejection.message };
  return goHome(desk, instrument, idOf);
}

const isForeseen = (fault: unknown): boolean =>
  [Surprise, Refused, Interrupted].some((kind) => fault instanceof kind);

function whyOf(fault: unknown): readonly [Outcome['ended'], string | null] {
  if (fault instanceof Surprise) return ['surprised', fault.message];
  if (fault instanceof Refused) return ['refused', fault.message];
  if (fault instanceof Interrupted) return ['interrupted', fault.message];
  throw fault;
}

async function tradeOnce(
  desk: Desk,
  asked: TrialAsked,
  { instrument, plan }: Proposal,
  listening: { current: Listening | null },
): Promise<void> {
  const { idOf, currency, feesIn } = asked;
  listening.current = await listen(desk);
  await tryUnknownId(desk, instrument, plan, idOf);
  await tryResting(desk, instrument, plan, idOf);
  const entry = await tryBuying(desk, {
    instrument,
    plan,
    idOf,
    listening: listening.current,
    currency,
    feesIn,
  });
  await tryStops(desk, instrument, plan, idOf);
  const exit = await trySelling(desk, instrument, plan, idOf);
  await tryUsedId(desk, instrument, plan, entry);
  await tryMemory(desk, [entry, exit]);
}

const MOST_NAMED = 4;

/** New fields do no harm; a field that is missing may. Whoever reads the transcript sees them all. */
function tellFields(desk: Desk, { added, missing }: FieldNews): void {
  const named = (fields: readonly string[]) =>
    fields.slice(0, MOST_NAMED).join(', ') +
    (fields.length > MOST_NAMED ? `, and ${fields.length - MOST_NAMED} more` : '');
  const seen = [
    ...(missing.length > 0 ? [`missing: ${named(missing)}`] : []),
    ...(added.length > 0 ? [`new: ${named(added)}`] : []),
  ].join('; ');
  const assumed = 'replies have the fields that are written down';
  desk.tell({
    step: 'fields',
    assumed,
    seen: seen || 'so they have',
    verdict: seen ? 'noted' : 'as_assumed',
  });
}
