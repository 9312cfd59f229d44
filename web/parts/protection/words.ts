// What a protection's states and moves are called.

import type { components } from '../../api/schema.ts';
import { counted, figure } from '../numbers.ts';
import { minuteOf } from '../times.ts';
import type { ExitReason, Protection, ProtectionState } from './shapes.ts';

/** For a stranger: each word with what it means. */
export const STATES: Readonly<Record<ProtectionState, string>> = {
  armed: 'wanted, not yet confirmed by the broker',
  standing: 'the broker shows it',
  suspended: 'removed for an order of yours, placed again after it',
  unprotected: 'wanted, but not in place at the broker',
  unwatched: 'in place, but not watched: the broker refuses the credentials, or does not list it any more',
  left: 'not watched, since a restore or a change of the account’s credentials',
  ended: 'nothing is held any more, or nothing is wanted',
};

/** Why a close was made that nobody sent. */
export const CLOSED: Readonly<Record<ExitReason, string>> = {
  stop_loss: 'its stop was hit',
  trailing_stop: 'its trailing stop was hit',
  break_even: 'its stop at break even was hit',
  take_profit: 'its target was reached',
  time_stop: 'its time was up',
  unprotected: 'its stop could not be placed',
};
export type Line = components['schemas']['ProtectionChange'];

const ORDER_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The order that a line is about; null: it is about none. */
export const orderOf = ({ by }: Pick<Line, 'by'>): string | null => (by && ORDER_ID.test(by) ? by : null);

/** Why it was closed; null: the line is of something else. `unprotected` is a state too, which no order has made. */
export const closeOf = ({ what, by }: Pick<Line, 'what' | 'by'>): ExitReason | null =>
  what in CLOSED && orderOf({ by }) !== null ? (what as ExitReason) : null;

const MOVERS: Readonly<Record<string, string>> = {
  trailing_stop: 'trailing',
  break_even: 'to break even',
  stop_loss: 'by an order',
};

/** One line of its history. */
export function moveInWords({ what, from, to, by, times = 1 }: Line & { readonly times?: number }): string {
  const at = to === null ? '' : ` at ${figure(to)}`;
  const closed = closeOf({ what, by });
  if (closed) return `closed${at}: ${CLOSED[closed]}`;
  switch (what) {
    case 'set':
      if (to === null) return from === null ? 'set, without a stop' : `stop at ${figure(from)} removed`;
      return from === null || from === to ? `set${at}` : `set from ${figure(from)} to ${figure(to)}`;
    case 'moved': {
      const why = by !== null && by in MOVERS ? `, ${MOVERS[by]}` : '';
      if (to === null) return `stop removed${why}`;
      return from === null ? `set${at}${why}` : `moved from ${figure(from)} to ${figure(to)}${why}`;
    }
    case 'found':
      return `found to stand${at}`;
    case 'restored':
      return `put back by us${at}`;
    case 'expired':
      return `expired at the broker${at}`;
    case 'refused':
      return `the broker refused it${times > 1 ? ` ${figure(times)} times` : ''}${at}${by ? `: ${by}` : ''}`;
    case 'stop_not_restored':
      return `taken away again, and not put back any more${at}`;
    case 'target_restored':
      return 'a target put back by us';
    case 'target_not_restored':
      return 'a target taken away again, and not put back any more';
    case 'target_refused':
      return `the broker refused a target${by ? `: ${by}` : ''}`;
    case 'standing':
      return `seen to stand${at}`;
    case 'armed':
      return `wanted${at}, not seen to stand yet`;
    case 'unprotected':
      return `unprotected: wanted${at}, and it does not stand`;
    case 'suspended':
      return 'taken away for an order of yours';
    case 'unwatched':
      return `not watched: ${by || 'the broker refuses the credentials'}`;
    case 'left':
      return 'left at the broker, not watched';
    case 'ended':
      return `ended${by ? `: ${by}` : ''}`;
    default:
      return `${what}${at}`;
  }
}

/** What follows the price by itself, in a line: `trails by 40`, `to 65,500 at target 1`. */
export function followsInWords(
  {
    stop_loss,
    trailing_stop,
    break_even,
    time_stop_at,
  }: Pick<Protection, 'stop_loss' | 'trailing_stop' | 'break_even' | 'time_stop_at'>,
  now: Date,
): readonly string[] {
  const words: string[] = [];
  if (trailing_stop) {
    const from = trailing_stop.activate_at === null ? '' : ` once at ${figure(trailing_stop.activate_at)}`;
    words.push(`trails by ${figure(trailing_stop.distance)}${from}`);
  }
  if (break_even) {
    const when = break_even.at === 'tp1' ? 'target 1' : figure(break_even.at);
    words.push(stop_loss === break_even.to ? 'at break even' : `to ${figure(break_even.to)} at ${when}`);
  }
  if (time_stop_at) words.push(`closes at ${minuteOf(new Date(time_stop_at), now)}`);
  return words;
}

/** The same of a stop that stands, with what was last done to it and nobody asked for: `trails by 40, moved 15:44`. */
export function keptInWords(
  protection: Parameters<typeof followsInWords>[0],
  {
    isEven,
    history,
    now,
  }: { readonly isEven: boolean; readonly history: readonly Line[]; readonly now: Date },
): readonly string[] {
  const last = history.findLast(({ what }) => what === 'set' || what === 'moved' || what === 'restored');
  const at = last && minuteOf(new Date(last.at), now);
  const isMoved = last?.what === 'moved' && last.by !== null && last.by in MOVERS;
  const [first, ...others] = [...(isEven ? ['at break even'] : []), ...followsInWords(protection, now)];
  const since = isMoved ? (isEven ? ` since ${at}` : `, moved ${at}`) : '';
  return [
    ...(first === undefined ? [] : [`${first}${since}`]),
    ...others,
    ...(last?.what === 'restored' ? [`put back by us ${at}`] : []),
  ];
}

/** Refusals that say the same are one line, with how often. */
export function gathered(history: readonly Line[]): readonly (Line & { readonly times: number })[] {
  const lines: (Line & { times: number })[] = [];
  for (const line of history) {
    const last = lines.at(-1);
    const isSame =
      last?.what === 'refused' && line.what === 'refused' && last.by === line.by && last.to === line.to;
    if (last && isSame) last.times += 1;
    else lines.push({ ...line, times: 1 });
  }
  return lines;
}

/** For how long, while it counts: `12 s`, `3 min 20 s`. */
export function spanInWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${counted(Math.floor(seconds / 3600), 'h', 'h')} ${Math.floor((seconds % 3600) / 60)} min`;
}

/** To the millisecond while it is short: `238 ms`, `4.2 s`. */
export const tookInWords = (ms: number): string =>
  ms < 5_000 ? `${figure(ms)} ms` : ms < 60_000 ? `${figure(Math.round(ms / 100) / 10)} s` : spanInWords(ms);
