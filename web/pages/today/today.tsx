// Is everything all right? One sentence, what proves it or what is to be done, and how each account stands.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { accounts, overview, ownSession } from '../../api/queries.ts';
import { Mark } from '../../parts/marks.tsx';
import { Led, Page, Skeleton, useTitle } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ageInWords, minuteOf } from '../../parts/times.ts';
import { useNow } from '../../parts/when.tsx';
import { AccountsTable } from './accounts-table.tsx';
import { headline, proofs, type Sentence, signalsInWords, tabTitle } from './answer.ts';
import { AtRisk, stopsOf } from './at-risk.tsx';
import { FirstSteps } from './first-steps.tsx';
import { FirstVisit } from './first-visit.tsx';
import { Held } from './held.tsx';
import { LatestSignals } from './latest-signals.tsx';
import { Things } from './things-to-do.tsx';
import styles from './today.module.css';
import { useFirstVisit } from './use-first-visit.ts';
import { useHeld } from './use-held.ts';

type Overview = Schemas['Overview'];

/** The proofs say how old they are: they may be this old. */
const CHECK_MS = 10_000;

export default function Today() {
  const { data, error, refetch } = useQuery({ ...overview, refetchInterval: CHECK_MS });
  const { data: all } = useQuery(accounts);
  const { data: session } = useQuery(ownSession);
  const { isFirst, hasExecuted } = useFirstVisit(data);
  if (!data || isFirst === undefined)
    return error ? (
      <Page title="Today" answer="It is not known whether all is in order">
        <ProblemNote fault={error}>
          <button type="button" className="link" onClick={() => void refetch()}>
            Ask again
          </button>
        </ProblemNote>
      </Page>
    ) : (
      <Loading />
    );
  if (isFirst)
    return all && session ? (
      <FirstVisit {...{ overview: data, accounts: all, session, hasExecuted }} />
    ) : (
      <Loading />
    );
  return (
    <>
      <Answer overview={data} isOld={error !== null} />
      {error && <ProblemNote fault={error} />}
      {data.todo.length > 0 && <Things overview={data} />}
      <AccountsTable overview={data} />
      <div className={`columns ${styles.beside}`}>
        <LatestSignals overview={data} />
        <Held overview={data} />
      </div>
      {all && session && <FirstSteps {...{ overview: data, accounts: all, session, hasExecuted }} />}
    </>
  );
}

function Loading() {
  useTitle('Today');
  return (
    <>
      <header className="top">
        <h1 className="answer quiet">Looking…</h1>
        <p className="facts">&nbsp;</p>
        <p className="facts">&nbsp;</p>
      </header>
      <Led>
        <Skeleton rows={4} two />
      </Led>
      <Led>
        <Skeleton rows={8} />
      </Led>
    </>
  );
}

function Answer({ overview, isOld }: { readonly overview: Overview; readonly isOld: boolean }) {
  const { severity, lead, rest } = headline(overview);
  useTitle(tabTitle(overview));
  const { since, checked_at, last_trouble, orders_today } = overview;
  const at = (time: string) => minuteOf(new Date(time), new Date(checked_at));
  return (
    <header className="top">
      <h1 className="answer">
        {severity === null ? lead : <span className={severity}>{lead}</span>}{' '}
        {rest && <span className={severity === null ? 'quiet' : ''}>{rest}</span>}
      </h1>
      {severity === null && <Proofs overview={overview} isOld={isOld} />}
      <p className={severity === null ? `facts ${styles.below}` : 'facts'}>
        <AtRisk overview={overview} />
        <span>
          <Words sentence={signalsInWords(overview)} />
        </span>
        {orders_today.half_answered_within_ms !== null && (
          <span>
            half of the filled orders were answered within{' '}
            <b>{Math.round(orders_today.half_answered_within_ms)}&nbsp;ms</b>
          </span>
        )}
        {severity === null
          ? last_trouble && (
              <span>
                last trouble: <TroubleLink trouble={last_trouble} />, ended at {at(last_trouble.ended_at)}
              </span>
            )
          : since && <span>everything else in order since {at(since)}</span>}
        {severity !== null && <Checked at={checked_at} isOld={isOld} />}
      </p>
    </header>
  );
}

function Proofs({ overview, isOld }: { readonly overview: Overview; readonly isOld: boolean }) {
  const stops = stopsOf(useHeld(overview));
  return (
    <ul className={styles.proofs} aria-label="What proves it">
      {proofs(overview, stops).map(({ holds, words, to }) => (
        <li key={words}>
          <Mark name={holds ? 'passed' : 'unreached'} />
          <Link to={to}>{words}</Link>
        </li>
      ))}
      <li>
        <Checked at={overview.checked_at} isOld={isOld} />
      </li>
    </ul>
  );
}

/** Alone, so that only these words tick. */
function Checked({ at, isOld }: { readonly at: string; readonly isOld: boolean }) {
  const now = useNow();
  const age = Math.max(0, now - Date.parse(at));
  return <span className="quiet">{`${isOld ? 'last checked' : 'checked'} ${ageInWords(age)} ago`}</span>;
}

const Words = ({ sentence }: { readonly sentence: Sentence }): ReactNode =>
  sentence.map((part, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: a sentence keeps its order
    typeof part === 'string' ? part : <b key={place}>{part.number}</b>,
  );

function TroubleLink({ trouble }: { readonly trouble: NonNullable<Overview['last_trouble']> }) {
  const { title, order_id, trading_account_id } = trouble;
  if (order_id)
    return (
      <Link to="/orders/$id" params={{ id: order_id }}>
        {title}
      </Link>
    );
  if (trading_account_id)
    return (
      <Link to="/accounts/$id" params={{ id: trading_account_id }}>
        {title}
      </Link>
    );
  return title;
}
