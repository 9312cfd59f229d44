import { amountBars } from '../../parts/geometry.ts';
import { Led } from '../../parts/page.tsx';
import { Bar } from '../../parts/plots/bar.tsx';
import { CsvButton } from './behind.tsx';
import styles from './performance.module.css';
import { inOrder, type SymbolTotals, symbolSheet } from './symbols.ts';

interface BySymbolProps {
  readonly symbols: readonly SymbolTotals[];
  readonly currency: string | null;
  readonly span: string;
}

export function BySymbol({ symbols, currency, span }: BySymbolProps) {
  const ordered = inOrder(symbols);
  const amounts = amountBars(ordered.map(({ realised }) => realised ?? 0));
  const sheet = symbolSheet(ordered, currency);
  const [, ...columns] = sheet.columns;
  const [realised, orders, volume] = columns;
  /** Of several currencies there is none to show. */
  const hasMoney = ordered.some((row) => row.realised !== null);
  return (
    <Led>
      <table className={`table listed ${styles.symbols}`}>
        <thead>
          <tr>
            <th scope="col">
              <h2>
                By symbol <CsvButton sheet={sheet} span={span} />
              </h2>
            </th>
            {hasMoney && (
              <>
                <th scope="col" className="num">
                  {realised?.head}
                </th>
                <th scope="col">
                  <span className="unseen">Realised as a bar</span>
                </th>
              </>
            )}
            {[orders, volume].map((column) => (
              <th key={column?.field} scope="col" className="num">
                {column?.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ordered.map((row, index) => (
            <tr key={row.symbol}>
              <th scope="row">{row.symbol}</th>
              {hasMoney && (
                <>
                  <td className="num">{realised?.said(row) ?? <span className="quiet">not known</span>}</td>
                  <td className={styles.amountCell}>
                    {amounts[index] && <Bar lies={amounts[index]} isHollow={(row.realised ?? 0) < 0} />}
                  </td>
                </>
              )}
              <td className="num" data-head="orders">
                {orders?.said(row)}
              </td>
              <td className="num" data-head="volume">
                {volume?.said(row)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Led>
  );
}
