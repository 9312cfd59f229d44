// A line of the list: what arrived, and what became of it. The whole of it opens the story.

import { useQuery } from '@tanstack/react-query';
import { memo, useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { accounts as allAccounts, groups as allGroups } from '../../api/queries.ts';
import { DeletedAccount, Figure, Side, Unreal } from '../../parts/figures.tsx';
import { takenBy, whatHappened } from '../../parts/group-words.ts';
import { type Happened, happened, type Order, orderHappened, type Signal } from '../../parts/happened.ts';
import { Mark } from '../../parts/marks.tsx';
import { signed, unrealOf } from '../../parts/numbers.ts';
import { RowLink } from '../../parts/row-link.tsx';
import { SignalStatus } from '../../parts/signal-status.tsx';
import { Size } from '../../parts/size.tsx';
import { type QuantityType, unitsOf } from '../../parts/sizes.ts';
import { spelled } from '../../parts/symbol.ts';
import { When } from '../../parts/when.tsx';
import styles from './signals.module.css';

/** Null: it was deleted. */
type Known = Schemas['Account'] | null | undefined;

export function useAccountOf(accounts: readonly Schemas['Account'][] | undefined): (id: string) => Known {
  const byId = useMemo(
    () => accounts && new Map(accounts.map((account) => [account.id, account])),
    [accounts],
  );
  return (id) => byId && (byId.get(id) ?? null);
}

export const SignalRow = memo(function SignalRow({
  signal,
  order,
  account,
  place,
}: {
  readonly signal: Signal;
  readonly order: Order | null;
  readonly account: Known;
  /** In a list of which not every row is drawn; from 0. */
  readonly place?: number;
}) {
  const status = order?.status ?? signal.order_status ?? signal.outcome;
  if (signal.group_id !== null) return <GroupLine signal={signal} place={place} />;
  return (
    <Line
      to={`/signals/${signal.id}`}
      at={signal.arrived_at}
      account={account}
      unreal={unrealOf(signal, account ?? undefined)}
      action={signal.action}
      quantity={signal.quantity}
      counts={signal.quantity_type}
      symbol={signal.symbol}
      status={status}
      what={happened(signal, order)}
      slippage={order?.slippage ?? signal.slippage}
      ms={order?.trace?.answered ?? signal.total_ms}
      place={place}
    />
  );
});

/** One row for all of its members. */
function GroupLine({ signal, place }: { readonly signal: Signal; readonly place?: number | undefined }) {
  const { data: groups } = useQuery(allGroups);
  const { data: accounts } = useQuery(allAccounts);
  const name = groups?.find(({ id }) => id === signal.group_id)?.name;
  const nameOf = (id: string) => accounts?.find((each) => each.id === id)?.name ?? 'a deleted account';
  return (
    <Line
      to={`/signals/${signal.id}`}
      at={signal.arrived_at}
      account={undefined}
      group={name ?? 'deleted group'}
      unreal={signal.simulation ? 'simulated' : null}
      action={signal.action}
      quantity={signal.quantity}
      counts={signal.quantity_type}
      symbol={signal.symbol}
      status={signal.outcome === 'order' ? takenBy(signal) : signal.outcome}
      what={{ text: whatHappened(signal, nameOf), code: signal.code }}
      slippage={null}
      ms={signal.total_ms}
      place={place}
    />
  );
}

export const OrderRow = memo(function OrderRow({
  order,
  account,
}: {
  readonly order: Order;
  readonly account: Known;
}) {
  return (
    <Line
      to={`/orders/${order.order_id}`}
      at={order.submitted_at}
      account={account}
      unreal={unrealOf(order, account ?? undefined)}
      action={order.action}
      quantity={unitsOf(order)}
      symbol={order.symbol}
      status={order.status}
      what={orderHappened(order)}
      slippage={order.slippage}
      ms={order.trace?.answered ?? null}
    />
  );
});

interface LineProps {
  readonly to: string;
  readonly at: string;
  readonly account: Known;
  /** In the place of its account. */
  readonly group?: string;
  readonly unreal: string | null;
  readonly action: string | null;
  readonly quantity: number | null;
  /** What that counts; absent: units. */
  readonly counts?: QuantityType;
  readonly symbol: string | null;
  readonly status: string;
  readonly what: Happened;
  readonly slippage: number | null;
  readonly ms: number | null;
  readonly place?: number | undefined;
}

function Line(line: LineProps) {
  const { to, at, account, group, unreal, action, symbol, status, what, slippage, ms, place } = line;
  const isUnderWay = status === 'queued' || status === 'executing';
  return (
    // The head is the first row.
    <tr
      className={unreal ? 'opens hatched' : 'opens'}
      aria-rowindex={place === undefined ? undefined : place + 2}
    >
      <td className={styles.time}>
        <When at={at} milliseconds />
      </td>
      <td className={styles.account} title={group ?? account?.name}>
        <span>{group ?? (account === null ? <DeletedAccount /> : account?.name)}</span>{' '}
        <Unreal word={unreal} />
      </td>
      <td className={styles.action}>{action && <Side side={action} />}</td>
      {/* Closing and reporting have no quantity of their own. */}
      <td className={`num ${styles.quantity}`}>
        <Size {...line} />
      </td>
      <td className={styles.symbol} title={symbol ?? undefined}>
        <RowLink to={to}>
          {symbol === null ? <span className="quiet">not read</span> : spelled(symbol, account?.broker)}
        </RowLink>
      </td>
      <td className={styles.status}>
        {group === undefined || / of /.test(status) === false ? (
          <SignalStatus status={status} />
        ) : (
          <span className="status usual">
            <Mark name="filled" />
            {status}
          </span>
        )}
      </td>
      <td className={styles.what} title={what.code === null ? what.text : `${what.text} (${what.code})`}>
        <div>
          {what.text}
          {what.code && <code>{what.code}</code>}
        </div>
      </td>
      <td className={`num ${styles.slippage}`}>{slippage === null ? null : signed(slippage)}</td>
      <td className={`num ${styles.took}`}>
        {ms === null ? isUnderWay ? '…' : null : <Figure value={ms} />}
      </td>
    </tr>
  );
}

export const Columns = () => (
  <>
    <colgroup>
      <col className={styles.colTime} />
      <col className={styles.colAccount} />
      <col className={styles.colAction} />
      <col className={styles.colQuantity} />
      <col className={styles.colSymbol} />
      <col className={styles.colStatus} />
      <col />
      <col className={styles.colSlippage} />
      <col className={styles.colTook} />
    </colgroup>
    <thead>
      <tr>
        <th scope="col">Arrived</th>
        <th scope="col">Account</th>
        <th scope="colgroup" colSpan={3}>
          Signal
        </th>
        <th scope="col">Status</th>
        <th scope="col">What happened</th>
        <th
          scope="col"
          className={`num ${styles.slippage}`}
          title="Against the signal’s own price; minus is worse"
        >
          Slippage
        </th>
        <th scope="col" className={`num ${styles.took}`}>
          Took, ms
        </th>
      </tr>
    </thead>
  </>
);
