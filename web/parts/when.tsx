// Times: local, exact; UTC and age on hover; an age alone only within a minute.

import { useEffect, useState } from 'react';
import { onCorrected, serverNow } from '../api/clock.ts';

import { ageInWords, clockTime, shortDay } from './times.ts';

export { ageInWords, clockTime } from './times.ts';

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
export const dayOf = (date: Date): string => DAY.format(date);

/** Ticks while it is on the page, so that an age is never old itself, and at once where the clock turns out to be wrong. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const tick = () => setNow(serverNow());
    // An answer may have come between the drawing and this.
    setNow((drawn) => (Math.abs(serverNow() - drawn) < 2_000 ? drawn : serverNow()));
    const timer = setInterval(tick, everyMs);
    const forget = onCorrected(tick);
    return () => {
      clearInterval(timer);
      forget();
    };
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
    <time dateTime={at} title={hint(date)} onPointerEnter={tellAge}>
      {relative && age >= 0 && age < 60_000 ? (
        <Age at={date.getTime()} />
      ) : isToday ? (
        time
      ) : (
        `${shortDay(date)} ${time}`
      )}
    </time>
  );
}

function hint(date: Date): string {
  const age = serverNow() - date.getTime();
  return `${date.toISOString()} UTC, ${age >= 0 ? `${ageInWords(age)} ago` : `in ${ageInWords(-age)}`}`;
}

/** A row that does not change is not drawn again, and grows older all the same. */
function tellAge({ currentTarget }: { readonly currentTarget: HTMLTimeElement }): void {
  currentTarget.title = hint(new Date(currentTarget.dateTime));
}

function Age({ at }: { readonly at: number }) {
  const now = useNow();
  return now - at < 60_000 ? `${ageInWords(now - at)} ago` : clockTime(new Date(at));
}
