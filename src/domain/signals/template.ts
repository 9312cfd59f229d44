// The message that a strategy's alert sends, as README, the first start and the documentation have it; and how a message
// with the platform's placeholders is read before the platform has filled them in.

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

/** What is no placeholder of the platform's stays as it stands, and is refused as what was not filled in. */
export const fillTemplate = (text: string, now: number): string =>
  text.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, name: string) => {
    if (name === 'timenow' || name === 'time') return `${new Date(now).toISOString().slice(0, 19)}Z`;
    return Object.hasOwn(EXAMPLES, name) ? (EXAMPLES[name] ?? whole) : whole;
  });

/** What can be kept of a message that does not work, in one that does; else the template. */
export function workingMessage(message: string, now: number): string {
  const kept = keptFields(message);
  const text = kept && JSON.stringify(kept, null, 2);
  const reads = (filled: string) =>
    'signal' in readSignal(readBody(new TextEncoder().encode(filled)), { simulation: false });
  return text !== null && reads(fillTemplate(text, now)) ? text : templateWith(SECRET_TO_PASTE);
}

function keptFields(message: string): object | null {
  try {
    const read: unknown = JSON.parse(message);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
    const fields = Object.entries(read).filter(([name]) => insteadOf(name) === null);
    return { ...Object.fromEntries(fields), timestamp: '{{timenow}}', secret: SECRET_TO_PASTE };
  } catch {
    return null;
  }
}
