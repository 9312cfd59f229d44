// The way back and to the neighbours, the headline, and the facts below it.

import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Unreal } from '../../parts/figures.tsx';
import { waitedInBackup } from '../../parts/happened.ts';
import { useKeys } from '../../parts/keys.tsx';
import { figure, unrealOf } from '../../parts/numbers.ts';
import { Path } from '../../parts/path.tsx';
import { isResting } from '../../parts/resting/words.ts';
import { SignalStatus } from '../../parts/signal-status.tsx';
import { clockTime, dayOf, When } from '../../parts/when.tsx';
import type { Headline, SignalRecord } from './headline.ts';
import { LookNow } from './look-now.tsx';
import { aroundOrder, auditOf, besideSignal } from './queries.ts';
import { canRehearse } from './rehearsable.ts';
import { Rehearse } from './rehearse.tsx';
import { placedBy, type WayOn, wayOnOf } from './said.ts';
import { Settle } from './settle.tsx';
import styles from './story.module.css';
import { shareOf } from './sums.ts';
import { TakeBack } from './take-back.tsx';

const WEEKDAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const ZONE = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

export type StoryOf =
  | { readonly signal: SignalRecord; readonly order: Schemas['OrderRecord'] | null }
  | { readonly signal: SignalRecord | null; readonly order: Schemas['OrderRecord'] };

interface StoryTopProps {
  readonly of: StoryOf;
  readonly headline: Headline;
  readonly account: Schemas['Account'] | undefined;
  /** The symbol, where the alert spells it in another way. */
  readonly sentAs: string | null;
}

export function StoryTop({ of: { signal, order }, headline, account, sentAs }: StoryTopProps) {
  const [rehearses, setRehearses] = useState(false);
  const at = (signal?.arrived_at ?? order?.submitted_at) as string;
  const date = new Date(at);
  const isUnknown = order?.status === 'unknown';
  const told = order ?? signal;
  const unreal = told && unrealOf(told, account);
  const wish = canRehearse(signal, order);
  const zone = ZONE.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value;
  const { data: audit } = useQuery({
    ...auditOf(order?.order_id ?? ''),
    enabled: order?.source === 'dashboard',
  });
  const maker = order && placedBy(order, audit?.items);
  const wayOn = wayOnOf(order?.error ?? null);
  const ms = order?.trace.answered ?? signal?.total_ms ?? null;
  return (
    <>
      <Path to="/signals" name="Signals">
        <span>{clockTime(date, true)}</span>
        <Neighbours of={{ signal, order } as StoryOf} />
      </Path>
      <header className={`top ${styles.top} ${unreal ? 'hatched' : ''}`}>
        <h1 className="answer">
          <span className={headline.isRisk ? 'risk' : undefined}>{headline.lead}</span>
          {headline.rest && (
            <span className={headline.isRisk ? undefined : 'quiet'}>
              {headline.lead.endsWith('?') ? ' ' : ', '}
              {headline.rest}
            </span>
          )}
        </h1>
        <div className={styles.tools}>
          {isUnknown && order && !waitedInBackup(order) && <LookNow orderId={order.order_id} isMain />}
          {order && isResting(order) && <TakeBack order={order} account={account} />}
          {order?.status === 'placed' && <LookNow orderId={order.order_id} />}
          {order && <Settle order={order} />}
          {wish && !isUnknown && (
            <button type="button" className="button" onClick={() => setRehearses(true)}>
              Rehearse in simulation
            </button>
          )}
        </div>
        <p className="facts">
          <SignalStatus
            status={order?.status ?? signal?.outcome ?? ''}
            share={order && shareOf(order.legs)}
          />
          <span>
            {account && <Link to={`/accounts/${account.id}` as never}>{account.name}</Link>}
            {account && !unreal && `, ${account.environment}`} <Unreal word={unreal} />
          </span>
          {sentAs && <span className="quiet">sent as {sentAs}</span>}
          <span>
            {WEEKDAY.format(date)} {dayOf(date)}{' '}
            <b title={`${date.toISOString()} UTC`}>{clockTime(date, true)}</b> {zone}
          </span>
          {!order && ms !== null && (
            <span>
              took <b>{figure(ms)}</b> ms
            </span>
          )}
          {signal?.code && (
            <span>
              <Code code={signal.code} />
            </span>
          )}
          {order?.error && (
            <span>
              <Code code={order.error.code} />
            </span>
          )}
          {maker && <span>{maker}</span>}
          {order?.settled_by === 'user' && <span>outcome recorded by its owner</span>}
          {order?.half_done && <span className="risk">closed, and not opened</span>}
          <span>
            {order ? 'order' : 'signal'} <CopyId id={order?.order_id ?? signal?.id ?? ''} />
          </span>
          {order?.verification.state === 'done' && order.filled_at && (
            <span>
              fill seen at <When at={order.filled_at} milliseconds />
            </span>
          )}
        </p>
        {order?.sizing?.text && <p className={styles.advice}>{order.sizing.text}</p>}
        {wayOn && <Advice wayOn={wayOn} />}
      </header>
      {rehearses && wish && <Rehearse wish={wish} account={account} onClose={() => setRehearses(false)} />}
    </>
  );
}

/** It leads to what it means and what to do, as the API describes it. */
const Code = ({ code }: { readonly code: string }) => (
  <a href={`/docs/errors#${code}`}>
    <code>{code}</code>
  </a>
);

const Advice = ({ wayOn: { advice, nextOpen } }: { readonly wayOn: WayOn }) => (
  <p className={styles.advice}>
    {advice}
    {nextOpen && (
      <>
        {' '}
        The market opens next at <When at={nextOpen} />.
      </>
    )}
  </p>
);

export function Neighbours({ of: { signal, order } }: { readonly of: StoryOf }) {
  const navigate = useNavigate();
  const { data: signals } = useQuery({
    ...besideSignal(signal?.id ?? '', signal?.arrived_at ?? ''),
    enabled: signal !== null,
  });
  const path = (signalId: string | null | undefined, orderId: string | undefined): string | null =>
    signalId ? `/signals/${signalId}` : orderId ? `/orders/${orderId}` : null;
  // An order without a signal has its own neighbours: those of its account and symbol.
  const { data: own } = useQuery({
    ...aroundOrder(order?.order_id ?? ''),
    enabled: signal === null && order !== null,
  });
  const older = path(signals?.older, own?.previous_order?.order_id);
  const newer = path(signals?.newer, own?.next_order?.order_id);
  useKeys({
    j: () => older && void navigate({ to: older }),
    k: () => newer && void navigate({ to: newer }),
  });
  return (
    <span className={styles.beside}>
      {older && (
        <Link to={older as never} rel="prev">
          Older <kbd>j</kbd>
        </Link>
      )}
      {newer && (
        <Link to={newer as never} rel="next">
          Newer <kbd>k</kbd>
        </Link>
      )}
    </span>
  );
}
