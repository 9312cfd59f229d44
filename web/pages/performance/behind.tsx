// What lies behind a plot: its figures as a table, and as a file.

import { saveFile } from '../../parts/csv.tsx';
import styles from './performance.module.css';
import { csvOf, type Sheet } from './sheets.ts';

/** Made here, of what is shown: nobody is asked again. */
const save = (name: string, text: string): void =>
  saveFile(name, new Blob([text], { type: 'text/csv;charset=utf-8' }));

export function CsvButton<Of>({ sheet, span }: { readonly sheet: Sheet<Of>; readonly span: string }) {
  return (
    <button
      type="button"
      className="link"
      aria-label={`CSV of ${sheet.name}`}
      onClick={() => save(`fillpath-${sheet.name}-${span}.csv`, csvOf(sheet))}
    >
      CSV
    </button>
  );
}

interface TableProps<Of> {
  readonly sheet: Sheet<Of>;
  readonly title: string;
  readonly keyOf: (row: Of) => string;
}

/** The newest first; it scrolls by itself, also by keyboard. */
export function SheetTable<Of>({ sheet, title, keyOf }: TableProps<Of>) {
  if (sheet.rows.length === 0) return <p className="quiet">Nothing on these days.</p>;
  const [first, ...others] = sheet.columns;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={styles.scrolled} aria-label={`${title}, table`} tabIndex={0}>
      <table className={`table dense listed ${styles.sheet}`}>
        <thead>
          <tr>
            {sheet.columns.map(({ head }, index) => (
              <th key={head} scope="col" className={index === 0 ? '' : 'num'}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sheet.rows.toReversed().map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row">{first?.said(row)}</th>
              {others.map((column) => (
                <td key={column.field} className="num" data-head={column.head}>
                  {column.said(row) ?? <span className="quiet">not known</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
