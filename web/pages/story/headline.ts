// A story in one sentence.

import Big from 'big.js';
import type { components } from '../../api/schema.ts';
import { plus } from '../../parts/exact.ts';
import {
  clause,
  lower,
  movesInWords,
  orderHappened,
  positionAfter,
  waitedInBackup,
} from '../../parts/happened.ts';
import { figure, heldInWords } from '../../parts/numbers.ts';
import { CLOSED } from '../../parts/protection/words.ts';
import { reasonOf } from '../../parts/reasons.ts';
import { isResting, takenBackBy, whereInWords } from '../../parts/resting/words.ts';
import { type QuantityType, sizeInWords } from '../../parts/sizes.ts';

type Schemas = components['schemas'];
type Order = Schemas['OrderRecord'];
export type SignalRecord = Schemas['SignalRecord'];

/** As the API describes it; what the description leaves open is said here once. */
export interface Understood {
  readonly action: string;
  readonly symbol: string;
  readonly quantity: number | null;
  /** Absent: units. */
  readonly quantity_type?: QuantityType;
  /** These of an entry with a price alone. */
  readonly limit_price?: number | null;
  readonly stop_price?: number | null;
  readonly time_in_force?: string;
  readonly expires_in?: number;
  readonly operation: string;
  readonly order_type: string | null;
  readonly target: number | null;
  readonly market_position: string | null;
  readonly strategy_position: number | null;
  readonly prev_market_position: string | null;
  readonly prev_strategy_position: number | null;
  readonly price: number | null;
  readonly signal_time: string | null;
  /** What it asks for about protection; absent: nothing. */
  readonly protection?: object;
}
export const understoodOf = ({ understood }: SignalRecord): Understood | null =>
  understood as unknown as Understood | null;

export interface Headline {
  readonly lead: string;
  readonly rest: string | null;
  /** Money is, or may be, where nobody expects it. */
  readonly isRisk?: boolean;
}

/** In ticks where the tick is known. */
export function slippageInWords(slippage: number | null, tick: number | null): string | null {
  if (slippage === null) return null;
  if (slippage === 0) return 'at the signal’s own price';
  const than = slippage < 0 ? 'worse' : 'better';
  const size = new Big(slippage).abs();
  if (!tick) return `${figure(size.toNumber())} ${than} than the signal’s price`;
  const ticks = size.div(tick).round(1).toNumber();
  return `${figure(ticks)} ${ticks === 1 ? 'tick' : 'ticks'} ${than} than the signal`;
}

const WORDS = {
  buy: { done: 'Bought', doing: 'Buying', waits: 'Waiting to buy', not: 'Not bought', open: 'bought' },
  sell: { done: 'Sold', doing: 'Selling', waits: 'Waiting to sell', not: 'Not sold', open: 'sold' },
  close: { done: 'Closed', doing: 'Closing', waits: 'Closing', not: 'Not closed', open: 'closed' },
} as const;

export function orderHeadline(order: Order, tick: number | null): Headline {
  if (order.action === 'protect') return protectHeadline(order);
  if (order.action === 'cancel') return cancelHeadline(order);
  const headline = tradeHeadline(order, tick);
  const { exit_reason: reason } = order;
  // Nobody sent it: why it was made comes before how well it went.
  if (!reason || order.status !== 'filled') return headline;
  return { ...headline, rest: [CLOSED[reason], headline.rest].filter(Boolean).join(', ') };
}

/** It trades nothing: it says where the stop and the targets are to stand. */
function protectHeadline({ symbol, status, error }: Order): Headline {
  if (status === 'done') return { lead: `Changed what protects ${symbol}`, rest: null };
  if (error) return { lead: `Not changed: what protects ${symbol}`, rest: lower(clause(error.message)) };
  return { lead: `Changing what protects ${symbol}`, rest: status };
}

/** It trades nothing either: entries that rest are taken back. */
function cancelHeadline({ symbol, status, error }: Order): Headline {
  const where = symbol === '*' ? 'in every symbol' : `in ${symbol}`;
  if (status === 'done') return { lead: `Took back what rested ${where}`, rest: null };
  if (error) return { lead: `Not taken back: what rests ${where}`, rest: lower(clause(error.message)) };
  return { lead: `Taking back what rests ${where}`, rest: status };
}

