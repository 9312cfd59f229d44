// What an account fills in where an entry from flat leaves it out.

import type { components } from '../../api/schema.ts';

type Account = components['schemas']['Account'];

export const DEFAULTED = ['stop_loss', 'take_profit', 'trailing_stop', 'break_even', 'time_stop'] as const;
export type Defaulted = (typeof DEFAULTED)[number];

export type DefaultsOf = Readonly<Partial<Record<Defaulted, unknown>>>;
export type Defaults = Readonly<Record<string, DefaultsOf>>;

export const EVERY = '*';

export const defaultsOf = ({ protection_defaults }: Pick<Account, 'protection_defaults'>): Defaults =>
  (protection_defaults ?? {}) as Defaults;

/** As it is typed; empty: none. */
export function defaultText(name: Defaulted, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (name === 'take_profit' && Array.isArray(value)) {
    const [first] = value;
    if (value.length === 1 && Number(first.percent) === 100) return String(first.at);
    return value.map(({ at, percent }) => `${percent} at ${at}`).join(', ');
  }
  if (typeof value === 'object') {
    const { distance, activate_at, at, offset } = value as Record<string, unknown>;
    if (distance !== undefined)
      return activate_at === undefined ? `${distance}` : `${distance} from ${activate_at}`;
    return offset === undefined ? `${at}` : `${at} plus ${offset}`;
  }
  return String(value);
}

/** Of one symbol, as typed: its own before those of every symbol. Those that decline are none. */
export function defaultsFor(
  account: Pick<Account, 'protection_defaults'>,
  symbol: string,
): Partial<Record<Defaulted, string>> {
  const all = defaultsOf(account);
  const own = Object.entries(all).find(([name]) => name.toLowerCase() === symbol.trim().toLowerCase());
  const of: DefaultsOf = { ...all[EVERY], ...own?.[1] };
  return Object.fromEntries(
    DEFAULTED.filter((name) => of[name] !== undefined && of[name] !== 'none').map((name) => [
      name,
      defaultText(name, of[name]),
    ]),
  );
}
