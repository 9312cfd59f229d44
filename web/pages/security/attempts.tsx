// The refused attempts: a bar a day, and the list behind it.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts, publicConfig } from '../../api/queries.ts';
import { AS_CSV, CsvButton } from '../../parts/csv.tsx';
import { counted, figure } from '../../parts/numbers.ts';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { shortDay } from '../../parts/times.ts';
import { When } from '../../parts/when.tsx';
import { isCharting } from './addresses.ts';
import { type Attack, byDay, DAYS, inWords, standsOut, whatItSent } from './attacks.ts';
import { attacks } from './questions.ts';
import styles from './security.module.css';

/** How many stand there at first, and how many come with each press. */
const FIRST = 5;
const MORE = 50;

export function Attempts() {
  const { data, error, refetch } = useQuery(attacks);
  const { data: config } = useQuery(publicConfig);
  const [shown, setShown] = useState(FIRST);
  const found = data?.found ?? [];
  const left = found.length - shown;
  return (
    <Section
      title={
        <>
          Attempts
          <span className={styles.key}>
            <span>
              <i className={styles.ofStrangers} /> wrong secret, address or page
            </span>
            <span>
              <i /> too old, sent twice or unreadable
            </span>
          </span>
        </>
      }
      more={<CsvButton name="attempts" ask={() => api.GET('/settings/security-attacks', { ...AS_CSV })} />}
    >
      {error ? (
        <ProblemNote fault={error} onAgain={refetch} />
      ) : data ? (
        <>
          <Plot found={found} />
          {found.length > 0 && <List found={found.slice(0, shown)} />}
          <p className={styles.end}>
            {left > 0 ? (
              <button type="button" className="link" onClick={() => setShown(shown + MORE)}>
                {left > MORE ? `${MORE} more of ${figure(found.length)}` : `All ${figure(found.length)}`}
              </button>
            ) : (
              <span className="quiet">
                {found.length === 0
                  ? `What is refused as an attack is listed here${config?.mail ? ', and you get a mail' : ''}.`
                  : `These are all of the last ${DAYS} days; the CSV has the older ones too.`}
              </span>
            )}
            {!data.isAll && (
              <span className="quiet">the newest {figure(found.length)} are shown; the CSV has them all</span>
            )}
          </p>
        </>
      ) : (
        <Skeleton rows={FIRST + 3} />
      )}
    </Section>
  );
}

/** In the drawing's own units, from the axis up. */
const AXIS = 68;
const TALLEST = 48;
const LEAST = 4;
const AXIS_DAYS = [0, 10, 20, DAYS - 1];
const dayAt = (start: number | undefined): string => shortDay(new Date(start ?? 0));

/** Across, everything is in percent: a phone's bars are narrower, its letters are not. */
function Plot({ found }: { readonly found: readonly Attack[] }) {
  const now = serverNow();
  const days = byDay(found, now);
  const outstanding = standsOut(found, now);
  const most = Math.max(1, ...days.map(({ strangers, others }) => strangers + others));
  const height = (count: number) =>
    count === 0 ? 0 : Math.max(LEAST, (count / Math.max(most, TALLEST / LEAST)) * TALLEST);
  const slot = 100 / DAYS;
  const isLate = (outstanding?.day ?? 0) > DAYS / 2;
  return (
    <svg
      className={styles.plot}
      role="img"
      aria-label={`Refused attempts a day over ${DAYS} days: ${counted(found.length, 'attempt')}${outstanding ? `; ${outstanding.text} on one day` : ''}`}
    >
      {days.map(({ start, strangers, others }, index) => {
        const low = height(others);
        const high = height(strangers);
        const across = { x: `${index * slot + slot * 0.13}%`, width: `${slot * 0.74}%` };
        return (
          <g key={start}>
            <title>{`${dayAt(start)}: ${strangers + others}`}</title>
            {low > 0 && <rect {...across} y={AXIS - low} height={low} className={styles.soft} />}
            {high > 0 && <rect {...across} y={AXIS - low - high} height={high} className={styles.hard} />}
          </g>
        );
      })}
      <line x1="0" x2="100%" y1={AXIS + 0.5} y2={AXIS + 0.5} />
      {outstanding && (
        <text
          x={`${outstanding.day * slot + (isLate ? -0.4 : slot + 0.4)}%`}
          y={AXIS - TALLEST + 8}
          textAnchor={isLate ? 'end' : 'start'}
        >
          {dayAt(days[outstanding.day]?.start)}: {outstanding.text}
        </text>
      )}
      {AXIS_DAYS.map((day) => (
        <text
          key={day}
          x={day === 0 ? '0' : day === DAYS - 1 ? '100%' : `${(day + 0.5) * slot}%`}
          y={AXIS + 16}
          textAnchor={day === 0 ? 'start' : day === DAYS - 1 ? 'end' : 'middle'}
        >
          {dayAt(days[day]?.start)}
        </text>
      ))}
    </svg>
  );
}

function List({ found }: { readonly found: readonly Attack[] }) {
  const { data: all = [] } = useQuery(accounts);
  const names = new Map(all.map(({ id, name }) => [id, name]));
  return (
    <table className={`table listed ${styles.attempts}`}>
      <colgroup>
        <col className={styles.when} />
        <col />
        <col className={styles.type} />
        <col className={styles.account} />
        <col className={styles.from} />
        <col className={styles.from} />
      </colgroup>
      <thead className="unseen">
        <tr>
          <th scope="col">When</th>
          <th scope="col">What</th>
          <th scope="col">Code</th>
          <th scope="col">Account</th>
          <th scope="col">From</th>
          <th scope="col">Known as</th>
        </tr>
      </thead>
      <tbody>
        {found.map((attack) => (
          <tr key={attack.id}>
            <td>
              <When at={attack.created_at} />
            </td>
            <td className="ellipsis" title={attack.error_message ?? undefined}>
              {inWords(attack)}
            </td>
            <td className="id quiet">{attack.type}</td>
            <td className="ellipsis">{names.get(accountOf(attack)) ?? ''}</td>
            <td className="id">{attack.ip_address}</td>
            <td className="num quiet">
              <Sender attack={attack} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sender({ attack }: { readonly attack: Attack }) {
  if (isCharting(attack.ip_address)) return 'charting platform';
  const search = whatItSent(attack);
  return (
    search && (
      <Link to="/signals" search={search as never}>
        what it sent
      </Link>
    )
  );
}

const accountOf = ({ metadata, resource_id }: Attack): string =>
  String(metadata['trading_account_id'] ?? resource_id ?? '');
