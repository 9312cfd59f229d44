// What the masthead's search found: orders by symbol, id or reference, and the signals of that symbol.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../api/client.ts';
import { accounts as allAccounts } from '../../api/queries.ts';
import type { Order } from '../../parts/happened.ts';
import { counted } from '../../parts/numbers.ts';
import { Page, Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { spelled } from '../../parts/symbol.ts';
import { Columns, OrderRow, SignalRow, useAccountOf } from './row.tsx';
import { useRowKeys } from './row-keys.ts';
import styles from './signals.module.css';

const PAGE = 50;
/** No symbol, id or reference has a space in it. */
const asAsked = (text: string): string => text.replace(/\s+/g, '').slice(0, 128);

/** What was typed is its beginning, or an order's id. */
function oneSymbol(orders: readonly Order[]): string | null {
  const [symbol = null, ...others] = new Set(
    orders.map(({ symbol, broker_name }) => spelled(symbol, broker_name)),
  );
  return others.length === 0 ? symbol : null;
}

export function Found({ text }: { readonly text: string }) {
  const search = asAsked(text);
  const table = useRowKeys();
  const { data: accounts } = useQuery(allAccounts);
  const accountOf = useAccountOf(accounts);
  const orders = useInfiniteQuery({
    queryKey: ['orders', 'list', { search }],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/trading/orders', {
          params: {
            query: { search, limit: PAGE, ...(pageParam && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const found = orders.data?.pages.flatMap(({ items }) => items) ?? [];
  const symbol = oneSymbol(found) ?? search.toUpperCase();
  const signals = useQuery({
    queryKey: ['signals', 'list', 'of', symbol],
    queryFn: () =>
      read(api.GET('/trading/signals', { params: { query: { instrument: symbol, limit: PAGE } } })),
    enabled: !orders.isPending,
  });
  const arrived = signals.data?.items ?? [];
  const count = `${orders.hasNextPage ? 'More than ' : ''}${counted(found.length, 'order')}`;
  return (
    <Page
      title={`${text}: ${count}`}
      answer={
        <>
          {orders.isSuccess ? count : 'Orders'} <span className="quiet">for {text}</span>
        </>
      }
      facts={
        <span>
          <Link to={'/signals' as never}>All signals of today</Link>
        </span>
      }
    >
      {orders.error && <ProblemNote fault={orders.error} />}
      {orders.isPending ? (
        <Skeleton rows={8} />
      ) : (
        <>
          <table ref={table} className={`table listed ${styles.signals} ${styles.days}`}>
            <Columns />
            <tbody>
              {found.map((order) => (
                <OrderRow key={order.order_id} order={order} account={accountOf(order.trading_account_id)} />
              ))}
            </tbody>
          </table>
          {found.length === 0 && !orders.error && (
            <p className={styles.nothing}>
              No order’s symbol begins with this, and none has it as its id, client order id or broker
              reference.
            </p>
          )}
          {orders.hasNextPage && (
            <p className={styles.end}>
              <button type="button" className="link" onClick={() => void orders.fetchNextPage()}>
                Older
              </button>
            </p>
          )}
        </>
      )}
      {arrived.length > 0 && (
        <Section
          title={`Signals of ${symbol}`}
          more={
            <Link to={'/signals' as never} search={{ symbol, time: 'all' } as never}>
              All of them
            </Link>
          }
        >
          <table className={`table listed ${styles.signals} ${styles.days}`}>
            <Columns />
            <tbody>
              {arrived.map((signal) => (
                <SignalRow
                  key={signal.id}
                  signal={signal}
                  order={found.find(({ order_id }) => order_id === signal.order_id) ?? null}
                  account={accountOf(signal.trading_account_id)}
                />
              ))}
            </tbody>
          </table>
        </Section>
      )}
    </Page>
  );
}