function tradeHeadline(order: Order, tick: number | null): Headline {
  const { symbol, status, legs, error } = order;
  const filled = legs.reduce((sum, leg) => plus(sum, leg.fill_quantity ?? 0), 0);
  const words = WORDS[sideOf(order)];
  const wanted = legs.reduce((sum, leg) => plus(sum, leg.quantity), 0);
  const what = legs.length > 0 ? `${figure(wanted)} ${symbol}` : sizeInWords(order);
  const why = error ? clause(error.message) : null;
  switch (status) {
    case 'filled':
      return {
        lead: `${words.done} ${figure(filled)} ${symbol}${wasNow(order)}`,
        rest: slippageInWords(order.slippage, tick),
      };
    case 'partially_filled':
      return {
        lead: `${words.done} ${figure(filled)} of ${what} so far${wasNow(order)}`,
        rest: isResting(order)
          ? `the rest waits ${whereInWords(order)}`
          : slippageInWords(order.slippage, tick),
      };
    case 'placed':
      if (isResting(order)) return waiting(order, filled);
      return { lead: `${words.doing} ${what}`, rest: lower(orderHappened(order).text) };
    case 'queued':
    case 'executing':
      return { lead: `${words.doing} ${what}`, rest: lower(orderHappened(order).text) };
    case 'done':
      return { lead: `Nothing to trade in ${symbol}`, rest: lower(orderHappened(order).text) };
    case 'unknown':
      return unknown(order);
    case 'rejected':
    case 'failed':
    case 'cancelled':
    case 'expired':
      if (filled === 0)
        return { lead: `${words.not}: ${what}`, rest: takenBackInWords(order) ?? lower(why ?? status) };
      return partly(order, why);
    default:
      // A status that is newer than this page: nothing is known of what it means.
      return { lead: `${symbol}: ${status satisfies never}`, rest: why && lower(why) };
  }
}

/** Its entry waits; a reversal has closed by then. */
function waiting(order: Order, filled: number): Headline {
  const entry = order.legs.find(({ leg }) => leg === 'entry');
  const words = WORDS[sideOf(order)];
  const lead = `${words.waits} ${figure(entry?.quantity ?? order.quantity)} ${order.symbol}`;
  const moved = filled === 0 ? '' : `; ${lower(movesInWords(order) ?? '')}`;
  return { lead, rest: `${whereInWords(order)}${moved}` };
}

function takenBackInWords({ error }: Order): string | null {
  const back = takenBackBy(error);
  return back && `taken back: ${back.why}`;
}

function partly(order: Order, why: string | null): Headline {
  const isRisk = isHalfReversed(order);
  const moved = lower(movesInWords(order) ?? '');
  const back = takenBackInWords(order);
  if (back) return { lead: `${order.symbol}: ${moved}`, rest: `the rest was ${back}`, isRisk };
  const rest = [isRisk ? `but the entry was ${order.status}` : order.status, ...(why ? [lower(why)] : [])];
  return { lead: `${order.symbol}: ${moved}`, rest: rest.join(': '), isRisk };
}

/** What was to be closed is closed, and what was to be opened is not. */
const isHalfReversed = ({ auto_exit, legs }: Order): boolean =>
  auto_exit && legs[0]?.status === 'filled' && !legs[1]?.fill_quantity;

function sideOf({ legs, action }: Order): keyof typeof WORDS {
  const last = legs.at(-1);
  if (last) return last.side;
  if (action === 'buy' || action === 'long_entry') return 'buy';
  return action === 'sell' || action === 'short_entry' ? 'sell' : 'close';
}

function wasNow(order: Order): string {
  const after = positionAfter(order);
  if (order.position_before === null || after === null) return '';
  return `: was ${heldInWords(order.position_before)}, now ${heldInWords(after)}`;
}

function unknown(order: Order): Headline {
  const { legs, symbol, verification } = order;
  const open = legs.find(({ status }) => status === 'unknown') ?? legs.at(-1);
  const what = open ? `${figure(open.quantity)} ${symbol}` : sizeInWords(order);
  const lead = `Is ${what} ${WORDS[open?.side ?? sideOf(order)].open} or not?`;
  if (waitedInBackup(order))
    return {
      lead,
      rest: 'It waited in a backup, and may have been sent before that was restored',
      isRisk: true,
    };
  return {
    lead,
    rest:
      verification.state === 'dead_letter'
        ? 'The broker’s answer was lost, and no look-up could tell'
        : 'The broker’s answer was lost',
    isRisk: true,
  };
}

/** Of a signal that became no order. */
export function signalHeadline(signal: SignalRecord): Headline {
  const { outcome, action, quantity, symbol } = signal;
  if (outcome === 'refused') {
    const what = [action, quantity ? figure(quantity) : null, symbol].filter((word) => word !== null);
    return {
      lead: what.length > 0 ? `Refused: ${what.join(' ')}` : 'Refused',
      rest: lower(reasonOf(signal)),
    };
  }
  const stands = understoodOf(signal)?.strategy_position ?? null;
  return {
    lead: `The strategy said where it stands${stands === null ? ` in ${symbol}` : `: ${heldInWords(stands)} ${symbol}`}`,
    rest: 'nothing was traded',
  };
}
