import { Fragment } from 'react';
import { Led } from '../../parts/page.tsx';
import { Bar } from '../../parts/plots/bar.tsx';
import { CsvButton } from './behind.tsx';
import { latencySheet, type Span, widthsOf } from './latencies.ts';
import styles from './performance.module.css';

interface HowLongProps {
  readonly spans: readonly Span[];
  readonly span: string;
}

/** Beside each other: the whole way, and what of it the broker took. What lies between the two is ours. */
export function HowLong({ spans, span }: HowLongProps) {
  if (spans.length === 0) return null;
  const widths = widthsOf(spans);
  const sheet = latencySheet(spans);
  const [howLong, whole, broker] = sheet.columns;
  return (
    <Led>
      <table className={`table listed ${styles.spans}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>
                How long orders took <CsvButton sheet={sheet} span={span} />
              </h2>
            </th>
            {[whole, broker].map((column) => (
              <Fragment key={column?.field}>
                <th scope="col" className="num">
                  {column?.head}
                </th>
                <th scope="col">
                  <span className="unseen">As a bar</span>
                </th>
              </Fragment>
            ))}
          </tr>
        </thead>
        <tbody>
          {spans.map((each, index) => (
            <tr key={each.up_to_ms}>
              <th scope="row">{howLong?.said(each)}</th>
              <td className="num" data-head="accepted to answered">
                {whole?.said(each)}
              </td>
              <td className={styles.amountCell}>
                <Bar lies={{ left: 0, width: widths[index]?.orders ?? 0 }} />
              </td>
              <td className="num" data-head="the broker alone">
                {broker?.said(each)}
              </td>
              <td className={styles.amountCell}>
                <Bar lies={{ left: 0, width: widths[index]?.broker ?? 0 }} isHollow />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Led>
  );
}
