// Groups: one signal for several accounts of a user, each with its own factor and its own names for symbols.

import type { BrokerName } from './brokers.ts';
import { compare, type Decimal, decimal, parseDecimal, sign } from './decimal.ts';
import type { AccountId, GroupId, Timestamp, UserId } from './ids.ts';
import { canonicalSymbol, isSymbol } from './signals/symbol.ts';

/** As an alert calls them → as the member's broker does. */
export type SymbolMap = Readonly<Record<string, string>>;

export const NO_SYMBOLS: SymbolMap = {};

export interface Member {
  readonly accountId: AccountId;
  /** What the account trades of what the signal says. */
  readonly factor: Decimal;
  readonly symbols: SymbolMap;
  readonly enabled: boolean;
}

export interface Group {
  readonly id: GroupId;
  readonly userId: UserId;
  readonly name: string;
  readonly webhookToken: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret: string;
  readonly maxRequestAge: number;
  readonly enabled: boolean;
  readonly members: readonly Member[];
  /** Grows with every change of what a signal is checked against. */
  readonly revision: number;
  readonly createdAt: Timestamp;
}

export const FEWEST_MEMBERS = 2;
export const MOST_MEMBERS = 20;
export const MOST_GROUPS = 50;
const MOST_SYMBOLS = 100;
const MOST_FACTOR = decimal(1000);

/** By which a webhook's token is known to be a group's, before anything is looked up. */
const TOKEN = 'group-';
export const groupToken = (random: string): string => `${TOKEN}${random}`;
/** An account's token is 43 characters long, and could begin so by chance. */
export const isGroupToken = (token: string): boolean => token.startsWith(TOKEN) && token.length > 43;

/** As a request gives it. */
export interface GivenMember {
  readonly trading_account_id: string;
  readonly factor?: number;
  readonly symbols?: Readonly<Record<string, unknown>>;
  readonly enabled?: boolean;
}

export function readMembers(
  given: readonly GivenMember[],
): { readonly members: readonly Member[] } | { readonly problem: string } {
  if (given.length < FEWEST_MEMBERS || given.length > MOST_MEMBERS)
    return { problem: `"members" has ${given.length}: a group has ${FEWEST_MEMBERS} to ${MOST_MEMBERS}.` };
  const members: Member[] = [];
  for (const [index, each] of given.entries()) {
    const place = `"members" ${index}:`;
    const accountId = each.trading_account_id as AccountId;
    if (members.some((other) => other.accountId === accountId))
      return { problem: `${place} ${accountId} is a member already; an account is in a group once.` };
    const factor = parseDecimal(String(each.factor ?? 1));
    if (factor === null || sign(factor) <= 0 || compare(factor, MOST_FACTOR) > 0)
      return { problem: `${place} "factor" must be a number above 0 and at most ${MOST_FACTOR}.` };
    const symbols = readSymbols(each.symbols ?? {});
    if ('problem' in symbols) return { problem: `${place} ${symbols.problem}` };
    members.push({ accountId, factor, symbols: symbols.map, enabled: each.enabled ?? true });
  }
  return { members };
}

function readSymbols(
  given: Readonly<Record<string, unknown>>,
): { readonly map: SymbolMap } | { readonly problem: string } {
  const entries = Object.entries(given);
  if (entries.length > MOST_SYMBOLS) return { problem: `"symbols" has more than ${MOST_SYMBOLS} names.` };
  for (const [from, to] of entries)
    if (!isSymbol(from) || typeof to !== 'string' || !isSymbol(to))
      return {
        problem: `"symbols" turns ${from.slice(0, 64) || '""'} into ${String(to).slice(0, 64) || '""'}: both must be symbols, 1 to 64 characters without white space.`,
      };
  return { map: Object.fromEntries(entries) as SymbolMap };
}

/** What the member trades where the alert says `symbol`: by the name as it stands, else by what the name means at its broker. */
export function symbolFor(broker: BrokerName, symbols: SymbolMap, symbol: string): string {
  if (symbols === NO_SYMBOLS) return symbol;
  if (Object.hasOwn(symbols, symbol)) return symbols[symbol] ?? symbol;
  const meant = canonicalSymbol(broker, symbol);
  const known = Object.keys(symbols).find((name) => canonicalSymbol(broker, name) === meant);
  return (known && symbols[known]) ?? symbol;
}
