// How each account stands today.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { figure, Profit, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark, type MarkName } from '../../parts/marks.tsx';
import { counted } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { ResumeDialog } from '../../parts/resume-dialog.tsx';
import { sumsByCurrency, unsigned } from '../../parts/sums.ts';
import { minuteOf } from '../../parts/times.ts';
import { useNow, When } from '../../parts/when.tsx';
import { brokerState, driftOf, entriesOf, openProfit, riskOf } from './accounts.ts';
import styles from './accounts-table.module.css';
import { hoursOf } from './day-plots.ts';
import { DayRug, ProfitSpark } from './plots.tsx';

type Overview = Schemas['Overview'];
type AccountToday = Schemas['AccountToday'];

/** Each signal may come at any moment, and the present moves by a pixel in some minutes. */
const RUG_MS = 30_000;

export function AccountsTable({ overview }: { readonly overview: Overview }) {
  const { accounts, limit, day_start, todo } = overview;
  const now = useNow(RUG_MS);
  const start = Date.parse(day_start);
  const end = new Date(start).setDate(new Date(start).getDate() + 1);
  const [resuming, setResuming] = useState<AccountToday | null>(null);
  const areTermsAccepted = !todo.some(({ kind }) => kind === 'terms_not_accepted');
  return (
    <Led>
      <table className={`table two listed ${styles.accounts}`}>
        <colgroup>
          <col className={styles.colName} />
          <col className={styles.colBroker} />
          <col className={styles.colEntries} />
          <col className={styles.colRug} />
          <col className={styles.colLast} />
          <col className={styles.colSync} />
          <col className={styles.colRisk} />
          <col className={styles.colOrders} />
          <col className={styles.colOpen} />
          <col className={styles.colSpark} />
          <col className={styles.colRealised} />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">
              <h2>Accounts</h2>
            </th>
            <th scope="col">Broker</th>
            <th scope="col">Entries</th>
            <th scope="col" className={styles.rugHead}>
              Signals today
            </th>
            <th scope="col" className={styles.last}>
              Last signal
            </th>
            <th scope="col">In sync</th>
            <th scope="col" className="num">
              At risk
            </th>
            <th scope="col" className={`num ${styles.orders}`}>
              Orders today
            </th>
            <th scope="col" className="num">
              Open profit
            </th>
            <td className={styles.spark} />
            <th scope="col" className="num">
              Realised today
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <AccountRow
              key={account.id}
              account={account}
              areTermsAccepted={areTermsAccepted}
              drift={driftOf(todo, account)}
              onResume={() => setResuming(account)}
              day={{ start, end, now: Math.max(now, Date.parse(overview.checked_at)) }}
            />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td colSpan={3} />
            <td className={styles.rugCell}>
              <span className={styles.hours} aria-hidden="true">
                {hoursOf(start, end).map(({ hour, percent }) => (
                  <i key={hour} style={{ left: `${percent}%` }}>
                    {hour}
                  </i>
                ))}
              </span>
            </td>
            <td colSpan={3} />
            <td
              className="num"
              title={`Real orders on ${limit.day}, a UTC day, and how many the plan allows`}
            >
              {limit.daily_orders === null
                ? figure(limit.orders_today)
                : `${figure(limit.orders_today)} of ${figure(limit.daily_orders)}`}
            </td>
            <td />
            <td className={styles.spark} />
            <td />
          </tr>
        </tfoot>
      </table>
      {resuming && <ResumeDialog account={resuming} onClose={() => setResuming(null)} />}
    </Led>
  );
}

interface AccountRowProps {
  readonly account: AccountToday;
  readonly areTermsAccepted: boolean;
  readonly drift: 'risk' | 'act' | null;
  readonly onResume: () => void;
  readonly day: { readonly start: number; readonly end: number; readonly now: number };
}

