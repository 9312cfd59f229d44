// How a paper account behaves: the bad days that anyone can rehearse.

import { type Decimal, parseDecimal } from './decimal.ts';
import type { RejectionCode } from './orders/order.ts';
import { NumberText } from './signals/json.ts';
import { isSymbol } from './signals/symbol.ts';

export const FILLS = ['full', 'partial', 'never', 'cancel', 'fail'] as const;
type Fill = (typeof FILLS)[number];

export const REHEARSALS = [
  'insufficient_margin',
  'market_closed',
  'invalid_symbol',
  'broker_rate_limited',
  'position_mode_mismatch',
] as const satisfies readonly RejectionCode[];
export type Rehearsal = (typeof REHEARSALS)[number];

/** Whether stops are kept, refused, taken without an answer, or gone when somebody looks next. */
export const PROTECTIONS = ['native', 'refuse', 'lose_answer', 'vanish'] as const;
type Protection = (typeof PROTECTIONS)[number];

/** As the contract writes it. */
export interface PaperSettings {
  readonly starting_cash: number;
  readonly latency_ms: number;
  readonly fill: Fill;
  readonly reject: Rehearsal | null;
  readonly lose_answer: boolean;
  readonly seed: number;
  readonly protection: Protection;
  /** Last prices by symbol, from when they are set on; null: they go their own way. */
  readonly price: Readonly<Record<string, number>> | null;
}

export const DEFAULT_PAPER_SETTINGS: PaperSettings = {
  starting_cash: 100_000,
  latency_ms: 20,
  fill: 'full',
  reject: null,
  lose_answer: false,
  seed: 1,
  protection: 'native',
  price: null,
};

type Reading = { readonly settings: PaperSettings } | { readonly problems: readonly string[] };

/** As they are stored: a program from before stops and set prices reads them as long as there are none. */
export const storedPaperSettings = ({
  protection,
  price,
  ...rest
}: PaperSettings): Partial<PaperSettings> => ({
  ...rest,
  ...(protection !== DEFAULT_PAPER_SETTINGS.protection && { protection }),
  ...(price !== null && { price }),
});

export const hasSamePrices = (one: PaperSettings, other: PaperSettings): boolean =>
  one.seed === other.seed && JSON.stringify(one.price) === JSON.stringify(other.price);

/** What was not given is the default; nothing given at all is all defaults. */
export function readPaperSettings(input: unknown): Reading {
  return mergePaperSettings(DEFAULT_PAPER_SETTINGS, input ?? {});
}

/** What was not given stays as it is. */
export function mergePaperSettings(current: PaperSettings, patch: unknown): Reading {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch))
    return { problems: ['paper must be an object.'] };
  const problems: string[] = [];
  const settings: Record<string, unknown> = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    const field = FIELDS.get(key);
    if (!field) {
      problems.push(
        `paper.${key.slice(0, 64)} is not a setting; the settings are ${[...FIELDS.keys()].join(', ')}.`,
      );
    } else if (value !== undefined) {
      const read = field.read(value);
      if (read === undefined) problems.push(`paper.${key} must be ${field.expected}.`);
      else settings[key] = read;
    }
  }
  // Each field was read by its own reader, or is the current one.
  return problems.length > 0 ? { problems } : { settings: settings as unknown as PaperSettings };
}

interface Field<Value> {
  /** Completes "… must be". */
  readonly expected: string;
  /** undefined: not one. */
  readonly read: (value: unknown) => Value | undefined;
}

const MOST_PRICES = 50;

const readers: { readonly [Key in keyof PaperSettings]: Field<PaperSettings[Key]> } = {
  starting_cash: {
    expected: 'a number from 0 to 1000000000000 with at most 15 significant digits',
    read: (value) => within(numeral(value), 0, 1e12),
  },
  latency_ms: {
    expected: 'an integer from 0 to 60000',
    read: (value) => whole(within(numeral(value), 0, 60_000)),
  },
  fill: { expected: `one of ${FILLS.join(', ')}`, read: (value) => FILLS.find((fill) => fill === value) },
  reject: {
    expected: `null or one of ${REHEARSALS.join(', ')}`,
    read: (value) => (value === null ? null : REHEARSALS.find((code) => code === value)),
  },
  lose_answer: {
    expected: 'true or false',
    read: (value) => (typeof value === 'boolean' ? value : undefined),
  },
  seed: {
    expected: 'an integer of at most 15 digits',
    read: (value) => whole(within(numeral(value), -1e15, 1e15)),
  },
  protection: {
    expected: `one of ${PROTECTIONS.join(', ')}`,
    read: (value) => PROTECTIONS.find((protection) => protection === value),
  },
  price: {
    expected: `null or an object of at most ${MOST_PRICES} symbols, each with a number above 0 with at most 15 significant digits`,
    read: (value) => (value === null ? null : prices(value)),
  },
};
// A map, because a hostile "__proto__" or "toString" must not find anything.
const FIELDS: ReadonlyMap<string, Field<unknown>> = new Map(Object.entries(readers));

function prices(value: unknown): Record<string, number> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const read = Object.entries(value).map(
    ([symbol, price]) => [symbol, within(numeral(price), 0, 1e12)] as const,
  );
  const isGood = read.every(([symbol, price]) => isSymbol(symbol) && price !== undefined && price > 0);
  return isGood && read.length <= MOST_PRICES
    ? (Object.fromEntries(read) as Record<string, number>)
    : undefined;
}

function numeral(value: unknown): Decimal | null {
  if (value instanceof NumberText) return parseDecimal(value.text);
  return typeof value === 'number' ? parseDecimal(String(value)) : null;
}

function within(value: Decimal | null, least: number, most: number): number | undefined {
  const number = value === null ? Number.NaN : Number(value);
  return number >= least && number <= most ? number : undefined;
}

const whole = (value: number | undefined): number | undefined =>
  Number.isInteger(value) ? value : undefined;
