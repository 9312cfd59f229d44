// An account in words: its heading, what its credentials are worth, and what deleting it would do.

import type { components } from '../../api/schema.ts';

export type Account = components['schemas']['Account'];

/** `matters` is the heading's semibold part, `rest` what accompanies it. */
export interface Heading {
  readonly matters: string;
  readonly rest: string;
}

export type Standing = 'takes entries' | 'halted' | 'missing' | 'not verified' | 'refused';

export function standingOf(account: Account): Standing {
  if (account.credentials_refused) return 'refused';
  if (!account.broker_credentials_verified) return account.has_credentials ? 'not verified' : 'missing';
  return account.halted ? 'halted' : 'takes entries';
}

export function headingOf(account: Account): Heading {
  switch (standingOf(account)) {
    case 'takes entries':
      return { matters: `${account.name} is connected and takes entries`, rest: '' };
    case 'halted':
      return { matters: `${account.name} is halted:`, rest: 'entries are refused, exits still pass' };
    case 'missing':
      return { matters: `${account.name} waits for its credentials:`, rest: 'it trades in simulation only' };
    case 'not verified':
      return {
        matters: `${account.name} has credentials that are not verified:`,
        rest: 'it trades in simulation only',
      };
    case 'refused':
      return {
        matters: `${account.name} is refused by its broker:`,
        rest: 'entries are refused, exits and closes are still tried',
      };
  }
}

/** Symbols as they are typed or pasted: parted by blanks, commas or lines, each once. */
export function readSymbols(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((symbol) => symbol !== ''))];
}

export const MOST_SYMBOLS = 100;

/** Long lists are counted. */
export function symbolsInWords(symbols: readonly string[]): string {
  if (symbols.length === 0) return 'every symbol that the broker has';
  const [shown, more] = [symbols.slice(0, 12), symbols.length - 12];
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

const SECONDS = { h: 3600, min: 60, s: 1 } as const;
export type Unit = keyof typeof SECONDS;
const UNITS = Object.keys(SECONDS) as readonly Unit[];
export const inSeconds = (amount: number, unit: Unit): number => Math.round(amount * SECONDS[unit]);

/** In the largest unit that says it in whole numbers. */
export function inUnits(seconds: number): { readonly amount: number; readonly unit: Unit } {
  const unit = UNITS.find((each) => seconds % SECONDS[each] === 0) ?? 's';
  return { amount: seconds / SECONDS[unit], unit };
}
