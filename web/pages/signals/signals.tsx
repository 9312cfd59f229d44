// Every arrival, executed or refused, as it comes.

import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { accounts as allAccounts, overview as ownOverview } from '../../api/queries.ts';
import type { Signal } from '../../parts/happened.ts';
import { More } from '../../parts/more.tsx';
import { counted, figure } from '../../parts/numbers.ts';
import { Page, Skeleton, WaitingPage } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RowsNear } from '../../parts/rows-near.tsx';
import { spelled } from '../../parts/symbol.ts';
import { useTogether } from '../../parts/together.ts';
import { ageInWords, useNow } from '../../parts/when.tsx';
import { answerOf } from './answer.ts';
import { DayStrip } from './day-strip.tsx';
import { FilterBar } from './filter-bar.tsx';
import { type Filters, filtersOf, isWholeDay } from './filters.ts';
import { Found } from './found.tsx';
import { Columns, SignalRow, useAccountOf } from './row.tsx';
import { useRowKeys } from './row-keys.ts';
import styles from './signals.module.css';
import { useSignals } from './use-signals.ts';

/** The reader's own midnight; it comes while the page is open. */
const useDayStart = (): number => new Date(useNow(60_000)).setHours(0, 0, 0, 0);

export default function Signals() {
  const filters = filtersOf(useSearch({ strict: false }) as Record<string, string>);
  return filters.search === undefined ? <SignalList filters={filters} /> : <Found text={filters.search} />;
}

function SignalList({ filters: given }: { readonly filters: Filters }) {
  const dayStart = useDayStart();
  // The address gives a new object each time; the list is asked for once.
  const text = JSON.stringify(given);
  const filters = useMemo(() => JSON.parse(text) as Filters, [text]);
  const askedOverview = useQuery(ownOverview);
  const askedAccounts = useQuery(allAccounts);
  const { data: overview } = askedOverview;
  const { data: accounts, error: accountsFault } = askedAccounts;
  const accountOf = useAccountOf(accounts);
  const { list, signals, isOpen, fresh, showFresh, orderOf } = useSignals({ filters, dayStart });
  const isThere = useTogether(askedOverview, askedAccounts, list);
  const symbols = useMemo(() => symbolsOf(accounts ?? [], signals, filters), [accounts, signals, filters]);
  const counts = overview?.signals_today ?? null;
  const { title, answer, rest } = answerOf(filters, counts, signals.length, list.hasNextPage);
  const isToday = filters.time === undefined && filters.from === undefined;
  const table = useRowKeys();
  const fault = accountsFault ?? list.error;
  if (!isThere) return <WaitingPage name={title} />;
  return (
    <Page
      title={title}
      answer={
        <>
          {answer} {rest && <span className="quiet">{rest}</span>}
        </>
      }
    >
      {isToday && (
        <div className={styles.strip}>
          {overview && <DayStrip accounts={accountsShown(overview, filters)} dayStart={dayStart} />}
        </div>
      )}
      <h2 className="unseen">Signals</h2>
      <FilterBar
        filters={filters}
        counts={counts}
        accounts={accounts ?? []}
        symbols={symbols}
        dayStart={dayStart}
      />
      {fault && <ProblemNote fault={fault} onAgain={list.refetch} />}
      {list.isPending && !fault ? (
        <Skeleton rows={12} />
      ) : (
        <>
          <table
            ref={table}
            className={`table listed ${styles.signals} ${isToday ? '' : styles.days}`}
            aria-busy={list.isPlaceholderData}
            aria-rowcount={1 + signals.length}
          >
            <Columns />
            {/* Its space is kept, so that no row moves under the pointer when something comes. */}
            {isOpen && (signals.length > 0 || fresh.length > 0) && (
              <tbody>
                <FreshRow fresh={fresh} onShow={showFresh} />
              </tbody>
            )}
            <RowsNear rows={signals}>
              {(signal, index) => (
                <SignalRow
                  signal={signal}
                  order={signal.order_id === null ? null : orderOf(signal.order_id)}
                  account={accountOf(signal.trading_account_id)}
                  place={index}
                />
              )}
            </RowsNear>
          </table>
          {signals.length === 0 && fresh.length === 0 && list.isSuccess && !list.hasNextPage && (
            <Nothing filters={filters} hasAccounts={(accounts?.length ?? 0) > 0} />
          )}
          <p className={styles.end}>
            <More query={list} className="link">
              Older
            </More>
            {!list.hasNextPage && signals.length > 0 && isToday && (
              <Link to={'/signals' as never} search={{ ...filters, time: 'all' } as never}>
                Earlier days
              </Link>
            )}
            {signals.length > 0 && (
              <span className="quiet">
                {isWholeDay(filters) && filters.outcome === undefined && counts
                  ? `${figure(signals.length)} of ${figure(Math.max(counts.total, signals.length))} shown`
                  : `${figure(signals.length)} shown`}
              </span>
            )}
          </p>
        </>
      )}
    </Page>
  );
}

