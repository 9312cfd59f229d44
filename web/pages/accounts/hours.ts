// Trading hours and pauses, in words and as they are typed.

import type { Typed } from '../../parts/settings/numbers.ts';
import type { Guards } from './guards.ts';

export type TradingHours = NonNullable<Guards['trading_hours']>;
export type Window = TradingHours['windows'][number];
export type Pause = NonNullable<Guards['pauses']>[number];
export type Day = Window['days'][number];

export const DAYS: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const capital = (day: string): string => `${day.charAt(0).toUpperCase()}${day.slice(1)}`;

/** `Mon to Fri`, `Mon, Wed`, `every day`. */
export function daysInWords(days: readonly Day[]): string {
  const places = DAYS.map((day, place) => (days.includes(day) ? place : -1)).filter((place) => place >= 0);
  if (places.length === DAYS.length) return 'every day';
  const runs: number[][] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run && run.at(-1) === place - 1) run.push(place);
    else runs.push([place]);
  }
  const name = (place: number | undefined) => capital(DAYS[place ?? 0] ?? '');
  return runs
    .flatMap((run) =>
      run.length > 2 ? [`${name(run[0])} to ${name(run.at(-1))}`] : run.map((place) => name(place)),
    )
    .join(', ');
}

export const hoursInWords = ({ timezone, windows }: TradingHours): string =>
  `${windows.map(({ days, from, to }) => `${daysInWords(days)} ${from} to ${to}`).join('; ')}, ${timezone.replaceAll('_', ' ')}`;

const CLOCK = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** A window may pass midnight; its days are those on which it begins. */
export function readHours(timezone: string, windows: readonly Window[]): Typed<TradingHours> {
  if (timezone.trim() === '') return { problem: 'Choose a time zone.' };
  if (windows.length === 0) return { problem: 'Add a window, or remove the guard.' };
  for (const { days, from, to } of windows) {
    if (days.length === 0) return { problem: 'Choose the days of each window.' };
    if (!CLOCK.test(from) || !(CLOCK.test(to) || to === '24:00')) return { problem: 'Write times as 09:30.' };
    if (from === to) return { problem: 'A window cannot end at the time it begins.' };
  }
  return { value: { timezone: timezone.trim(), windows: [...windows] } };
}

const WHEN = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const CLOCK_TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** Local: `US consumer prices, Fri 13 Nov 14:25 to 14:45`. */
export function pauseInWords({ from, to, label }: Pause): string {
  const [begins, ends] = [new Date(from), new Date(to)];
  const isOneDay = begins.toDateString() === ends.toDateString();
  const when = `${said(begins)} to ${isOneDay ? CLOCK_TIME.format(ends) : said(ends)}`;
  return label ? `${label}, ${when}` : when;
}
const said = (date: Date): string => WHEN.format(date).replaceAll(',', '');

/** From two fields of local time (`2026-11-13T14:25`). What is over at `now` is no longer worth keeping. */
export function readPause({ from, to, label }: Pause, now: number): Typed<Pause> {
  const [begins, ends] = [Date.parse(from), Date.parse(to)];
  if (Number.isNaN(begins) || Number.isNaN(ends)) return { problem: 'Say when it begins and when it ends.' };
  if (begins >= ends) return { problem: 'It ends before it begins.' };
  if (ends <= now) return { problem: 'It is over already.' };
  return {
    value: { from: new Date(begins).toISOString(), to: new Date(ends).toISOString(), label: label.trim() },
  };
}

export const withPause = (pauses: readonly Pause[] | null, added: Pause, now: number): Pause[] =>
  [...(pauses ?? []).filter(({ to }) => Date.parse(to) > now), added].sort(
    (one, other) => Date.parse(one.from) - Date.parse(other.from),
  );
