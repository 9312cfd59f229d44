// Times as they are spelled on every page. Pure, so that sentences can be made of them without a page.

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
