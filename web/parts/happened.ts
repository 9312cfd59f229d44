// What became of a signal, in words, from its order's own fields.

import type { components } from '../api/schema.ts';
import { minus, plus } from './exact.ts';
import { figure, heldInWords } from './numbers.ts';
import { CLOSED } from './protection/words.ts';
import { reasonOf } from './reasons.ts';
import { isResting, takenBackBy, whereInWords } from './resting/words.ts';
import { minuteOf } from './times.ts';

type Schemas = components['schemas'];
export type Signal = Schemas['SignalSummary'];
/** As it stands in a list; a record and a change that was heard of have their legs, too. */
export type Order = Schemas['OrderSummary'] & Partial<Pick<Schemas['OrderRecord'], 'legs' | 'trace'>>;

export interface Traded {
  readonly leg: 'exit' | 'entry';
  readonly side: 'buy' | 'sell';
  readonly filled: number;
  readonly price: number | null;
}

export interface Happened {
  readonly text: string;
  /** Why not, in the API's own word. */
  readonly code: string | null;
}

/** What was traded, in the order in which it was sent. A list leaves the legs out, and says enough to know them. */
function tradedOf(order: Order): Traded[] {
  if (order.legs)
    return order.legs.map(({ leg, side, fill_quantity, fill_price }) => ({
      leg,
      side,
      filled: fill_quantity ?? 0,
      price: fill_price,
    }));
  const { position_before: before, exit_order_result: exit, fill_quantity, fill_price } = order;
  if (before === null) return [];
  const main = { filled: fill_quantity ?? 0, price: fill_price };
  const closing = before > 0 ? 'sell' : 'buy';
  if (exit)
    return [
      { leg: 'exit', side: closing, filled: exit.fill_quantity ?? 0, price: exit.fill_price },
      { leg: 'entry', side: closing, ...main },
    ];
  if (isClosing(order, before)) return [{ leg: 'exit', side: closing, ...main }];
  return [{ leg: 'entry', side: entersLong(order) ? 'buy' : 'sell', ...main }];
}

function isClosing({ target, operation }: Order, before: number): boolean {
  if (target === null) return operation !== 'PLACE_ENTRY_ORDER';
  return before !== 0 && (Math.sign(target) !== Math.sign(before) || Math.abs(target) < Math.abs(before));
}

const entersLong = ({ target, action }: Order): boolean =>
  target === null ? action === 'buy' || action === 'long_entry' : target > 0;

/** Signed: what was held, and what was filled since; null: it was not read. */
export const positionAfter = (order: Order): number | null =>
  order.position_before === null
    ? null
    : tradedOf(order).reduce(
        (held, { side, filled }) => (side === 'buy' ? plus(held, filled) : minus(held, filled)),
        order.position_before,
      );

/** `Closed long 0.1, opened short 0.2 at 96,418.1`; null: nothing was filled. */
export function movesInWords(order: Order): string | null {
  const moved = tradedOf(order).filter(({ filled }) => filled !== 0);
  const last = moved.at(-1);
  const before = order.position_before;
  if (!last || before === null) {
    const { fill_quantity: filled, fill_price: price } = order;
    return filled ? `Filled ${figure(filled)}${atPrice(price)}` : null;
  }
  const words = moved.map((leg) => moveInWords(leg, before)).join(', ');
  const after = positionAfter(order) as number;
  // Where something was opened from flat, the move itself says where it led.
  const isSaid = last.leg === 'entry' && (before === 0 || moved.length > 1);
  return `${capital(words)}${atPrice(last.price)}${isSaid ? '' : `, now ${heldInWords(after)}`}`;
}

function moveInWords({ leg, side, filled }: Traded, before: number): string {
  if (leg === 'entry') return `opened ${side === 'buy' ? 'long' : 'short'} ${figure(filled)}`;
  if (filled === Math.abs(before)) return `closed ${heldInWords(before)}`;
  return `closed ${figure(filled)} of ${heldInWords(before)}`;
}

const atPrice = (price: number | null): string => (price === null ? '' : ` at ${figure(price)}`);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const POINT_IN_TIME = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;
/** A clause of ours: the API's sentences end with a full stop, and say their times in UTC. */
export const clause = (text: string): string =>
  text
    .trim()
    .replace(/\.$/, '')
    .replace(POINT_IN_TIME, (at) => minuteOf(new Date(at), new Date()));
