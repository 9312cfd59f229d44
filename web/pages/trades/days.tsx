// A calendar of days: what each came to, with a bar that is hollow for a loss. A day opens its trades.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { counted, money } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { type Asked, longDay, searchOf } from './asked.ts';
import { type CalendarDay, weeksOf } from './calendar.ts';
import styles from './days.module.css';

interface DaysProps {
  readonly days: readonly Schemas['TradesDay'][];
  readonly asked: Asked;
  readonly first: string | null;
  readonly last: string;
  readonly zone: string;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

export function Days({ days, asked, first, last, zone }: DaysProps) {
  const { weeks, isCut } = weeksOf(days, { first, last });
  return (
    <div id="days" tabIndex={-1}>
      <Section
        title="Days"
        more={
          <span className="quiet">
            in {zone}; limits count in UTC{isCut && '; the last 26 weeks'}
          </span>
        }
      >
        <table className={styles.month}>
          <thead>
            <tr>
              {WEEKDAYS.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col" className={styles.week}>
                week
              </th>
            </tr>
          </thead>
          <tbody>
            {weeks.map(({ key, days: inWeek, profit }) => (
              <tr key={key}>
                {inWeek.map((day, index) => (
                  <td key={WEEKDAYS[index]}>{day && <Day day={day} asked={asked} />}</td>
                ))}
                <td className={styles.week}>{profit !== null && money(profit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </div>
  );
}

/** On a phone: whole, but what is less than one. */
const brief = (profit: number): string =>
  Math.abs(profit) < 1 ? money(profit) : money(profit).replace(/\.\d+$/, '');

function Day({
  day: { day, name, sum, width },
  asked,
}: {
  readonly day: CalendarDay;
  readonly asked: Asked;
}) {
  const [, ...rest] = longDay(day).split(name);
  const date = (
    <small>
      {name}
      <span className="unseen">{rest.join(name)} </span>
    </small>
  );
  if (!sum) return date;
  return (
    <Link to="/trades" search={searchOf({ ...asked, from: day, to: day })} className={styles.day}>
      {date} <span className={styles.exact}>{money(sum.profit)}</span>
      <span className={styles.brief}>{brief(sum.profit)}</span>{' '}
      <small className={styles.count}>{counted(sum.trades, 'trade')}</small>
      <i
        className={sum.profit < 0 ? `${styles.bar} ${styles.hollow}` : styles.bar}
        style={{ width: `${width}%` }}
      />
    </Link>
  );
}
