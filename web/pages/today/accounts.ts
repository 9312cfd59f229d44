// An account's day in words.

import type { components } from '../../api/schema.ts';
import { exposureOf } from '../../parts/protection/exposure.ts';

type AccountToday = components['schemas']['AccountToday'];
type Todo = components['schemas']['Todo'];
type Position = components['schemas']['Position'];

export interface BrokerState {
  readonly tone: 'good' | 'plain' | 'act' | 'quiet';
  readonly words: string;
  readonly since: string | null;
  /** On hover. */
  readonly why: string;
}

/** The credentials before the connection: without them nobody is asked. */
export function brokerState({
  credentials,
  credentials_since,
  connection,
}: Pick<AccountToday, 'credentials' | 'credentials_since' | 'connection'>): BrokerState {
  if (credentials === 'missing')
    return { tone: 'act', words: 'no credentials', since: null, why: 'None have been entered yet' };
  if (credentials === 'not_verified')
    return {
      tone: 'act',
      words: 'not verified',
      since: null,
      why: 'The broker has not been asked about them yet',
    };
  if (credentials === 'refused')
    return {
      tone: 'act',
      words: 'refused',
      since: credentials_since,
      why: 'The broker refuses the credentials; exits are still tried with those that were good before',
    };
  const { state, at } = connection;
  if (state === 'not_known')
    return {
      tone: 'quiet',
      words: 'not asked today',
      since: null,
      why: 'No real order has asked the broker anything today',
    };
  if (state === 'answering')
    return { tone: 'good', words: 'answering', since: null, why: 'As today’s last real order found it' };
  return {
    tone: state === 'refused' ? 'act' : 'plain',
    words: state,
    since: at,
    why: 'As today’s last real order found it',
  };
}

export interface Entries {
  readonly words: 'on' | 'halted' | 'refused';
  readonly why: string;
}

/** Whether an entry of real money would be taken now. */
export function entriesOf(
  { halted, credentials }: Pick<AccountToday, 'halted' | 'credentials'>,
  areTermsAccepted: boolean,
): Entries {
  if (halted) return { words: 'halted', why: 'The kill switch is on; exits still pass' };
  if (credentials !== 'verified') return { words: 'refused', why: 'The broker credentials are not verified' };
  if (!areTermsAccepted) return { words: 'refused', why: 'The current terms are not accepted' };
  return { words: 'on', why: 'Entries are taken' };
}

/** How bad it is where a position is not the strategy's: what is only missing puts nothing at risk. Null: nobody has to do anything. */
export function driftOf(
  todo: readonly Pick<Todo, 'kind' | 'trading_account_id'>[],
  { id, halted }: Pick<AccountToday, 'id' | 'halted'>,
): Todo['severity'] | null {
  const own = new Set(todo.filter((one) => one.trading_account_id === id).map(({ kind }) => kind));
  if (own.has('drift_excess') || own.has('unknown_order') || own.has('dead_letter')) return 'risk';
  // What is not opened on a halted account is its owner's own wish.
  if (halted) return null;
  return own.has('drift_missing') ? 'act' : 'risk';
}

/** null: the broker does not say it of every position, and a part of a sum is none. */
export function openProfit(positions: readonly Pick<Position, 'quantity' | 'open_profit'>[]): number | null {
  let total = 0;
  for (const { quantity, open_profit } of positions) {
    if (quantity === 0) continue;
    if (open_profit === null) return null;
    total += open_profit;
  }
  return total;
}

interface Risk {
  /** Down to the stops that are there. */
  readonly lost: number | null;
  /** In its place. */
  readonly instead: string | null;
  /** Positions that should have a stop and have none, and those for which none is wanted: neither is in the sum. */
  readonly bare: number;
  readonly free: number;
}

/** What an account can lose. A sum never stands for what is not in it. */
export function riskOf(positions: readonly Pick<Position, 'quantity' | 'protection' | 'risk'>[]): Risk {
  const held = positions.filter(({ quantity }) => quantity !== 0);
  const { risk, stops, unprotected } = exposureOf(held);
  if (stops === 0)
    return { lost: null, instead: held.length === 0 ? 'nothing' : 'no stop', bare: 0, free: 0 };
  return {
    lost: risk,
    instead: risk === null && unprotected < stops ? 'not known' : null,
    bare: unprotected,
    free: held.length - stops,
  };
}