/** Within a sentence; a symbol in capitals stays what it is. */
export const lower = (text: string): string =>
  /^.[a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/**
 * Whether it was traded is not known, and no answer was lost: it still waited in the backup from which the database was restored,
 * past which it is not sent. It has no leg that could be looked for; what it says of itself is all there is.
 */
export const waitedInBackup = ({ status, error, legs = [] }: Order): boolean =>
  status === 'unknown' && error?.code === 'expired' && legs.length === 0;

export function orderHappened(order: Order): Happened {
  const moved = movesInWords(order);
  const code = order.error?.code ?? null;
  const why = order.error ? clause(order.error.message) : null;
  switch (order.status) {
    case 'queued':
      return { text: 'Accepted, waiting for its turn', code: null };
    case 'executing':
      return {
        text: moved
          ? `${moved} so far`
          : order.trace?.sent === undefined
            ? 'Being executed'
            : 'Sent, waiting for the broker’s answer',
        code: null,
      };
    case 'placed':
      if (isResting(order))
        return {
          text: `${moved ? `${moved}, the entry waits` : 'Waits'} ${whereInWords(order)}`,
          code: null,
        };
      return { text: moved ? `${moved}, the rest is placed` : 'Placed, nothing is filled yet', code: null };
    case 'partially_filled':
      return {
        text: `${moved ?? 'Partly filled'} so far${isResting(order) ? `, the rest waits ${whereInWords(order)}` : ''}`,
        code,
      };
    case 'filled':
      return { text: `${moved ?? 'Filled'}${closedWhy(order)}`, code };
    case 'done':
      if (order.action === 'cancel') return { text: 'Took back what rested', code };
      if (order.action === 'protect') return { text: 'What protects it was changed', code };
      return { text: alreadyThere(order), code };
    case 'unknown':
      if (waitedInBackup(order)) return { text: why ?? 'Whether it was traded is not known', code };
      return { text: `${moved ? `${moved}; then the` : 'The'} broker’s answer was lost`, code };
    default: {
      const back = takenBackBy(order.error);
      if (back)
        return {
          text: moved ? `${moved}; the rest was taken back: ${back.why}` : `Taken back: ${back.why}`,
          code,
        };
      return {
        text: moved ? `${moved}; ${lower(why ?? order.status)}` : (why ?? capital(order.status)),
        code,
      };
    }
  }
}

/** Of a close that protection made. */
function closedWhy({ exit_reason: reason }: Order): string {
  return reason ? `: ${CLOSED[reason]}` : '';
}

function alreadyThere({ target, position_before: before, market_position, error }: Order): string {
  if (target === null || before === null) return error ? clause(error.message) : 'Nothing had to be traded';
  // No strategy spoke: somebody closed what was closed.
  if (market_position === null) return `Already ${heldInWords(before)}: nothing had to be traded`;
  return `Already there: the strategy says ${heldInWords(target)}, the broker holds ${heldInWords(before)}`;
}

/** What the status alone tells. */
const BY_STATUS: Readonly<Record<string, string>> = {
  queued: 'On its way to the broker',
  executing: 'On its way to the broker',
  placed: 'Placed, nothing is filled yet',
  unknown: 'The broker’s answer was lost',
  done: 'Nothing had to be traded',
};

/** `order`: null where it is not at hand; then only what the signal's own line says is said. */
export function happened(signal: Signal, order: Order | null): Happened {
  if (signal.outcome === 'refused') return { text: reasonOf(signal), code: signal.code };
  if (order) return orderHappened(order);
  if (signal.order_id === null) return { text: 'The strategy said where it stands', code: null };
  const { fill_price: price, position_before: before } = signal;
  if (price !== null)
    return {
      text: `Filled at ${figure(price)}${before === null ? '' : `, was ${heldInWords(before)}`}`,
      code: null,
    };
  if (signal.detail) return { text: clause(signal.detail), code: signal.code };
  const status = signal.order_status ?? '';
  return { text: BY_STATUS[status] ?? capital(status.replaceAll('_', ' ')), code: signal.code };
}
