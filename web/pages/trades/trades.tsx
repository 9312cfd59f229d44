// The round trips: what they came to, over time, one by one, and by what they have in common.

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { api, read } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts as accountsQuery } from '../../api/queries.ts';
import { Unreal } from '../../parts/figures.tsx';
import { money } from '../../parts/numbers.ts';
import { Page, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { type Asked, askedOf, longDay, queryOf, searchOf, spanOf } from './asked.ts';
import { ByHour, ByName } from './by.tsx';
import { Days } from './days.tsx';
import { Equity } from './equity.tsx';
import { Figures } from './figures.tsx';
import { Filters } from './filters.tsx';
import { TradeList } from './list.tsx';
import styles from './trades.module.css';
import { answerOf, type Summary } from './words.ts';

/** Days and hours are those of the reader. */
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What was asked stands with the answer: while the next is under way, the page shows the last as what it is. */
interface Answer {
  readonly asked: Asked;
  readonly summary: Summary;
}

const summaryOf = (asked: Asked) =>
  queryOptions({
    queryKey: ['trades', 'summary', asked],
    async queryFn(): Promise<Answer> {
      const query = { ...queryOf(asked, serverNow()), tz: ZONE };
      return { asked, summary: await read(api.GET('/trading/trades/summary', { params: { query } })) };
    },
    placeholderData: keepPreviousData,
  });

export default function Trades() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  // The address gives a new object each time; the question is asked once.
  const text = JSON.stringify(askedOf(search));
  const asked = useMemo(() => JSON.parse(text) as Asked, [text]);
  const { data: accounts = [] } = useQuery(accountsQuery);
  const { data, error, refetch } = useQuery(summaryOf(asked));
  const filters = <Filters asked={asked} accounts={accounts} summary={data?.summary ?? null} />;
  if (data)
    return (
      <Told answer={data} filters={filters}>
        {error && <ProblemNote fault={error}>What is shown was read earlier.</ProblemNote>}
      </Told>
    );
  return error ? (
    <Page title="Trades" answer="The trades are not known now">
      {filters}
      <ProblemNote fault={error} onAgain={refetch} />
    </Page>
  ) : (
    <Page
      title="Trades"
      answer={<span className="quiet">What the trades came to</span>}
      facts={<span>after fees, by average cost</span>}
    >
      {filters}
      <div className={styles.waiting}>
        <Skeleton rows={17} />
      </div>
    </Page>
  );
}

interface ToldProps {
  readonly answer: Answer;
  readonly filters: ReactNode;
  readonly children: ReactNode;
}

function Told({ answer: { asked, summary }, filters, children }: ToldProps) {
  const { said, rest } = answerOf(summary, asked);
  const { first, last } = spanOf(asked, serverNow());
  const isUnreal = asked.money === 'simulated' || summary.real_money === false;
  const begins = first ?? summary.days[0]?.day ?? last;
  const span = `${longDay(begins)} to ${longDay(last)}, days in ${ZONE}`;
  return (
    <Page
      title={said}
      answer={
        <>
          {said} {rest && <span className="quiet">{rest}</span>}{' '}
          {isUnreal && summary.trades > 0 && (
            <small className={styles.kind}>
              <Unreal word={asked.money === 'simulated' ? 'simulated' : 'no real money'} />
            </small>
          )}
        </>
      }
      facts={
        <>
          <span>after fees, by average cost</span> <span>{span}</span>{' '}
          {summary.realised && summary.trades > 0 && (
            <span>{proofOf(summary.realised, summary.currency)}</span>
          )}
        </>
      }
    >
      {filters}
      {children}
      {summary.trades > 0 && summary.real_money === null && (
        <p className={styles.mixed}>
          <Unreal word="not all real money" /> Some of these accounts trade no real money, and all of them are
          added up below.{' '}
          <Link to="/trades" search={searchOf({ ...asked, money: 'real' })}>
            Real money alone
          </Link>
          , or choose an account.
        </p>
      )}
      {summary.trades === 0 ? (
        <Nothing asked={asked} />
      ) : (
        <div className={isUnreal ? `${styles.body} hatched` : styles.body}>
          <Figures summary={summary} />
          <Equity summary={summary} first={first} last={last} />
          <TradeList key={JSON.stringify(asked)} asked={asked} summary={summary} />
          <Days days={summary.days} asked={asked} first={first} last={last} zone={ZONE} />
          <div className={styles.thirds}>
            <ByName
              title="By symbol"
              currency={summary.currency}
              rows={summary.symbols.map(({ symbol, ...sum }) => ({ name: symbol, ...sum }))}
              search={(symbol) => searchOf({ ...asked, symbol })}
            />
            <ByName
              title="By strategy"
              currency={summary.currency}
              rows={summary.strategies.map(({ strategy, ...sum }) => ({ name: strategy, ...sum }))}
              search={(strategy) => searchOf({ ...asked, strategy })}
            />
            <ByHour hours={summary.hours} currency={summary.currency} />
          </div>
          <ByName
            title="By what closed it"
            currency={summary.currency}
            rows={summary.closed_by.map(({ closed_by, ...sum }) => ({ name: closed_by, ...sum }))}
            search={(closedBy) => searchOf({ ...asked, closedBy })}
          />
        </div>
      )}
    </Page>
  );
}

/** What makes the sum of the trades the realised profit, where something does. */
function proofOf(realised: NonNullable<Summary['realised']>, currency: string | null): string {
  const { open_trades, earned_before, foreign_fees } = realised;
  if (open_trades === 0 && earned_before === 0 && foreign_fees === 0)
    return 'the sum of these trades is the realised profit, to the last digit';
  return `${money(realised.realised)} ${currency ?? ''} realised in this time, with what was earned by what is not closed`;
}

/** Says what will stand here, and does the next step. */
function Nothing({ asked }: { readonly asked: Asked }) {
  const everything = { ...askedOf({}), range: 'all' as const, money: asked.money };
  const isWhole = JSON.stringify(asked) === JSON.stringify(everything);
  return (
    <div className={styles.nothing}>
      <p>
        A trade is here once it is closed: what it earned after fees, how long it was held, at which prices,
        and what closed it; and what all of them came to. One is enough to begin.
      </p>
      <p>
        {!isWhole && (
          <Link to="/trades" search={searchOf(everything)} className="button">
            Show all trades, from the beginning
          </Link>
        )}{' '}
        <Link to="/positions" className="button">
          See what is open
        </Link>
      </p>
    </div>
  );
}
