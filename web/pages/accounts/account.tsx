// One account: whether it takes entries, what to paste, and everything that can be set.

import { useQuery } from '@tanstack/react-query';
import { api, read, type Schemas } from '../../api/client.ts';
import { Figure, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { useOver } from '../../parts/over.tsx';
import { useTitle } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import styles from './accounts.module.css';
import { Broker } from './broker.tsx';
import { of } from './change.ts';
import { GuardRows } from './guards-section.tsx';
import { PaperRows } from './paper.tsx';
import { MessageToPaste } from './paste.tsx';
import { Stop } from './stop.tsx';
import { Webhook } from './webhook.tsx';
import { type Account, headingOf, standingOf } from './words.ts';

/** A refused signal is no order's change: it is asked for now and then. */
const AGAIN_MS = 10_000;

export function AccountView({ account }: { readonly account: Account }) {
  const { id } = account;
  const isConnected = account.broker_credentials_verified;
  const balance = useQuery({
    queryKey: ['balance', 'of', id],
    queryFn: () => read(api.GET('/trading/accounts/{id}/balance', of(id))),
    enabled: isConnected,
  });
  const positions = useQuery({
    queryKey: ['positions', 'of', id],
    queryFn: () => read(api.GET('/trading/accounts/{id}/positions', of(id))),
    enabled: isConnected,
  });
  const isBare = standingOf(account) === 'missing';
  return (
    <div>
      <Top account={account} balance={balance.data} positions={positions.data?.items} />
      {isBare && <Broker account={account} />}
      <MessageToPaste account={account} />
      <Webhook account={account} />
      {!isBare && <Broker account={account} />}
      <GuardRows
        account={account}
        equity={balance.data?.equity ?? null}
        currency={balance.data?.currency ?? null}
      />
      {account.paper && <PaperRows account={account} paper={account.paper} />}
      <Stop account={account} positions={positions.data?.items} />
    </div>
  );
}

interface TopProps {
  readonly account: Account;
  readonly balance: { readonly equity: number; readonly currency: string } | undefined;
  readonly positions: readonly { readonly in_sync: boolean | null }[] | undefined;
}

function Top({ account, balance, positions }: TopProps) {
  const { openHalt } = useOver();
  const { matters, rest } = headingOf(account);
  useTitle(account.name);
  const last = useQuery({
    queryKey: ['signals', 'last', account.id],
    // As JSON, which is what it is without a wish for CSV.
    queryFn: async () =>
      (await read(
        api.GET('/trading/signals', { params: { query: { trading_account_id: account.id, limit: 1 } } }),
      )) as Schemas['SignalSummaryPage'],
    refetchInterval: AGAIN_MS,
  });
  const followed = positions?.filter(({ in_sync }) => in_sync !== null) ?? [];
  const [signal] = last.data?.items ?? [];
  return (
    <header className={`top ${styles.top}`}>
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
          <Unreal word={unrealWord({ broker_name: account.broker, environment: account.environment })} />
        </span>
        {balance && (
          <span>
            equity{' '}
            <b>
              <Figure value={balance.equity} />
            </b>{' '}
            {balance.currency}
          </span>
        )}
        {last.data && (
          <span>
            {signal ? (
              <>
                last signal{' '}
                <b>
                  <When at={signal.arrived_at} relative />
                </b>
              </>
            ) : (
              'no signal yet'
            )}
          </span>
        )}
        {followed.length > 0 && (
          <span>
            {followed.filter(({ in_sync }) => in_sync).length} of {followed.length}{' '}
            {followed.length === 1 ? 'position' : 'positions'} in sync
          </span>
        )}
      </p>
    </header>
  );
}
