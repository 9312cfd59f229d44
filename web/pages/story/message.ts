// A message as it was received, member by member and character by character, with what was understood of each; and the same
// message for a terminal, as a rehearsal.

import type { components } from '../../api/schema.ts';
import { figure } from '../../parts/numbers.ts';
import { shareInWords } from '../../parts/protection/money.ts';
import { hasPrice, leftInWords } from '../../parts/resting/words.ts';
import { COUNTS, countedInWords } from '../../parts/sizes.ts';
import { clockTime } from '../../parts/times.ts';
import { type SignalRecord, type Understood, understoodOf } from './headline.ts';

export interface Member {
  readonly name: string;
  /** As it stands there, its name included. */
  readonly raw: string;
  /** From where its value begins. */
  readonly value: string;
}

/** The members of a JSON object, as they were written; null: it is no such text. */
export function membersOf(text: string): Member[] | null {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
  } catch {
    return null;
  }
  return partsOf(text.trim().slice(1, -1)).map((part) => {
    // The text is known to be JSON: it begins with a string, and what follows is a colon.
    const [name = '""'] = /^"(?:[^"\\]|\\.)*"/.exec(part) ?? [];
    return {
      name: JSON.parse(name) as string,
      raw: part,
      value: part.slice(name.length).replace(/^\s*:\s*/, ''),
    };
  });
}

/** Split at the commas that are in no string and in nothing nested. */
function partsOf(inside: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  let depth = 0;
  for (const { 0: token, index } of inside.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ',' && depth === 0) {
      parts.push(inside.slice(begin, index));
      begin = index + 1;
    }
  }
  return [...parts, inside.slice(begin)].map((part) => part.trim()).filter((part) => part !== '');
}

export interface Meaning {
  readonly words: string;
  /** A signed position, after the words. */
  readonly held?: number;
  readonly after?: string;
  /** Read, and of no effect. */
  readonly isLess?: boolean;
}

type Protected = NonNullable<components['schemas']['OrderRecord']['protection']>;

export interface Known {
  /** What the order asked for or set; null: nothing, or there is no order. */
  readonly protection: Protected | null;
  readonly gap: boolean | null;
  readonly maxAgeSeconds: number | null;
  readonly instrument: components['schemas']['Instrument'] | null;
}

const NOTHING: Meaning = { words: '' };

export function meaningOf(name: string, signal: SignalRecord, known: Known): Meaning {
  if (signal.ignored.includes(name)) return { words: 'ignored' };
  if (name === 'secret') return { words: secretWords(signal) };
  const understood = understoodOf(signal);
  if (!understood) return NOTHING;
  const { target, prev_strategy_position: before, quantity, signal_time } = understood;
  const followsTarget = understood.market_position !== null;
  switch (name) {
    case 'action':
      return { words: understood.action };
    case 'symbol':
      return { words: instrumentWords(known.instrument) ?? understood.symbol };
    case 'quantity':
      if (followsTarget) return { words: 'recorded, not used: the target decides', isLess: true };
      return quantity
        ? { words: countedInWords(quantity, understood.quantity_type ?? 'units') }
        : { words: 'not used: what is held is closed', isLess: true };
    case 'quantity_type':
      return { words: COUNTS[understood.quantity_type ?? 'units'] };
    case 'order_type':
      return understood.order_type === null ? NOTHING : { words: understood.order_type };
    case 'market_position': {
      const stands = understood.strategy_position ?? target;
      if (stands === null) return NOTHING;
      return { words: understood.action === 'sync' ? 'stands ' : 'target: ', held: stands };
    }
    case 'prev_market_position':
      return before === null ? NOTHING : { words: 'was ', held: before, after: gapWords(known.gap) };
    case 'id':
      return {
        words: hasPrice(understood)
          ? 'its name: the next entry of it takes its place'
          : 'tells alerts within one second apart',
      };
    case 'limit_price':
    case 'stop_price':
    case 'time_in_force':
    case 'expires_in':
      return { words: pricedWords(name, understood) };
    case 'price':
      return understood.price === null ? NOTHING : { words: 'for slippage and one guard only' };
    case 'timestamp':
      return signal_time === null ? NOTHING : { words: ageWords(signal, signal_time, known) };
    default:
      if (known.protection) return { words: protectionWords(name, known.protection) };
      return {
        words: PROTECTS.test(name) && opensAtMembers(signal) ? 'set at each member by its first fill' : '',
      };
  }
}

