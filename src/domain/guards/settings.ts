// Guards as they are set: read strictly, since one that makes no sense would hold everything back, or nothing.

import { parseDecimal } from '../decimal.ts';
import { timestamp } from '../ids.ts';
import { isSymbol } from '../signals/symbol.ts';
import { isTimezone } from '../timezone.ts';
import { DAYS, type GuardName, type Guards } from './guards.ts';

type Reading = { readonly guards: Guards } | { readonly problems: readonly string[] };

const MOST_SYMBOLS = 100;
const MOST_WINDOWS = 50;
const MOST_PAUSES = 200;

/** Guard by guard: what is not given stays, null takes one away. */
export function mergeGuards(current: Guards, patch: unknown): Reading {
  if (!isRecord(patch)) return { problems: ['guards must be an object.'] };
  const problems: string[] = [];
  const merged: Record<string, unknown> = { ...current };
  for (const [name, value] of Object.entries(patch)) {
    const reader = READERS.get(name);
    if (!reader) {
      problems.push(
        `guards.${name.slice(0, 64)} is not a guard; the guards are ${[...READERS.keys()].join(', ')}.`,
      );
      continue;
    }
    if (value === null) {
      delete merged[name];
      continue;
    }
    const read = reader.read(value);
    if (read === undefined) problems.push(`guards.${name} must be null or ${reader.expected}.`);
    else if (read === false) delete merged[name];
    else merged[name] = read;
  }
  return problems.length > 0 ? { problems } : { guards: merged as Guards };
}

interface Reader {
  /** Completes "… must be null or". */
  readonly expected: string;
  /** undefined: not one. */
  read(value: unknown): unknown;
}

const number = (least: number, most: number, { whole = false, above = false } = {}): Reader => ({
  expected: `a ${whole ? 'whole ' : ''}number ${above ? 'above' : 'from'} ${least} ${above ? 'and up ' : ''}to ${most}`,
  read: (value) =>
    typeof value === 'number' &&
    parseDecimal(String(value)) !== null &&
    (above ? value > least : value >= least) &&
    value <= most &&
    (!whole || Number.isInteger(value))
      ? value
      : undefined,
});

const amount = number(0, 1e12, { above: true });

const perSymbol: Reader = {
  expected:
    'a number above 0 for every symbol, or one for each of up to 100 symbols, such as {"BTCUSDT.P": 0.5, "*": 10}',
  read(value) {
    if (!isRecord(value)) return amount.read(value);
    const entries = Object.entries(value);
    const isRight = ([name, most]: [string, unknown]) =>
      (name === '*' || isSymbol(name)) && amount.read(most) !== undefined;
    return entries.length > 0 && entries.length <= MOST_SYMBOLS && entries.every(isRight) ? value : undefined;
  },
};

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const tradingHours: Reader = {
  expected:
    '{"timezone": "America/New_York", "windows": [{"days": ["mon", "tue"], "from": "09:30", "to": "16:00"}]}, with from and to that differ',
  read(value) {
    if (!isRecord(value) || !hasOnly(value, ['timezone', 'windows'])) return undefined;
    const { timezone, windows } = value;
    if (typeof timezone !== 'string' || !isTimezone(timezone)) return undefined;
    if (!Array.isArray(windows) || windows.length === 0 || windows.length > MOST_WINDOWS) return undefined;
    const isWindow = (window: unknown) =>
      isRecord(window) &&
      hasOnly(window, ['days', 'from', 'to']) &&
      Array.isArray(window.days) &&
      window.days.length > 0 &&
      new Set(window.days).size === window.days.length &&
      window.days.every((day) => DAYS.some((name) => name === day)) &&
      isClock(window.from) &&
      (isClock(window.to) || window.to === '24:00') &&
      window.from !== window.to;
    return windows.every(isWindow) ? { timezone, windows } : undefined;
  },
};

const pauses: Reader = {
  expected: `a list of up to ${MOST_PAUSES} times such as {"from": "2026-11-18T18:45:00Z", "to": "2026-11-18T19:30:00Z", "label": "FOMC"}, each ending after it begins`,
  read(value) {
    if (!Array.isArray(value) || value.length > MOST_PAUSES) return undefined;
    const read = value.map((pause: unknown) => {
      if (!isRecord(pause) || !hasOnly(pause, ['from', 'to', 'label'])) return undefined;
      const { from, to, label = '' } = pause;
      if (typeof label !== 'string' || label.length > 100 || /[\p{Cc}\p{Cs}]/u.test(label)) return undefined;
      const [begins, ends] = [timeOf(from), timeOf(to)];
      if (begins === null || ends === null || begins >= ends) return undefined;
      return { from: timestamp(begins), to: timestamp(ends), label };
    });
    return read.includes(undefined) ? undefined : read;
  },
};

/** false takes it away, as null does. */
const isOn: Reader = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};

const readers: { readonly [Name in GuardName]-?: Reader } = {
  max_order_quantity: perSymbol,
  max_position: perSymbol,
  max_orders_per_minute: number(1, 10_000, { whole: true }),
  cooldown_seconds: number(0, 86_400, { above: true }),
  max_daily_loss: amount,
  max_price_deviation_percent: number(0, 100, { above: true }),
  trading_hours: tradingHours,
  pauses,
  require_stop: isOn,
};
// A map, because a hostile "__proto__" or "toString" must not find anything.
const READERS: ReadonlyMap<string, Reader> = new Map(Object.entries(readers));

/** Every guard, null where it is not set: as an account shows them. */
export const showGuards = (guards: Guards): Record<GuardName, unknown> =>
  Object.fromEntries([...READERS.keys()].map((name) => [name, guards[name as GuardName] ?? null])) as Record<
    GuardName,
    unknown
  >;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasOnly = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

const isClock = (value: unknown): boolean => typeof value === 'string' && CLOCK.test(value);

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

function timeOf(value: unknown): number | null {
  if (typeof value !== 'string' || !TIME.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at;
}
