// Numbers and times as they are spelled on every page. Pure, so that sentences can be made of them without a page.

const MINUS = '\u2212';
const GROUPED = new Intl.NumberFormat('en', { maximumFractionDigits: 20, useGrouping: 'always' });

/** With groups and a real minus sign. */
export const figure = (value: number): string => GROUPED.format(value).replace('-', MINUS);
/** A profit has its sign, and zero has none. */
export const signed = (value: number): string => (value > 0 ? `+${figure(value)}` : figure(value));
/** Money to its cent, where it is a sum of ours and not a broker's price. */
export const money = (value: number): string =>
  signed(Math.round(value * 100) / 100).replace(/(\.\d)$/, '$10');

/** `1 order`, `2 orders`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`;

/** A signed position: `long 1.5`, `short 2`, `flat`. */
export const heldInWords = (position: number): string =>
  position === 0 ? 'flat' : `${position > 0 ? 'long' : 'short'} ${figure(Math.abs(position))}`;

/** Exact: binary fractions would leave a dust that no broker trades. */
export function difference(from: number, to: number): number {
  const digits = Math.max(decimals(from), decimals(to));
  return Number((to - from).toFixed(Math.min(digits, 20)));
}
function decimals(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

// Times

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

export const clockTime = (date: Date, milliseconds = false): string =>
  `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}${milliseconds ? `.${pad(date.getMilliseconds(), 3)}` : ''}`;

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
export const shortDay = (date: Date): string => SHORT_DAY.format(date);

/** To the minute: `09:12`, and with its day where that is not today's. */
export function minuteOf(date: Date, now: Date): string {
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  return date.toDateString() === now.toDateString() ? time : `${shortDay(date)}, ${time}`;
}

export function ageInWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
