// One account: whether it takes entries, what to paste, and everything that can be set.

import { useQuery } from '@tanstack/react-query';
import { balance, positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { counted, Figure, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { useOver } from '../../parts/over.tsx';
import { useTitle } from '../../parts/page.tsx';
import { RestingEntries } from '../../parts/resting/entries.tsx';
import { useResting } from '../../parts/resting/use-resting.ts';
import { MessageToPaste } from '../../parts/settings/paste.tsx';
import styles from '../../parts/settings/settings.module.css';
import { When } from '../../parts/when.tsx';
import { Broker } from './broker.tsx';
import { useSecret, useToday } from './change.ts';
import { GuardRows } from './guards-section.tsx';
import { PaperRows } from './paper.tsx';
import { ProtectionRows } from './protection.tsx';
import { Stop } from './stop.tsx';
import { Webhook } from './webhook.tsx';
import { type Account, headingOf, standingOf } from './words.ts';

export function AccountView({ account }: { readonly account: Account }) {
  const { id } = account;
  const secret = useSecret(account);
  const isConnected = account.broker_credentials_verified;
  const money = useQuery({ ...balance(id), enabled: isConnected });
  const held = useQuery({ ...positions(id), enabled: isConnected });
  const isBare = standingOf(account) === 'missing';
  return (
    <div>
      <Top account={account} asked={money} />
      {isBare && <Broker account={account} />}
      <Rests account={account} positions={held.data?.items} />
      <MessageToPaste id={id} secret={secret} />
      <Webhook account={account} />
      {!isBare && <Broker account={account} />}
      <GuardRows
        account={account}
        equity={money.data?.equity ?? null}
        currency={money.data?.currency ?? null}
      />
      <ProtectionRows account={account} />
      {account.paper && <PaperRows account={account} paper={account.paper} />}
      <Stop account={account} asked={held} />
    </div>
  );
}

interface RestsProps {
  readonly account: Account;
  readonly positions: readonly Schemas['Position'][] | undefined;
}

/** What waits there for a price, simulated or not. */
function Rests({ account, positions: held }: RestsProps) {
  const { data: all = [] } = useResting();
  const entries = all.filter(({ trading_account_id: id }) => id === account.id);
  return (
    <RestingEntries entries={entries} books={[{ account, simulation: false, positions: held }]} isOfOne />
  );
}

interface TopProps {
  readonly account: Account;
  readonly asked: { readonly data: Schemas['Balance'] | undefined; readonly isLoading: boolean };
}

function Top({ account, asked }: TopProps) {
  const { data: money } = asked;
  const { openHalt } = useOver();
  const { matters, rest } = headingOf(account);
  useTitle(account.name);
  const today = useToday(account);
  const unreal = unrealWord({ broker_name: account.broker, environment: account.environment });
  return (
    <header className={`top ${styles.top} ${unreal ? 'hatched' : ''}`}>
      <h1 className="answer">
        {matters} {rest && <span className="quiet">{rest}</span>}
      </h1>
      {!account.halted && (
        <button type="button" className="button" onClick={() => openHalt(account.id)}>
          <Mark name="stop" />
          Halt this account…
        </button>
      )}
      <p className="facts">
        <span>
          {account.broker !== 'paper' && `${account.broker}, ${account.environment.replaceAll('_', ' ')} `}
          <Unreal word={unreal} />
        </span>
        {money ? (
          <span>
            equity{' '}
            <b>
              <Figure value={money.equity} />
            </b>{' '}
            {money.currency}
          </span>
        ) : (
          asked.isLoading && (
            <span className="awaited" aria-hidden="true">
              equity <b>100,000.00</b> USDT
            </span>
          )
        )}
        {today && <Today today={today} />}
      </p>
    </header>
  );
}

function Today({ today }: { readonly today: Schemas['AccountToday'] }) {
  const { last_signal_at, positions: sync, orders_today, counted_all } = today;
  return (
    <>
      <span>
        {last_signal_at ? (
          <>
            last signal{' '}
            <b>
              <When at={last_signal_at} relative />
            </b>
          </>
        ) : (
          'no signal yet'
        )}
      </span>
      {sync && (
        <span>
          {sync.in_sync} of {counted(sync.of, 'position')} in sync
        </span>
      )}
      <span>
        <b>
          {orders_today}
          {!counted_all && '+'}
        </b>{' '}
        {orders_today === 1 ? 'order' : 'orders'} today
      </span>
    </>
  );
}
