// An account's guards: what holds an entry back, decided right before it is sent. Exits and closes are never held back. What
// cannot be verified is refused.

import { absolute, average, compare, type Decimal, decimal, multiply, subtract } from '../decimal.ts';
import { millis, type Timestamp, timestamp } from '../ids.ts';
import { secondsLeftOfDay } from '../orders/entitlement.ts';
import type { GuardVerdict, OrderError, Side, Source } from '../orders/order.ts';

/** For every symbol, or symbol by symbol; "*" is every other one. */
type PerSymbol = number | Readonly<Record<string, number>>;

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Day = (typeof DAYS)[number];

interface TradingHours {
  readonly timezone: string;
  /** One that ends before it begins passes midnight; its day is the one it begins on. */
  readonly windows: readonly { readonly days: readonly Day[]; readonly from: string; readonly to: string }[];
}

interface Pause {
  readonly from: Timestamp;
  readonly to: Timestamp;
  readonly label: string;
}

/** As the contract writes them, and as they are stored. Those that are not there hold nothing back. */
export interface Guards {
  readonly max_order_quantity?: PerSymbol;
  /** After the fill. */
  readonly max_position?: PerSymbol;
  readonly max_orders_per_minute?: number;
  /** Between two entries in one symbol. */
  readonly cooldown_seconds?: number;
  /** Of equity, since the day's first order; on the day on which it is set, since then. */
  readonly max_daily_loss?: number;
  /** Between the broker's price and the signal's. */
  readonly max_price_deviation_percent?: number;
  readonly trading_hours?: TradingHours;
  readonly pauses?: readonly Pause[];
  /** What it opens or adds to is to have a stop. */
  readonly require_stop?: true;
}

export type GuardName = keyof Guards;

/** What is known right before an entry is sent; null: it could not be found out. */
export interface GuardFacts {
  readonly now: number;
  readonly source: Source;
  readonly side: Side;
  /** Of the entry. */
  readonly quantity: Decimal;
  /** Signed. */
  readonly positionAfter: Decimal;
  /** Whether the name of a guard's entry means the order's symbol. */
  isSymbol(name: string): boolean;
  readonly entriesInLastMinute: number | null;
  /** In this symbol; null in it: there was none. */
  readonly lastEntry: { readonly at: Timestamp | null } | null;
  /** `first`: at the day's first order, or when the guard was set on that day; null: it was not noted then. */
  readonly equity: { readonly now: Decimal; readonly first: Decimal | null } | null;
  /** The signal's. */
  readonly price: Decimal | null;
  /** What the broker would fill at: the ask for a buy. */
  readonly brokerPrice: Decimal | null;
  /** A stop comes with the entry, or stands for what it adds to. */
  readonly hasStop?: boolean | null;
}

export const judgeEntry = (guards: Guards, facts: GuardFacts): GuardVerdict[] =>
  judgedBy(GUARDS, guards, facts);

function judgedBy(which: typeof GUARDS, guards: Guards, facts: GuardFacts): GuardVerdict[] {
  return which.flatMap(({ guard, judge }) => {
    const found = judge(guards, facts);
    if (found === null) return [];
    return [{ guard, outcome: found.passes ? 'passed' : 'refused', reason: found.reason } as const];
  });
}

/** Those that hold at any moment, whatever is traded. */
export const judgeHours = (guards: Guards, now: number): GuardVerdict[] =>
  judgedBy(
    GUARDS.filter(({ guard }) => guard === 'trading_hours' || guard === 'pauses'),
    guards,
    { now } as GuardFacts,
  );

/** The first that refused; null: none did. */
export function guardRefusal(verdicts: readonly GuardVerdict[]): OrderError | null {
  const refused = verdicts.find(({ outcome }) => outcome === 'refused');
  if (!refused) return null;
  const { guard, reason } = refused;
  return {
    code: 'guard_refused',
    guard,
    message: `The account's guard ${guard} held the entry back: ${reason}.`,
  };
}

type Found = { readonly passes: boolean; readonly reason: string } | null;
type Judge = (guards: Guards, facts: GuardFacts) => Found;