function AccountRow({ account, areTermsAccepted, drift, onResume, day }: AccountRowProps) {
  const { id, name, broker_name, environment, real_money, signals_today, last_signal_at } = account;
  const word = unrealWord(account) ?? (real_money ? null : environment);
  return (
    <tr className={real_money ? '' : 'hatched'}>
      <th scope="row" className={styles.name}>
        <Link to="/accounts/$id" params={{ id }} title={name}>
          {name}
        </Link>
        <small>
          {real_money ? (
            `${broker_name}, ${environment}`
          ) : (
            <>
              <Unreal word={word} /> {broker_name === 'paper' ? 'no real money' : broker_name}
            </>
          )}
        </small>
        <small className={styles.lastBelow}>
          {last_signal_at ? (
            <>
              signal <When at={last_signal_at} relative />
            </>
          ) : (
            'no signal yet'
          )}
        </small>
      </th>
      <td className={styles.broker}>
        <BrokerState account={account} now={day.now} />
      </td>
      <td className={styles.entries}>
        <Entries account={account} areTermsAccepted={areTermsAccepted} now={day.now} onResume={onResume} />
      </td>
      <td className={styles.rugCell}>
        <DayRug signals={signals_today} day={day} />
      </td>
      <td className={styles.last} data-head="signal">
        {last_signal_at ? <When at={last_signal_at} relative /> : <span className="quiet">none yet</span>}
      </td>
      <td className={styles.sync} data-head="in sync">
        <InSync positions={account.positions} drift={drift} />
      </td>
      <td className={`num ${styles.risk}`} data-head="at risk">
        <AtRisk account={account} />
      </td>
      <td className={`num ${styles.orders}`} title={simulatedToo(account)}>
        {figure(account.orders_today)}
        {!account.counted_all && '+'}
      </td>
      <td className={`num ${styles.open}`} data-head="open">
        <OpenProfit account={account} />
      </td>
      <td className={`num ${styles.spark}`}>
        <ProfitSpark steps={account.profit_steps} />
      </td>
      <td className={`num ${styles.realised}`}>
        <Profit value={account.realised_today} unit={account.currency} />
      </td>
    </tr>
  );
}

const simulatedToo = ({ simulated_today }: AccountToday): string | undefined =>
  simulated_today === 0 ? undefined : `and ${counted(simulated_today, 'simulated one')}`;

function BrokerState({ account, now }: { readonly account: AccountToday; readonly now: number }) {
  const { tone, words, since, why } = brokerState(account);
  const mark: MarkName = tone === 'good' ? 'dot' : tone === 'act' ? 'act' : 'expired';
  const text = since ? `${words} since ${minuteOf(new Date(since), new Date(now))}` : words;
  if (tone === 'quiet')
    return (
      <span className="quiet" title={why}>
        {text}
      </span>
    );
  return (
    <span className={`status ${tone}`} title={why}>
      <Mark name={mark} />
      <span className={tone === 'act' ? 'act' : ''}>{text}</span>
    </span>
  );
}

function Entries({
  account,
  areTermsAccepted,
  now,
  onResume,
}: {
  readonly account: AccountToday;
  readonly areTermsAccepted: boolean;
  readonly now: number;
  readonly onResume: () => void;
}) {
  const { words, why } = entriesOf(account, areTermsAccepted);
  if (words !== 'halted') return <span title={why}>{words}</span>;
  const since = account.halted_since && minuteOf(new Date(account.halted_since), new Date(now));
  return (
    <>
      <b title={since ? `since ${since}` : why}>halted</b> <small>{since}</small>
      <small className={styles.halted}>
        <button type="button" className="link" onClick={onResume}>
          Resume…
        </button>
      </small>
    </>
  );
}

function InSync({
  positions,
  drift,
}: {
  readonly positions: AccountToday['positions'];
  readonly drift: 'risk' | 'act' | null;
}) {
  if (!positions) return <span className="quiet">not known</span>;
  const { in_sync, of } = positions;
  const isSame = in_sync === of;
  return (
    <span className={isSame || drift === null ? 'status' : `status ${drift}`}>
      <Mark name={isSame ? 'same' : 'differs'} />
      <span className={isSame ? '' : (drift ?? 'quiet')}>
        {figure(in_sync)} of {figure(of)}
      </span>
    </span>
  );
}

/** What the broker shows now; undefined: it is asked, null: it is not known. */
function useShown({ id, credentials }: AccountToday) {
  const isAsked = credentials === 'verified';
  const { data, isPending, isError } = useQuery({ ...positions(id), enabled: isAsked });
  if (isAsked && isPending && !isError) return undefined;
  return isError || !data ? null : data.items;
}

/** It comes a moment after the page; a word that is gone at once would only flicker. */
const Asking = () => <span className="quiet">…</span>;

function OpenProfit({ account }: { readonly account: AccountToday }) {
  const shown = useShown(account);
  if (shown === undefined) return <Asking />;
  return <Profit value={shown && openProfit(shown)} unit={account.currency} />;
}

/** Down to the stops; what should have one and has none is no part of it. */
function AtRisk({ account }: { readonly account: AccountToday }) {
  const shown = useShown(account);
  if (shown === undefined) return <Asking />;
  if (shown === null) return <span className="quiet">not known</span>;
  const { lost, instead, bare, free } = riskOf(shown);
  return (
    <>
      {instead !== null && <span className="quiet">{instead}</span>}
      {unsigned(sumsByCurrency([{ value: lost, currency: account.currency }])).map(({ text, currency }) => (
        <span key={currency}>
          {text} <small>{currency}</small>
        </span>
      ))}
      {bare > 0 && <small className={`risk ${styles.bare}`}>{figure(bare)} without its stop</small>}
      {free > 0 && <small className={`quiet ${styles.bare}`}>and {figure(free)} with no stop</small>}
    </>
  );
}
