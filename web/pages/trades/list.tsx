// The trades one by one, the last one first.

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { AS_CSV, CsvButton } from '../../parts/csv.tsx';
import { Side, Unreal } from '../../parts/figures.tsx';
import { More } from '../../parts/more.tsx';
import { figure, money, unrealOf } from '../../parts/numbers.ts';
import { Led, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RowLink } from '../../parts/row-link.tsx';
import { RowsNear } from '../../parts/rows-near.tsx';
import { When } from '../../parts/when.tsx';
import { type Asked, queryOf } from './asked.ts';
import styles from './list.module.css';
import { averagePrice, heldInWords, type Summary, type Trade } from './words.ts';

type Page = Schemas['TradePage'];

interface Seen {
  readonly count: number;
  readonly profit: number;
}

/** `seen`: what it was read with. Nobody's rows move until they say so, and nothing is counted anew with each order. */
function useTrades(asked: Asked, currency: string | null, seen: Seen) {
  return useInfiniteQuery({
    queryKey: ['closed-trades', asked, currency, seen],
    placeholderData: keepPreviousData,
    initialPageParam: null as string | null,
    async queryFn({ pageParam: cursor }): Promise<Page> {
      const query = { ...queryOf({ ...asked, currency }, serverNow()), ...(cursor && { cursor }) };
      // It could be CSV too, which nobody asked for.
      return (await read(api.GET('/trading/trades', { params: { query } }))) as Page;
    },
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

export function TradeList({ asked, summary }: { readonly asked: Asked; readonly summary: Summary }) {
  const { trades: count, profit } = summary;
  const [seen, see] = useState<Seen>({ count, profit });
  const list = useTrades(asked, summary.currency, seen);
  const pages = list.data?.pages;
  const trades = useMemo(() => pages?.flatMap(({ items }) => items) ?? [], [pages]);
  const left = seen.count - trades.length;
  const fresh = count - seen.count;
  const ask = () => {
    const query = queryOf({ ...asked, currency: summary.currency }, serverNow());
    return api.GET('/trading/trades', { params: { query }, ...AS_CSV });
  };
  return (
    <>
      <div id="list" tabIndex={-1}>
        <Led>
          <table className={`table listed ${styles.trades}`} aria-rowcount={1 + summary.trades}>
            <thead>
              <tr>
                <th scope="col">
                  <h2>
                    Trades <CsvButton name="fillpath-trades" ask={ask} />
                  </h2>
                </th>
                <th scope="col" className={styles.wide}>
                  Opened
                </th>
                <th scope="col" className={`num ${styles.held}`}>
                  Held
                </th>
                <th scope="col">Trade</th>
                <th scope="col" className="num">
                  Entry → exit
                </th>
                <th scope="col" className="num compared">
                  After fees
                </th>
                <th scope="col" className={`num ${styles.wide}`}>
                  Slippage
                </th>
                <th scope="col">Closed by</th>
                <th scope="col" className={styles.wide}>
                  Strategy
                </th>
                <th scope="col" className={styles.wide}>
                  Stories
                </th>
              </tr>
            </thead>
            {(fresh !== 0 || profit !== seen.profit) && (
              <tbody>
                <tr>
                  <td colSpan={10} className={styles.fresh}>
                    <button type="button" className="link" onClick={() => see({ count, profit })}>
                      {fresh > 0 ? `Show ${figure(fresh)} new` : 'Show what has changed'}
                    </button>
                  </td>
                </tr>
              </tbody>
            )}
            <RowsNear rows={trades}>{(trade, place) => <Row trade={trade} place={place} />}</RowsNear>
          </table>
        </Led>
        {list.isPending && <Skeleton rows={12} />}
        {list.error && <ProblemNote fault={list.error} onAgain={list.refetch} />}
      </div>
      {left > 0 && trades.length > 0 && (
        <p className={styles.end}>
          <More query={list} className="link">
            {`Show ${figure(Math.min(left, 50))} of ${figure(left)} earlier`}
          </More>
        </p>
      )}
    </>
  );
}

function Row({ trade, place }: { readonly trade: Trade; readonly place: number }) {
  const { symbol, side, quantity, entry_price, exit_price, strategy } = trade;
  const word = unrealOf(trade, undefined);
  return (
    <tr className={word ? 'opens hatched' : 'opens'} aria-rowindex={place + 2}>
      <td className={styles.closed}>{trade.closed_at && <When at={trade.closed_at} />}</td>
      <td className={`${styles.wide} quiet`}>
        <When at={trade.opened_at} />
      </td>
      <td className={`num ${styles.held}`}>{heldInWords(trade.held_ms ?? 0)}</td>
      <td className={styles.what}>
        <RowLink to={`/trades/${trade.id}`}>
          <Side side={side} /> {figure(quantity)} {symbol}
        </RowLink>{' '}
        <Unreal word={word} />
      </td>
      <td className={`num ${styles.prices}`}>
        {averagePrice(entry_price)} <span className="quiet">→</span>{' '}
        {exit_price === null ? <span className="quiet">not known</span> : averagePrice(exit_price)}
      </td>
      <td className={`num ${styles.profit}`}>{money(trade.profit)}</td>
      <td className={`num ${styles.wide}`}>
        {trade.slippage === null ? <span className="quiet">–</span> : money(trade.slippage)}
      </td>
      <td className={styles.by}>{trade.closed_by}</td>
      <td className={`${styles.wide} ellipsis`} title={strategy ?? undefined}>
        {strategy ?? <span className="quiet">–</span>}
      </td>
      <td className={`${styles.wide} ${styles.stories}`}>
        <Stories trade={trade} />
      </td>
    </tr>
  );
}

/** Of the order that opened it, and of the one that ended it. */
function Stories({ trade: { entry_order_ids, exit_order_ids } }: { readonly trade: Trade }) {
  const [opened, closed] = [entry_order_ids[0], exit_order_ids.at(-1)];
  return (
    <>
      {opened && <Link to={`/orders/${opened}` as never}>opened</Link>}{' '}
      {closed && <Link to={`/orders/${closed}` as never}>closed</Link>}
    </>
  );
}