const PROTECTS = /^(?:stop_loss|take_profit|trailing_stop|break_even|time_stop)$/;

/** A group's signal that opens something: where its stop stands is each member's own. */
function opensAtMembers(signal: SignalRecord): boolean {
  const { action, order_type, target } = understoodOf(signal) ?? {};
  const isEntry = (action === 'buy' || action === 'sell') && order_type !== 'exit' && target !== 0;
  return isEntry && signal.group_id !== null && signal.orders.some(({ order_id }) => order_id !== null);
}

/** What a field of an entry with a price was understood as. */
function pricedWords(
  name: 'limit_price' | 'stop_price' | 'time_in_force' | 'expires_in',
  { limit_price: limit, stop_price: stop, time_in_force: inForce, expires_in: seconds }: Understood,
): string {
  switch (name) {
    case 'limit_price':
      return typeof limit === 'number' ? `fills at ${figure(limit)} or better` : '';
    case 'stop_price':
      return typeof stop === 'number' ? `waits until ${figure(stop)} is reached` : '';
    case 'time_in_force':
      return inForce ?? '';
    default:
      return seconds === undefined ? '' : `taken back after ${leftInWords(seconds * 1000)}`;
  }
}

/** What a field of protection came to, as it stands now. */
function protectionWords(name: string, protection: Protected): string {
  // Nothing of it is filled yet: where it will stand is not known.
  if (protection.id === null) return 'set by its first fill';
  const { stop_loss, take_profit, trailing_stop, break_even, time_stop_at } = protection;
  switch (name) {
    case 'stop_loss':
      return stop_loss === null ? 'no stop' : `stop at ${figure(stop_loss)}`;
    case 'take_profit':
      return take_profit
        .map(({ price, percent }) => `${shareInWords(percent)} at ${figure(price)}`)
        .join(', ');
    case 'trailing_stop':
      return trailing_stop ? `trails by ${figure(trailing_stop.distance)}` : '';
    case 'break_even':
      return break_even ? `the stop goes to ${figure(break_even.to)}` : '';
    case 'time_stop':
      return time_stop_at ? `closes at ${clockTime(new Date(time_stop_at))}` : '';
    default:
      return '';
  }
}

function secretWords({ checks }: SignalRecord): string {
  const outcome = checks.find(({ check }) => check === 'secret')?.outcome;
  const verdict = outcome === 'passed' ? 'equal' : outcome === 'refused' ? 'wrong' : 'not compared';
  return `${verdict}; masked before it was kept`;
}

const gapWords = (gap: boolean | null): string =>
  gap === null ? '' : gap ? ', but the last signal said otherwise: a gap' : ', no gap';

function instrumentWords(instrument: Known['instrument']): string | null {
  if (!instrument) return null;
  const { description, tick_size, quantity_step } = instrument;
  return [
    description ?? instrument.symbol,
    ...(tick_size ? [`tick ${figure(tick_size)}`] : []),
    ...(quantity_step ? [`step ${figure(quantity_step)}`] : []),
  ].join(', ');
}

function ageWords({ arrived_at }: SignalRecord, signalTime: string, { maxAgeSeconds }: Known): string {
  const seconds = Math.round((Date.parse(arrived_at) - Date.parse(signalTime)) / 100) / 10;
  const age = seconds < 0 ? `${figure(-seconds)} s ahead of us` : `${figure(seconds)} s old`;
  return maxAgeSeconds === null ? age : `${age}, of ${figure(maxAgeSeconds)} s`;
}

/** What a rehearsal can do without: it has no secret to show, is never too old, and never a replay. */
const NOT_REHEARSED = new Set(['secret', 'timestamp', 'simulation']);
const LINE = 64;

/** For a terminal: the webhook's address, and whatever of the message was not ignored. */
export function curlOf(url: string, members: readonly Member[], ignored: readonly string[]): string {
  const kept = members.filter(({ name }) => !NOT_REHEARSED.has(name) && !ignored.includes(name));
  const body = wrapped(kept.map(({ name, value }) => `${JSON.stringify(name)}:${value}`));
  // Each on a line of its own: an address is as long as its host.
  return `curl -sS \\\n  ${quoted(`${url}?simulation=true`)} \\\n  -d ${quoted(`{${body}}`)}`;
}

function wrapped(parts: readonly string[]): string {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < LINE) lines[lines.length - 1] = `${last},${part}`;
    else lines.push(part);
  }
  return lines.join(',\n       ');
}

/** As one word of a shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
