// The days of the trades, week by week from Monday to Sunday. Pure.

import type { components } from '../../api/schema.ts';
import { plus } from '../../parts/exact.ts';
import { dayAfter, longDay } from './asked.ts';

type Schemas = components['schemas'];

export interface CalendarDay {
  readonly day: string;
  /** With its month where that is new. */
  readonly name: string;
  /** Null: no trade was closed on it. */
  readonly sum: Pick<Schemas['TradesDay'], 'profit' | 'trades' | 'won'> | null;
  /** Of the largest, in percent. */
  readonly width: number;
}

export interface Week {
  /** Its Monday. */
  readonly key: string;
  /** Null: outside of what is asked for. */
  readonly days: readonly (CalendarDay | null)[];
  readonly profit: number | null;
}

/** Half a year: older ones are reached by a time of one's own. */
const MOST_WEEKS = 26;

const weekday = (day: string): number => (new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7;

export function weeksOf(
  days: readonly Schemas['TradesDay'][],
  { first, last }: { readonly first: string | null; readonly last: string },
): { readonly weeks: readonly Week[]; readonly isCut: boolean } {
  const begins = first ?? days[0]?.day ?? last;
  const monday = dayAfter(begins, -weekday(begins));
  const earliest = dayAfter(dayAfter(last, -weekday(last)), -7 * (MOST_WEEKS - 1));
  const isCut = monday < earliest;
  const known = new Map(days.map((day) => [day.day, day]));
  const largest = Math.max(...days.map(({ profit }) => Math.abs(profit)), 0);
  const weeks: Week[] = [];
  let isNamed = '';
  for (let key = isCut ? earliest : monday; key <= last; key = dayAfter(key, 7)) {
    const inWeek = Array.from({ length: 7 }, (_, index) => dayAfter(key, index)).map((day) => {
      if (day < begins || day > last) return null;
      const sum = known.get(day) ?? null;
      const name =
        isNamed === day.slice(0, 7) ? String(Number(day.slice(8))) : longDay(day).replace(/ \d{4}$/, '');
      isNamed = day.slice(0, 7);
      const width = sum && largest > 0 ? Math.max(3, Math.round((Math.abs(sum.profit) / largest) * 100)) : 0;
      return { day, name, sum, width };
    });
    const sums = inWeek.flatMap((day) => day?.sum ?? []);
    weeks.push({
      key,
      days: inWeek,
      profit: sums.length === 0 ? null : sums.reduce((all, { profit }) => plus(all, profit), 0),
    });
  }
  return { weeks, isCut };
}
