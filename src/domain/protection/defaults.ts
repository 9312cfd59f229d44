// An account's setting `protection_defaults`: what an entry from flat is protected by where it does not say so itself, for every
// symbol ("*") and symbol by symbol. It knows no prices: those of today are wrong tomorrow.

import { isSymbol } from '../signals/symbol.ts';
import { isRecord } from '../signals/values.ts';
import type { Level } from './level.ts';
import {
  contradiction,
  isGiven,
  isProtectionField,
  PROTECTION_FIELDS,
  readWish,
  type Wish,
  wishJson,
} from './wish.ts';

/** By symbol, as it was set. */
export type Defaults = Readonly<Record<string, Wish>>;

const EVERY = '*';
const MOST_SYMBOLS = 100;

/** As it is set, and as it was kept; null and {} are none. */
export function readDefaults(
  value: unknown,
): { readonly defaults: Defaults } | { readonly problems: readonly string[] } {
  if (value === null) return { defaults: {} };
  if (!isRecord(value) || Object.keys(value).length > MOST_SYMBOLS)
    return {
      problems: [
        `protection_defaults must be null, or an object of up to ${MOST_SYMBOLS} symbols, such as {"*": {"stop_loss": "2%"}, "BTCUSDT.P": {"stop_loss": "3%"}}.`,
      ],
    };
  const read = Object.entries(value).map(([symbol, fields]) => readEntry(symbol, fields));
  const problems = read.flatMap((entry) => ('problem' in entry ? [entry.problem] : []));
  const defaults = Object.fromEntries(
    read.flatMap((entry) => ('problem' in entry ? [] : [[entry.symbol, entry.wish]])),
  );
  if (problems.length === 0) problems.push(...senseless(defaults));
  return problems.length > 0 ? { problems } : { defaults };
}

function readEntry(
  symbol: string,
  fields: unknown,
): { readonly symbol: string; readonly wish: Wish } | { readonly problem: string } {
  const name = `protection_defaults ${JSON.stringify(symbol.slice(0, 64))}`;
  if (symbol !== EVERY && !isSymbol(symbol))
    return {
      problem: `${name} is no symbol: send "${EVERY}" for every one, or 1 to 64 characters without white space.`,
    };
  const other = isRecord(fields) ? Object.keys(fields).find((key) => !isProtectionField(key)) : '';
  if (!isRecord(fields) || other !== undefined)
    return { problem: `${name} must be an object of ${PROTECTION_FIELDS.join(', ')} and nothing else.` };
  const read = readWish(fields);
  if ('problem' in read) return { problem: `${name}: ${read.problem}` };
  const priced = levelsOf(read.wish).find(({ unit }) => unit === 'price');
  if (priced)
    return {
      problem: `${name}: ${priced.value} would be a price, and is not known beforehand. Send a distance, as "2%", "20t" or "150p".`,
    };
  return { symbol, wish: read.wish };
}

function levelsOf({ stop, targets, trail, breakEven }: Wish): readonly Level[] {
  return [
    ...(isGiven(stop) ? [stop] : []),
    ...(isGiven(targets) ? targets.map(({ at }) => at) : []),
    ...(isGiven(trail) && trail.activateAt ? [trail.activateAt] : []),
    ...(isGiven(breakEven) && breakEven.at !== 'tp1' ? [breakEven.at] : []),
  ];
}

/** Each break-even, with what its symbol takes over from "*". One that is taken over itself is left out where it has no stop. */
const senseless = (defaults: Defaults): readonly string[] =>
  Object.entries(defaults).flatMap(([symbol, { breakEven }]) => {
    const whole = ofSymbol(defaults, (name) => name === symbol);
    const problem = isGiven(breakEven) ? contradiction(whole, { isFromFlat: true }) : null;
    return problem === null ? [] : [`protection_defaults ${JSON.stringify(symbol)}: ${problem}`];
  });

/** Part by part: a symbol's own stands instead of that of every one, and its "none" declines that. */
function ofSymbol(defaults: Defaults, isMeant: (name: string) => boolean): Wish {
  const own = Object.entries(defaults).filter(([name]) => name !== EVERY && isMeant(name));
  return Object.assign(
    {},
    Object.hasOwn(defaults, EVERY) ? defaults[EVERY] : {},
    ...own.map(([, wish]) => wish),
  );
}

export const defaultsJson = (defaults: Defaults): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(defaults).map(([symbol, wish]) => [symbol, wishJson(wish)]));

/**
 * An entry from flat with what it leaves out. "none" declines, and is gone then: from flat there is nothing to remove. A default
 * that would have nothing to work on, as break-even without a stop, is none.
 */
export function withDefaults(wish: Wish, defaults: Defaults, isMeant: (name: string) => boolean): Wish {
  const { breakEven, ...others } = ofSymbol(defaults, isMeant);
  const filled = given({ ...others, ...wish });
  if (breakEven === undefined || wish.breakEven !== undefined) return filled;
  const all = given({ ...filled, breakEven });
  return contradiction(all, { isFromFlat: true }) === null ? all : filled;
}

/** Without what was declined. */
const given = (wish: Wish): Wish =>
  Object.fromEntries(Object.entries(wish).filter(([, part]) => isGiven(part)));
