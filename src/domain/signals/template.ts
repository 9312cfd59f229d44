// The message that a strategy's alert sends, as README, the first start and the documentation have it; and how a message
// with the platform's placeholders is read before the platform has filled them in.

import { isProtectionField } from '../protection/wish.ts';
import { insteadOf } from './refused-fields.ts';
import { readBody, readSignal } from './signal.ts';

const SECRET_TO_PASTE = '<your webhook secret>';

/** Numbers stand without quotes: the platform fills in a number. */
export const templateWith = (secret: string): string => `{
  "action": "{{strategy.order.action}}",
  "symbol": "{{ticker}}",
  "quantity": {{strategy.order.contracts}},
  "market_position": "{{strategy.market_position}}",
  "market_position_size": {{strategy.market_position_size}},
  "prev_market_position": "{{strategy.prev_market_position}}",
  "prev_market_position_size": {{strategy.prev_market_position_size}},
  "id": "{{strategy.order.id}}",
  "price": {{close}},
  "timestamp": "{{timenow}}",
  "secret": "${secret}"
}`;

/** As a strategy that buys 1 from flat would. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'strategy.order.action': 'buy',
  'strategy.order.contracts': '1',
  'strategy.order.price': '100',
  'strategy.order.id': 'Long',
  'strategy.order.comment': 'Long',
  'strategy.order.alert_message': '',
  'strategy.position_size': '1',
  'strategy.market_position': 'long',
  'strategy.market_position_size': '1',
  'strategy.prev_market_position': 'flat',
  'strategy.prev_market_position_size': '0',
  ticker: 'BTCUSDT.P',
  exchange: 'BINANCE',
  interval: '5',
  open: '100',
  high: '100',
  low: '100',
  close: '100',
  volume: '100',
  syminfo: 'BTCUSDT.P',
};

/** A placeholder that was filled in here, as the platform might. */
export interface Example {
  /** Null: it stands in none. */
  readonly field: string | null;
  readonly placeholder: string;
  readonly value: string;
}

/** What is no placeholder of the platform's stays as it stands, and is refused as what was not filled in. */
export function fillTemplate(
  text: string,
  now: number,
): { readonly text: string; readonly examples: readonly Example[] } {
  const examples: Example[] = [];
  const filled = text.replace(PLACEHOLDER, (placeholder, name: string, at: number) => {
    const field = fieldBefore(text, at);
    const value = exampleOf(name, now) ?? plotted(name, field, text.slice(at + placeholder.length));
    if (value === null) return placeholder;
    examples.push({ field, placeholder, value });
    return value;
  });
  return { text: filled, examples };
}

/** A plot has a name of its own, in quotes. */
const PLACEHOLDER = /\{\{\s*([\w.]+|plot\("[^"{}\\]{0,80}"\))\s*\}\}/g;

/** What a script draws may be anything; where a message asks for protection it is a level, of which we take one that makes sense. */
const LEVELS: Readonly<Record<string, string>> = {
  stop_loss: '1',
  trailing_stop: '1',
  distance: '1',
  offset: '1',
  percent: '1',
  take_profit: '1000000',
  break_even: '1000000',
  at: '1000000',
  activate_at: '1000000',
};
function plotted(name: string, field: string | null, rest: string): string | null {
  if (!/^plot[_(]/.test(name) || field === null || !Object.hasOwn(LEVELS, field)) return null;
  // So many percent, ticks or points.
  return /^\s?[%tp]/i.test(rest) ? '1' : (LEVELS[field] ?? null);
}

function exampleOf(name: string, now: number): string | null {
  if (name === 'timenow' || name === 'time') return `${new Date(now).toISOString().slice(0, 19)}Z`;
  return Object.hasOwn(EXAMPLES, name) ? (EXAMPLES[name] ?? null) : null;
}

/** The name that stands last before it, with a colon behind: whether the text is JSON is not known yet. */
function fieldBefore(text: string, at: number): string | null {
  const names = text.slice(Math.max(0, at - LONGEST_FIELD), at).matchAll(/"([^"\\]{1,64})"\s*:/g);
  return [...names].at(-1)?.[1] ?? null;
}

const LONGEST_FIELD = 400;

/** What can be kept of a message that does not work, in one that does; else the template. */
export function workingMessage(message: string, now: number): string {
  const kept = keptFields(message);
  const text = kept && JSON.stringify(kept, null, 2);
  const reads = (filled: string) =>
    'signal' in readSignal(readBody(new TextEncoder().encode(filled)), { simulation: false });
  return text !== null && reads(fillTemplate(text, now).text) ? text : templateWith(SECRET_TO_PASTE);
}

function keptFields(message: string): object | null {
  try {
    const read: unknown = JSON.parse(message);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
    const isKept = (name: string) => isProtectionField(name) || insteadOf(name) === null;
    const fields = Object.entries(read).filter(([name]) => isKept(name));
    return { ...Object.fromEntries(fields), timestamp: '{{timenow}}', secret: SECRET_TO_PASTE };
  } catch {
    return null;
  }
}
