// Seven figures; each leads to its proof.

import type { ReactNode } from 'react';
import { minus } from '../../parts/exact.ts';
import { figure, money } from '../../parts/numbers.ts';
import { localDay, shortDay } from './asked.ts';
import styles from './trades.module.css';
import { factor, percent, type Summary } from './words.ts';

const dayOf = (at: string): string => shortDay(localDay(new Date(at)));

export function Figures({ summary }: { readonly summary: Summary }) {
  const { currency, trades, won, not_known, fees, profit, drawdown, losses_in_a_row: run } = summary;
  const tooFew = 'too few to say more';
  const unit = currency ?? '';
  const { average_win: win, average_loss: loss } = summary;
  const worst = summary.days.toSorted((a, b) => a.profit - b.profit)[0];
  const before = minus(profit, -fees);
  const unknown = not_known > 0 ? `, ${figure(not_known)} not known` : '';
  return (
    <dl className={styles.figures}>
      <One
        name="Won"
        to="#closers"
        value={summary.win_rate === null ? figure(won) : percent(summary.win_rate)}
        note={
          summary.win_rate === null
            ? `of ${figure(trades)}${unknown}, ${tooFew}`
            : `${figure(won)} of ${figure(trades)}${unknown}`
        }
      />
      <One
        name="Profit factor"
        to="#closers"
        value={summary.profit_factor === null ? '–' : factor(summary.profit_factor)}
        note={`${money(summary.won_profit)} and ${money(summary.lost_profit)}`}
      />
      <One
        name="Expectancy"
        to="#list"
        value={summary.expectancy === null ? '–' : money(summary.expectancy)}
        unit={summary.expectancy === null ? '' : unit}
        note={summary.expectancy === null ? tooFew : 'a trade, after fees'}
      />
      <One
        name="Average win, loss"
        to="#list"
        value={`${win === null ? '–' : money(win)}, ${loss === null ? '–' : money(loss)}`}
        note={win !== null && loss ? `${factor(win / -loss)} to 1` : win === null ? 'none won' : 'none lost'}
      />
      <One
        name="Deepest drawdown"
        to="#equity"
        value={drawdown ? money(drawdown.amount) : '–'}
        unit={drawdown ? unit : ''}
        note={
          drawdown
            ? `${dayOf(drawdown.from)} to ${dayOf(drawdown.to)}, ${drawdown.back_at ? `back ${dayOf(drawdown.back_at)}` : 'not back yet'}`
            : 'none'
        }
      />
      <One
        name="Losses in a row"
        to="#days"
        value={figure(run?.trades ?? 0)}
        note={
          worst && worst.profit < 0
            ? `worst day ${money(worst.profit)}, ${shortDay(worst.day)}`
            : 'no day lost'
        }
      />
      <One
        name="Fees"
        to="#list"
        value={money(-fees)}
        unit={unit}
        note={
          summary.fees_unknown > 0
            ? `of ${figure(summary.fees_unknown)} fills not known`
            : before > 0
              ? `${Math.round((fees / before) * 100)} % of the profit before them`
              : 'all are known'
        }
      />
    </dl>
  );
}

interface OneProps {
  readonly name: string;
  /** Where it is proved. */
  readonly to: string;
  readonly value: ReactNode;
  readonly unit?: string;
  readonly note: string;
}

const One = ({ name, to, value, unit, note }: OneProps) => (
  <div>
    <dt>
      <a href={to} onClick={(event) => scrollTo(event, to)}>
        {name}
      </a>
    </dt>
    <dd>
      {value} {unit && <small>{unit}</small>}
    </dd>
    <dd>{note}</dd>
  </div>
);

/** Without a step in the history: the address says what is shown, not where one looks. */
function scrollTo(event: { preventDefault(): void }, to: string): void {
  event.preventDefault();
  const section = document.querySelector<HTMLElement>(to);
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
}
