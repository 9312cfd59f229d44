// What trades have in common: symbol, strategy, what closed them, and the hour in which they were opened.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { amountBars, bars, columns, linearScale } from '../../parts/geometry.ts';
import { figure, money } from '../../parts/numbers.ts';
import { Led, Section } from '../../parts/page.tsx';
import { Bar } from '../../parts/plots/bar.tsx';
import plots from '../../parts/plots/plots.module.css';
import { useWidth } from '../../parts/use-width.ts';
import styles from './trades.module.css';

interface Row {
  /** Null: they have none. */
  readonly name: string | null;
  readonly trades: number;
  readonly won: number;
  readonly profit: number;
}

interface ByNameProps {
  readonly title: string;
  readonly currency: string | null;
  readonly rows: readonly Row[];
  readonly search: (name: string) => never;
}

/** Rows of which a name leads to its trades; the one that earned most first. */
export function ByName({ title, currency, rows, search }: ByNameProps) {
  const ordered = rows.toSorted((a, b) => b.profit - a.profit);
  const amounts = amountBars(ordered.map(({ profit }) => profit));
  return (
    <div id={title === 'By what closed it' ? 'closers' : undefined} tabIndex={-1}>
      <Led>
        <table className={`table ${styles.by}`}>
          <thead>
            <tr>
              <th scope="col">
                <h2>{title}</h2>
              </th>
              <th scope="col" className="num">
                After fees, {currency}
              </th>
              <th scope="col" className={styles.barCell}>
                <span className="unseen">As a bar</span>
              </th>
              <th scope="col" className="num">
                Won
              </th>
            </tr>
          </thead>
          <tbody>
            {ordered.map(({ name, trades, won, profit }, index) => (
              <tr key={name ?? ''}>
                <th scope="row" className="ellipsis" title={name ?? undefined}>
                  {name === null ? (
                    <span className="quiet">without an id</span>
                  ) : (
                    <Link to="/trades" search={search(name)} className={styles.plain}>
                      {name}
                    </Link>
                  )}
                </th>
                <td className="num">{money(profit)}</td>
                <td className={styles.barCell}>
                  {amounts[index] && <Bar lies={amounts[index]} isHollow={profit < 0} />}
                </td>
                <td className="num">
                  {figure(won)} of {figure(trades)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Led>
    </div>
  );
}

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const HEIGHT = 112;
const two = (hour: number) => String(hour).padStart(2, '0');

export function ByHour({
  hours,
  currency,
}: {
  readonly hours: readonly Schemas['TradesHour'][];
  readonly currency: string | null;
}) {
  const [measure, width] = useWidth();
  const known = new Map(hours.map((row) => [row.hour, row.profit]));
  const values = HOURS.map((hour) => known.get(hour) ?? null);
  const scale = linearScale(values, HEIGHT, 3);
  const places = columns(HOURS.length, width);
  const drawn = bars(values, places, scale);
  const best = hours.toSorted((a, b) => b.profit - a.profit)[0];
  const said = hours.map(({ hour, profit }) => `${two(hour)}: ${money(profit)}`).join(', ');
  return (
    <Section title="By hour" more={<span className="quiet">opened at, after fees, {currency}</span>}>
      <div ref={measure}>
        <svg
          className={plots.drawing}
          role="img"
          aria-label={`After fees by the hour in which a trade was opened. ${said}`}
          width={width}
          height={HEIGHT + 20}
        >
          <path className={plots.bars} d={drawn.above} />
          <path className={plots.hollow} d={drawn.below} />
          <path className={plots.zero} d={`M0 ${scale.y(0)}H${width}`} />
          {HOURS.filter((hour) => hour % 3 === 0).map((hour) => (
            <text key={hour} className={plots.name} x={places.middle(hour)} y={HEIGHT + 10}>
              {two(hour)}
            </text>
          ))}
          {best && best.profit > 0 && (
            <text
              className={best.hour > 14 ? `${plots.words} ${plots.leftwards}` : plots.words}
              x={places.middle(best.hour)}
              y={10}
            >
              {two(best.hour)}: {money(best.profit)}
            </text>
          )}
        </svg>
      </div>
    </Section>
  );
}
