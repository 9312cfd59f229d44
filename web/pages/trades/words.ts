// Trades in words. Pure.

import type { components } from '../../api/schema.ts';
import { counted, figure, money } from '../../parts/numbers.ts';
import { type Asked, withinWords } from './asked.ts';

type Schemas = components['schemas'];

export type Summary = Schemas['TradesSummary'];
export type Trade = Schemas['Trade'];
export type Fill = Schemas['TradeFill'];

/** `3 h 12 min`, `58 s`, `under 1 s`, `2 days 4 h`. */
export function heldInWords(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds === 0) return 'under 1 s';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} days` : `${days} days ${hours % 24} h`;
}

/** `said` matters, `rest` accompanies it. */
export function answerOf(summary: Summary, asked: Asked): { readonly said: string; readonly rest: string } {
  const { trades, won, profit, currency, profit_factor, enough_trades, lost } = summary;
  const within = withinWords(asked);
  if (trades === 0) return { said: `No trade was closed ${within}`, rest: '' };
  const said = `${money(profit)} ${currency ?? ''} ${within}: ${figure(won)} of ${counted(trades, 'trade')} won`;
  if (profit_factor !== null)
    return { said: `${said},`, rest: `${factor(profit_factor)} earned for each 1 lost` };
  if (trades < enough_trades) return { said: `${said},`, rest: 'too few to say more' };
  return { said: lost === 0 ? `${said},` : said, rest: lost === 0 ? 'none lost' : '' };
}

/** Of an average price no more digits than any instrument has. */
export const averagePrice = (value: number): string => figure(Number(value.toPrecision(9)));

/** A ratio to its hundredth. */
export const factor = (value: number): string => value.toFixed(2);
export const percent = (part: number): string => `${(part * 100).toFixed(1)} %`;

/** What closed a trade, as a sentence says it; lists have the API's own word. */
const CLOSED: Readonly<Record<string, string>> = {
  stop_loss: 'closed by its stop',
  trailing_stop: 'closed by its trailing stop',
  break_even: 'closed by its stop at break even',
  take_profit: 'closed at its target',
  time_stop: 'closed because its time was over',
  unprotected: 'closed because its stop could not be placed',
  signal: 'closed by a signal',
  reversal: 'closed by a signal to the other side',
  dashboard: 'closed by hand',
  closed_elsewhere: 'closed at the broker by somebody else',
};

export function endInWords({
  closed_by,
  closed_elsewhere,
}: Pick<Trade, 'closed_by' | 'closed_elsewhere'>): string {
  if (closed_by === null) return 'still open';
  const how = CLOSED[closed_by] ?? `closed by ${closed_by}`;
  const isPart = closed_elsewhere > 0 && closed_by !== 'closed_elsewhere';
  return isPart ? `${how}, ${figure(closed_elsewhere)} of it by somebody else` : how;
}

/** What happened at a fill: `bought 0.4`, `take_profit: sold 0.2`. */
export function fillInWords({ side, quantity, order_id, closed_by }: Fill): string {
  if (order_id === null) return `${figure(quantity)} closed at the broker by somebody else`;
  const did = `${side === 'buy' ? 'bought' : 'sold'} ${figure(quantity)}`;
  return closed_by === null ? did : `${did}, ${CLOSED[closed_by] ?? closed_by}`;
}
