// Times: local, exact; UTC and age on hover; an age alone only within a minute.

import { useEffect, useState } from 'react';
import { serverNow } from '../api/clock.ts';

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

export const clockTime = (date: Date, milliseconds = false): string =>
  `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}${milliseconds ? `.${pad(date.getMilliseconds(), 3)}` : ''}`;

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
export const dayOf = (date: Date): string => DAY.format(date);

export function ageInWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Ticks while it is on the page, so that an age is never old itself. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface WhenProps {
  readonly at: string;
  readonly milliseconds?: boolean;
  /** Say "17 s ago" within a minute. */
  readonly relative?: boolean;
}

export function When({ at, milliseconds = false, relative = false }: WhenProps) {
  const date = new Date(at);
  const now = serverNow();
  const age = now - date.getTime();
  const isToday = new Date(now).toDateString() === date.toDateString();
  const time = clockTime(date, milliseconds);
  return (
    <time
      dateTime={at}
      title={`${date.toISOString()} UTC, ${age >= 0 ? `${ageInWords(age)} ago` : `in ${ageInWords(-age)}`}`}
    >
      {relative && age >= 0 && age < 60_000 ? (
        <Age at={date.getTime()} />
      ) : isToday ? (
        time
      ) : (
        `${SHORT_DAY.format(date)} ${time}`
      )}
    </time>
  );
}

function Age({ at }: { readonly at: number }) {
  const now = useNow();
  return now - at < 60_000 ? `${ageInWords(now - at)} ago` : clockTime(new Date(at));
}