/** In this order they are judged and shown. `null`: it is not set, or not concerned. */
const GUARDS: readonly { readonly guard: GuardName; readonly judge: Judge }[] = [
  {
    guard: 'max_order_quantity',
    judge: ({ max_order_quantity }, { quantity, isSymbol }) =>
      atMost(quantity, ofSymbol(max_order_quantity, isSymbol), 'the entry is for'),
  },
  {
    guard: 'max_position',
    judge: ({ max_position }, { positionAfter, isSymbol }) =>
      atMost(absolute(positionAfter), ofSymbol(max_position, isSymbol), 'the position would be'),
  },
  {
    guard: 'max_orders_per_minute',
    judge({ max_orders_per_minute: most }, { entriesInLastMinute: sent }) {
      if (most === undefined) return null;
      if (sent === null) return unverified('how many entries were sent in the last minute');
      return {
        passes: sent < most,
        reason: `${sent} entries were sent in the last minute, and at most ${most} is allowed`,
      };
    },
  },
  {
    guard: 'cooldown_seconds',
    judge({ cooldown_seconds: least }, { lastEntry, now }) {
      if (least === undefined) return null;
      if (lastEntry === null) return unverified('when the last entry in this symbol was sent');
      if (lastEntry.at === null) return { passes: true, reason: 'there was no entry in this symbol before' };
      const seconds = (now - millis(lastEntry.at)) / 1000;
      return {
        passes: seconds >= least,
        reason: `the last entry in this symbol was ${seconds} s ago, and ${least} s must lie between two entries`,
      };
    },
  },
  {
    guard: 'max_daily_loss',
    judge({ max_daily_loss: most }, { equity, now }) {
      if (most === undefined) return null;
      if (equity === null) return unverified('the equity of the account');
      if (equity.first === null)
        return {
          passes: false,
          reason: `what the equity was at the day's first order was not noted; it will be from ${timestamp(now + secondsLeftOfDay(now) * 1000)} on`,
        };
      const loss = subtract(equity.first, equity.now);
      return {
        passes: compare(loss, decimal(most)) <= 0,
        reason: `the equity is ${equity.now}, it was ${equity.first} at the day's first order or when the guard was set, and at most ${most} may be lost`,
      };
    },
  },
  {
    guard: 'max_price_deviation_percent',
    judge({ max_price_deviation_percent: most }, { source, price, brokerPrice }) {
      if (most === undefined || source === 'dashboard') return null;
      if (price === null) return { passes: false, reason: 'the signal brought no price to compare with' };
      if (brokerPrice === null) return unverified("the broker's price");
      const apart = average(multiply(absolute(subtract(brokerPrice, price)), decimal(100)), price);
      return {
        passes: compare(apart, decimal(most)) <= 0,
        reason: `the broker's price ${brokerPrice} is ${apart} % from the signal's ${price}, and at most ${most} % is allowed`,
      };
    },
  },
  {
    guard: 'trading_hours',
    judge({ trading_hours: hours }, { now }) {
      if (hours === undefined) return null;
      const { day, minute } = localTime(now, hours.timezone);
      const passes = hours.windows.some((window) => isInside(window, day, minute));
      const clock = `${DAYS[day]} ${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
      return {
        passes,
        reason: `it is ${clock} in ${hours.timezone}, ${passes ? 'inside' : 'outside'} the hours`,
      };
    },
  },
  {
    guard: 'pauses',
    judge({ pauses }, { now }) {
      if (pauses === undefined) return null;
      const pause = pauses.find(({ from, to }) => now >= millis(from) && now < millis(to));
      if (!pause) return { passes: true, reason: 'there is no pause now' };
      return { passes: false, reason: `there is a pause until ${pause.to}: ${pause.label}` };
    },
  },
  {
    guard: 'require_stop',
    judge({ require_stop: isRequired }, { hasStop = null }) {
      if (!isRequired) return null;
      if (hasStop === null) return unverified('whether a stop would stand for the position');
      return {
        passes: hasStop,
        reason: hasStop
          ? 'a stop comes with the entry, or stands for the position'
          : 'neither the entry nor the account’s protection_defaults bring a stop, and none stands for the position',
      };
    },
  },
];

const unverified = (what: string): Found => ({ passes: false, reason: `${what} could not be found out` });

function ofSymbol(limit: PerSymbol | undefined, isSymbol: (name: string) => boolean): number | null {
  if (limit === undefined || typeof limit === 'number') return limit ?? null;
  const named = Object.entries(limit).filter(([name]) => name !== '*' && isSymbol(name));
  // Of several spellings of one symbol the strictest holds.
  return named.length > 0 ? Math.min(...named.map(([, most]) => most)) : (limit['*'] ?? null);
}

const atMost = (amount: Decimal, most: number | null, what: string): Found =>
  most === null
    ? null
    : {
        passes: compare(amount, decimal(most)) <= 0,
        reason: `${what} ${amount}, and at most ${most} is allowed`,
      };

/** The weekday, 0 is Monday, and the minute of the day. */
function localTime(now: number, timezone: string): { day: number; minute: number } {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const day = DAYS.indexOf(parts.weekday?.toLowerCase() as Day);
  return { day, minute: Number(parts.hour) * 60 + Number(parts.minute) };
}

/** From is inside, to is not. */
function isInside({ days, from, to }: TradingHours['windows'][number], day: number, minute: number): boolean {
  const [begins, ends] = [minutesOf(from), minutesOf(to)];
  const isOn = (which: number) => days.some((name) => name === DAYS[which]);
  if (begins < ends) return isOn(day) && minute >= begins && minute < ends;
  // Past midnight: today's has begun, or yesterday's has not ended.
  return (isOn(day) && minute >= begins) || (isOn((day + 6) % 7) && minute < ends);
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
