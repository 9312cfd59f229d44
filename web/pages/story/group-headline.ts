// What became of a group's signal in one sentence, and what would bring a member that refused it to where the others are.

import type { components } from '../../api/schema.ts';
import type { TradeDraft } from '../../parts/drafts.ts';
import { times } from '../../parts/exact.ts';
import { refusedFor } from '../../parts/group-words.ts';
import { counted } from '../../parts/numbers.ts';
import { isResting } from '../../parts/resting/words.ts';
import { type Headline, type SignalRecord, understoodOf } from './headline.ts';

type Schemas = components['schemas'];
type Order = Schemas['OrderRecord'];
type Account = Schemas['Account'];
type Member = Schemas['Group']['members'][number];

/** What is done where it is filled, and what is meant to be done until then. */
const WORDS: Readonly<Record<string, readonly [done: string, wants: string]>> = {
  buy: ['Bought', 'buy'],
  sell: ['Sold', 'sell'],
  long_entry: ['Bought', 'buy'],
  short_entry: ['Sold', 'sell'],
  long_exit: ['Sold', 'sell'],
  short_exit: ['Bought', 'buy'],
  close: ['Closed', 'close'],
  close_long: ['Closed', 'close'],
  close_short: ['Closed', 'close'],
  protect: ['Set the stop of', 'set the stop of'],
  cancel: ['Took back what rests in', 'take back what rests in'],
};

/** `orders`: of its members, as far as they are read. */
export function groupHeadline(
  signal: SignalRecord,
  orders: readonly Order[],
  nameOf: (account: string) => string,
): Headline {
  const { outcome, action, symbol, detail, orders: members } = signal;
  const what = symbol ?? 'the signal';
  if (outcome === 'refused')
    return { lead: `Refused: ${action ?? 'a signal'} ${symbol ?? ''}`.trim(), rest: detail };
  if (outcome === 'sync') return { lead: `Reported where it stands in ${what}`, rest: null };
  const [done, wants] = WORDS[action ?? ''] ?? [`Sent ${action} in`, `send ${action} in`];
  const taken = members.filter(({ order_id }) => order_id !== null).length;
  const on = (count: number) =>
    count === members.length
      ? `on all ${counted(count, 'account')}`
      : `on ${count} of ${counted(members.length, 'account')}`;
  const rest = whoDidNot(members, orders, nameOf);
  const filled = orders.filter(isDone).length;
  const waiting = orders.filter(isResting).length;
  if (orders.length < taken) return { lead: `Sent to ${wants} ${what} ${on(taken)}`, rest };
  if (filled === 0 && waiting > 0) return { lead: `Waits to ${wants} ${what} ${on(waiting)}`, rest };
  if (filled === 0) return { lead: `Sent to ${wants} ${what} ${on(taken)}, and nothing was traded`, rest };
  const also = waiting > 0 ? `, waits on ${waiting}` : '';
  return { lead: `${done} ${what} ${on(filled)}${also}`, rest };
}

const isDone = ({ status, fill_quantity }: Order): boolean =>
  status === 'done' || (fill_quantity !== null && fill_quantity > 0);

/** The first of them by name: "Small, and 2 others refused it, the account is halted". */
function whoDidNot(
  members: SignalRecord['orders'],
  orders: readonly Order[],
  nameOf: (account: string) => string,
): string | null {
  const refused = members.filter(({ code }) => code !== null);
  const [first, ...others] = refused;
  if (first) return `${named(first, others.length)} refused it, ${inside(refusedFor(first))}`;
  const failed = orders.filter(({ status }) => FAILED.has(status));
  const [one, ...more] = failed;
  return one ? `${named(one, more.length)} did not trade, ${inside(one.error?.message ?? one.status)}` : null;

  function named({ trading_account_id }: { readonly trading_account_id: string }, count: number): string {
    const also = count === 0 ? '' : `, and ${count} ${count === 1 ? 'other' : 'others'}`;
    return `${nameOf(trading_account_id)}${also}`;
  }
}

const FAILED: ReadonlySet<string> = new Set(['rejected', 'failed', 'expired', 'unknown']);

const inside = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);

/**
 * The order by hand that would open there what the others have: with the member's factor and its name of the symbol, as they are now.
 * null: there is none that could be said without a guess.
 */
export function sameThere(
  signal: SignalRecord,
  account: Account,
  member: Pick<Member, 'factor' | 'symbols'> | undefined,
): (TradeDraft & Required<Pick<TradeDraft, 'action' | 'symbol' | 'quantity'>>) | null {
  const said = understoodOf(signal);
  if (!said || !member || said.operation !== 'PLACE_ENTRY_ORDER') return null;
  const [, action] = WORDS[said.action] ?? [];
  if (action !== 'buy' && action !== 'sell') return null;
  const type = said.quantity_type ?? 'units';
  // What is lost at a stop cannot be counted without one.
  if (type.startsWith('risk')) return null;
  // Where it was before, a part of the order closed something that is not held here.
  if (said.target !== null && said.prev_strategy_position !== 0) return null;
  const size = said.target === null ? said.quantity : Math.abs(said.target);
  if (!size) return null;
  const plain = said.symbol.slice(said.symbol.indexOf(':') + 1);
  const { limit_price: limit, stop_price: stop } = said;
  return {
    accountId: account.id,
    symbol: member.symbols[said.symbol] ?? member.symbols[plain] ?? said.symbol,
    action,
    quantity: times(times(size, member.factor), account.quantity_multiplier),
    ...(type !== 'units' && { counts: type }),
    ...(limit && { limitPrice: limit }),
    ...(stop && { stopPrice: stop }),
    ...((limit || stop) && said.expires_in && { expiresIn: said.expires_in }),
    simulation: signal.simulation,
    dropsProtection: said.protection !== undefined,
  };
}
