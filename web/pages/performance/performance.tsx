// What the orders came to: by day, over one time axis, and by symbol; and how long they took.

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts as accountsQuery } from '../../api/queries.ts';
import { Unreal } from '../../parts/figures.tsx';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { answerOf, isMixed, wordOf } from './answer.ts';
import { BySymbol } from './by-symbol.tsx';
import { firstDay, hasSeveralCurrencies, rangeOf, rowsOf, spanInWords } from './days.ts';
import { Filters, type Shown, searchOf } from './filters.tsx';
import { HowLong } from './how-long.tsx';
import styles from './performance.module.css';
import { Plots } from './plots.tsx';

type Account = Schemas['Account'];

const NONE: readonly Account[] = [];

/** What was asked stands with the answer: while the next is under way, the page shows the last as what it is. */
interface Answer {
  readonly shown: Shown;
  readonly first: string | null;
  readonly performance: Schemas['Performance'];
}

const performanceOf = (first: string | null, shown: Shown) =>
  queryOptions({
    queryKey: ['performance', 'range', first, shown],
    async queryFn(): Promise<Answer> {
      const query = {
        ...(first ? { from: `${first}T00:00:00Z` } : {}),
        ...(shown.accountId ? { trading_account_id: shown.accountId } : {}),
        simulation: shown.simulation,
        ...(shown.realMoney ? { real_money: true } : {}),
      };
      // It could be CSV too, which nobody asked for.
      const performance = (await read(
        api.GET('/trading/performance', { params: { query } }),
      )) as Schemas['Performance'];
      return { shown, first, performance };
    },
    placeholderData: keepPreviousData,
  });

export default function Performance() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const shown: Shown = {
    range: rangeOf(search.range),
    accountId: search.account ?? null,
    simulation: search.simulation === 'true',
    realMoney: search.simulation !== 'true' && search.money === 'real',
  };
  const listed = useQuery(accountsQuery);
  const known = listed.data;
  const accounts = known ?? NONE;
  const isKnown = shown.accountId === null || accounts.some(({ id }) => id === shown.accountId);
  const asked = useQuery({
    ...performanceOf(firstDay(shown.range, serverNow()), shown),
    // An account that is not there is not asked for.
    enabled: isKnown,
  });
  const { data } = asked;
  // Nothing is asked before the accounts are known: where they cannot be read, that is the answer.
  const failed = isKnown ? asked : listed;
  const { error } = failed;
  const filters = (span: string) => (
    <Filters shown={isKnown ? shown : { ...shown, accountId: null }} accounts={accounts} span={span} />
  );

  if (known && !isKnown)
    return (
      <Page title="Performance" answer="There is no such account">
        {filters('')}
        <p>
          <Link to="/performance" search={searchOf({ ...shown, accountId: null })} className="button">
            Show all accounts
          </Link>
        </p>
      </Page>
    );
  if (data)
    return (
      <Told answer={data} accounts={accounts} filters={filters}>
        {error && <ProblemNote fault={error}>What is shown was read earlier.</ProblemNote>}
      </Told>
    );
  return error ? (
    <Page title="Performance" answer="Performance is not known now">
      {filters('')}
      <ProblemNote fault={error} onAgain={failed.refetch} />
    </Page>
  ) : (
    <Page title="Performance" answer={<span className="quiet">What the orders came to</span>}>
      {filters('')}
      <div className={styles.waiting}>
        <Skeleton rows={17} />
      </div>
    </Page>
  );
}

interface ToldProps {
  readonly answer: Answer;
  readonly accounts: readonly Account[];
  readonly filters: (span: string) => ReactNode;
  readonly children: ReactNode;
}

function Told({ answer: { shown, first, performance }, accounts, filters, children }: ToldProps) {
  const rows = useMemo(() => rowsOf(performance, first, serverNow()), [performance, first]);
  const account = accounts.find(({ id }) => id === shown.accountId) ?? null;
  const word = wordOf(performance, account ? [account] : accounts, shown.simulation);
  const answer = answerOf(performance, rows, { range: shown.range, accountName: account?.name ?? null });
  const isEmpty = performance.days.length === 0;
  const span = `${rows[0]?.day}-${rows.at(-1)?.day}`;
  return (
    <Page
      title={answer.said}
      answer={
        <>
          {answer.said} <span className="quiet">{answer.rest}</span>{' '}
          {word && !isEmpty && (
            <small className={styles.kind}>
              <Unreal word={word} />
            </small>
          )}
        </>
      }
    >
      {filters(rows.length > 0 ? `${spanInWords(rows)}, UTC` : '')}
      {children}
      {isMixed(performance) && (
        <p className={styles.mixed}>
          <Unreal word="not all real money" /> Some of these accounts trade no real money, and all of them are
          added up below.{' '}
          <Link to="/performance" search={searchOf({ ...shown, realMoney: true })}>
            Real money alone
          </Link>
          , or choose an account.
        </p>
      )}
      {hasSeveralCurrencies(performance) && <SeveralCurrencies shown={shown} accounts={accounts} />}
      {isEmpty ? (
        <Nothing shown={shown} />
      ) : (
        <>
          <Plots
            rows={rows}
            currency={performance.currency}
            isUnreal={word !== null || isMixed(performance)}
          />
          <BySymbol symbols={performance.symbols} currency={performance.currency} span={span} />
          <HowLong spans={performance.latencies} span={span} />
        </>
      )}
    </Page>
  );
}

/** Amounts of several currencies are not added up by anybody. */
function SeveralCurrencies({
  shown,
  accounts,
}: {
  readonly shown: Shown;
  readonly accounts: readonly Account[];
}) {
  return (
    <p className={styles.mixed}>
      The accounts are kept in several currencies, so their money cannot be added up. Choose one account for
      its profit and slippage:{' '}
      {accounts.map(({ id, name }) => (
        <Link
          key={id}
          to="/performance"
          search={searchOf({ ...shown, accountId: id })}
          className={styles.choice}
        >
          {name}
        </Link>
      ))}
    </p>
  );
}

/** Says what will stand here, and does the next step. */
function Nothing({ shown }: { readonly shown: Shown }) {
  const isWhole = shown.range === 'all' && shown.accountId === null;
  return (
    <div className={styles.nothing}>
      <p>
        What the orders came to will be shown here: realised profit by day and by symbol, what became of the
        orders, how fast the brokers answered, and how their prices compared with the signals’. One order is
        enough to begin.
      </p>
      <p>
        {!isWhole && (
          <Link
            to="/performance"
            search={searchOf({
              range: 'all',
              accountId: null,
              simulation: shown.simulation,
              realMoney: false,
            })}
            className="button"
          >
            Show all accounts, from the beginning
          </Link>
        )}{' '}
        <Link to="/accounts" className="button primary">
          Go to the message to paste
        </Link>
      </p>
    </div>
  );
}
