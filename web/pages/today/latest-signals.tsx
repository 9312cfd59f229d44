// The latest arrivals. They do not move under the pointer: what is new waits behind one line until it is asked for.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { useOrderChanges } from '../../live/live.tsx';
import { DeletedAccount, Side, Unreal } from '../../parts/figures.tsx';
import { happened } from '../../parts/happened.ts';
import { figure, unrealOf } from '../../parts/numbers.ts';
import { Led, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { SignalStatus } from '../../parts/signal-status.tsx';
import { Size } from '../../parts/size.tsx';
import { unitsOf } from '../../parts/sizes.ts';
import { spelled } from '../../parts/symbol.ts';
import { When } from '../../parts/when.tsx';
import styles from './latest-signals.module.css';

type Overview = Schemas['Overview'];
type Signal = Schemas['SignalSummary'];

const SHOWN = 8;
/** They come with the stream; this is for when it is away. */
const ASK_MS = 30_000;

/** Orders come from elsewhere, too; some more are read, so that those of the signals are among them. */
const ORDERS = 20;

const latestSignals = {
  queryKey: ['signals', 'latest'],
  async queryFn() {
    const signals = await read(api.GET('/trading/signals', { params: { query: { limit: SHOWN } } }));
    // They say why something was rejected. Without them the list says less, and stands.
    const orders = await read(
      api.GET('/trading/orders', { params: { query: { limit: ORDERS, source: 'webhook' } } }),
    ).catch(() => ({ items: [] }));
    return { signals: signals.items, orders: orders.items };
  },
  refetchInterval: ASK_MS,
};

export function LatestSignals({ overview }: { readonly overview: Overview }) {
  const queries = useQueryClient();
  const { data, error } = useQuery(latestSignals);
  useOrderChanges(
    useCallback(() => void queries.invalidateQueries({ queryKey: latestSignals.queryKey }), [queries]),
  );
  const { shown, fresh, hold, release } = useHeld(data?.signals);
  const { total } = overview.signals_today;

  return (
    <Led>
      <table
        className={`table listed ${styles.signals}`}
        onPointerEnter={hold}
        onPointerLeave={({ currentTarget }) => {
          if (!currentTarget.contains(document.activeElement)) release();
        }}
        onFocus={hold}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.matches(':hover') && !currentTarget.contains(relatedTarget)) release();
        }}
      >
        <colgroup>
          <col className={styles.colTime} />
          <col className={styles.colAccount} />
          <col className={styles.colAction} />
          <col className={styles.colQuantity} />
          <col className={styles.colSymbol} />
          <col className={styles.colStatus} />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              <h2>
                Latest signals
                <Link to="/signals" className={styles.phoneMore}>
                  {allOf(total)}
                </Link>
              </h2>
            </th>
            <th scope="col" colSpan={3} className={styles.signal}>
              <span>Signal</span>
            </th>
            <th scope="col">Status</th>
            <th scope="col">
              <span className={styles.head}>
                <span>What happened</span> <Link to="/signals">{allOf(total)}</Link>
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {/* Its space is kept: no row moves under the pointer when something comes. */}
          {shown.length > 0 && (
            <tr className={fresh > 0 ? styles.fresh : styles.calm}>
              <td colSpan={7}>
                {fresh > 0 ? (
                  <button type="button" className="link" onClick={release}>
                    Show {figure(fresh)} new
                  </button>
                ) : (
                  <span className="quiet">Nothing new</span>
                )}
              </td>
            </tr>
          )}
          {shown.map((signal) => (
            <SignalRow
              key={signal.id}
              signal={signal}
              order={data?.orders.find(({ order_id }) => order_id === signal.order_id)}
              account={overview.accounts.find(({ id }) => id === signal.trading_account_id)}
            />
          ))}
          {shown.length === 0 && data && (
            <tr>
              <td colSpan={7} className="quiet">
                None has arrived yet.
              </td>
            </tr>
          )}
        </tbody>
      </table>
      {!data && (error ? <ProblemNote fault={error} /> : <Skeleton rows={SHOWN} />)}
    </Led>
  );
}

const allOf = (total: number): string => (total === 0 ? 'All' : `All ${figure(total)} of today`);

/** While somebody points at the list it stays as it is, but for what becomes of the signals in it. */
function useHeld(items: readonly Signal[] | undefined) {
  const [held, setHeld] = useState<readonly Signal[] | null>(null);
  const now = items ?? [];
  const newest = held?.[0]?.arrived_at;
  const shown = held?.map((signal) => now.find(({ id }) => id === signal.id) ?? signal) ?? now;
  return {
    shown,
    fresh: newest === undefined ? 0 : now.filter(({ arrived_at }) => arrived_at > newest).length,
    hold: () => setHeld((before) => before ?? (now.length > 0 ? now : null)),
    release: () => setHeld(null),
  };
}

function SignalRow({
  signal,
  order,
  account,
}: {
  readonly signal: Signal;
  readonly order: Schemas['OrderSummary'] | undefined;
  readonly account: Schemas['AccountToday'] | undefined;
}) {
  const { id, arrived_at, action, symbol } = signal;
  const units = order ? unitsOf(order) : null;
  const word = unrealOf(signal, account && { ...account, broker: account.broker_name });
  const { text: what, code } = happened(signal, order ?? null);
  return (
    <tr className={word ? 'opens hatched' : 'opens'}>
      <td className={styles.time}>
        <When at={arrived_at} />
      </td>
      <td className={styles.account} title={account?.name}>
        <div>
          <span>{account?.name ?? <DeletedAccount />}</span>
          <Unreal word={word} />
        </div>
      </td>
      <td className={styles.action}>{action && <Side side={action} />}</td>
      {/* Closing and reporting have no quantity of their own. */}
      <td className={`num ${styles.quantity}`}>
        {units === null ? (
          <Size quantity={signal.quantity} counts={signal.quantity_type} />
        ) : (
          <Size quantity={units} />
        )}
      </td>
      <td className={`${styles.symbol} ellipsis`} title={symbol ?? undefined}>
        <Link to="/signals/$id" params={{ id }} className="cover">
          {symbol === null ? <span className="quiet">not read</span> : spelled(symbol, account?.broker_name)}
        </Link>
      </td>
      <td className={styles.status}>
        <SignalStatus status={signal.order_status ?? signal.outcome} />
      </td>
      <td className={`${styles.what} ellipsis`} title={code === null ? what : `${what} (${code})`}>
        <div>{what}</div>
      </td>
    </tr>
  );
}