const accountsShown = ({ accounts }: Schemas['Overview'], { account }: Filters) =>
  account === undefined ? accounts : accounts.filter(({ id }) => id === account);

/** Each instrument once. */
function symbolsOf(
  accounts: readonly Schemas['Account'][],
  signals: readonly Signal[],
  { symbol: chosen }: Filters,
): string[] {
  const brokerOf = new Map(accounts.map(({ id, broker }) => [id, broker]));
  const all = [
    ...accounts.flatMap(({ allowed_symbols, broker }) => allowed_symbols.map((one) => spelled(one, broker))),
    ...signals.flatMap(({ symbol, trading_account_id }) =>
      symbol === null ? [] : [spelled(symbol, brokerOf.get(trading_account_id))],
    ),
    ...(chosen === undefined ? [] : [chosen]),
  ];
  return [...new Set(all)].sort();
}

function FreshRow({ fresh, onShow }: { readonly fresh: readonly Signal[]; readonly onShow: () => unknown }) {
  const [latest] = fresh;
  return (
    <tr className={latest ? styles.fresh : styles.calm}>
      <td colSpan={9}>
        {latest ? (
          <>
            <button type="button" className="link" onClick={() => void onShow()}>
              Show {figure(fresh.length)} new
            </button>{' '}
            <span className="quiet">
              the latest <Age at={latest.arrived_at} /> ago; the list stays where it is until you do
            </span>
          </>
        ) : (
          <span className="quiet">Nothing new</span>
        )}
        <span className="unseen" role="status">
          {latest && counted(fresh.length, 'new signal')}
        </span>
      </td>
    </tr>
  );
}

/** Alone, so that only this ticks. */
const Age = ({ at }: { readonly at: string }) => ageInWords(useNow() - Date.parse(at));

function Nothing({ filters, hasAccounts }: { readonly filters: Filters; readonly hasAccounts: boolean }) {
  const isFiltered = Object.keys(filters).some((name) => name !== 'time');
  if (!hasAccounts)
    return (
      <p className={styles.nothing}>
        Signals arrive at an account’s webhook, and there is no account yet.{' '}
        <Link to={'/accounts' as never}>Add one</Link>; a paper account costs nothing.
      </p>
    );
  if (isFiltered)
    return (
      <p className={styles.nothing}>
        No signal matches these filters. <Link to={'/signals' as never}>Show all of today</Link>
      </p>
    );
  return (
    <p className={styles.nothing}>
      {filters.time === undefined
        ? 'No signal today yet; the next appears here by itself.'
        : 'No signal yet.'}{' '}
      <Link to={'/accounts' as never}>The message to paste</Link> is shown with its account.{' '}
      {filters.time !== 'all' && (
        <Link to={'/signals' as never} search={{ time: 'all' } as never}>
          See earlier days
        </Link>
      )}
    </p>
  );
}
