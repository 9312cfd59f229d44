// The command or the message to paste, and the wait for what comes of it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { order as orderOf } from '../../api/queries.ts';
import { useOrderChanges } from '../../live/live.tsx';
import { CopyButton, CopyId } from '../../parts/copy.tsx';
import { Figure, Side, Unreal } from '../../parts/figures.tsx';
import { happened } from '../../parts/happened.ts';
import { Mark } from '../../parts/marks.tsx';
import { unrealOf } from '../../parts/numbers.ts';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { SignalStatus } from '../../parts/signal-status.tsx';
import { clockTime } from '../../parts/times.ts';
import { When } from '../../parts/when.tsx';
import {
  curlCommand,
  firstSignal,
  strategyMessage,
  type FirstSignal as Words,
  webhookOf,
} from './first-steps.ts';
import styles from './first-visit.module.css';
import { webhookSecret } from './secret.ts';

type Account = Schemas['Account'];

const TABS = { terminal: 'from a terminal', platform: 'from the charting platform' } as const;

interface ShownProps {
  readonly account: Account;
  /** It goes into the simulated book. */
  readonly isSimulated: boolean;
  readonly onCopied: () => void;
}

interface FirstSignalProps extends Omit<ShownProps, 'isSimulated'> {
  /** null: it is not known yet what the plan allows. */
  readonly isSimulated: boolean | null;
}

export function FirstSignal({ account, isSimulated, onCopied }: FirstSignalProps) {
  const [tab, setTab] = useState<keyof typeof TABS>('terminal');
  const { data, error } = useQuery(webhookSecret(account.id));
  return (
    <section className="section">
      <header className={styles.tabbed}>
        <h2>The first signal</h2>
        <span className={styles.tabs}>
          {(['terminal', 'platform'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
              {TABS[name]}
            </button>
          ))}
        </span>
      </header>
      {error && <ProblemNote fault={error} />}
      {data && isSimulated !== null ? (
        <Shown tab={tab} secret={data.webhook_secret} {...{ account, isSimulated, onCopied }} />
      ) : (
        !error && <Skeleton rows={3} />
      )}
      <Waiting account={account} />
    </section>
  );
}

type SecretProps = ShownProps & { readonly secret: string };

const Shown = ({ tab, ...props }: SecretProps & { readonly tab: keyof typeof TABS }) => (
  <div className={props.isSimulated ? 'hatched' : ''}>
    {props.isSimulated && (
      <p className={styles.lead}>
        <Unreal word="simulated" />{' '}
        <span className="quiet">It goes into the simulated book, which every plan allows.</span>
      </p>
    )}
    {tab === 'terminal' ? <Terminal {...props} /> : <Platform {...props} />}
  </div>
);

const noting = (text: string, note: () => void) => async () => {
  note();
  return text;
};

function Terminal({ account, secret, isSimulated, onCopied }: SecretProps) {
  const words = firstSignal(account, secret, isSimulated);
  const command = curlCommand(words);
  return (
    <>
      <pre className="ink">
        <code>{command}</code>
      </pre>
      <div className={styles.under}>
        <CopyButton text={noting(command, onCopied)} primary>
          Copy the command
        </CopyButton>
        <SendForMe words={words} account={account} isSimulated={isSimulated} />
      </div>
    </>
  );
}

/** The same message, from here: to a paper account, or into the simulated book. */
function SendForMe({
  words,
  account,
  isSimulated,
}: Omit<ShownProps, 'onCopied'> & { readonly words: Words }) {
  const queries = useQueryClient();
  const { symbol, quantity, secret } = words;
  const send = useMutation({
    mutationFn: () =>
      read(
        api.POST('/webhook/{token}/order', {
          params: {
            path: { token: account.webhook_token },
            query: isSimulated ? { simulation: 'true' } : {},
          },
          body: { action: 'buy', symbol, quantity, timestamp: new Date(serverNow()).toISOString(), secret },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['signals'] }),
  });
  return (
    <>
      <button type="button" className="link" disabled={send.isPending} onClick={() => send.mutate()}>
        {send.isPending ? 'Sending…' : 'Send it for me'}
      </button>
      {send.error && <ProblemNote fault={send.error} />}
    </>
  );
}

function Platform({ account, secret, isSimulated, onCopied }: SecretProps) {
  const message = strategyMessage(secret);
  return (
    <>
      <p className={styles.lead}>
        In the alert of your strategy, under notifications, the webhook’s address is{' '}
        <CopyId id={webhookOf(account, isSimulated)} whole />
      </p>
      <pre className="paste">
        <code>{message}</code>
      </pre>
      <div className={styles.under}>
        <CopyButton text={noting(message, onCopied)} primary>
          Copy the message
        </CopyButton>
        <Link to="/accounts/$id" params={{ id: account.id }}>
          For a plain alert
        </Link>
      </div>
    </>
  );
}

/** Of the newest, where one after the other was refused. */
const LOOKED_AT = 20;
/** What ended so is not the first signal. */
const IN_VAIN = new Set(['rejected', 'failed', 'cancelled', 'expired']);
const hasPassed = ({ outcome, order_status }: Schemas['SignalSummary']): boolean =>
  outcome !== 'refused' && !IN_VAIN.has(order_status ?? '');
/** They come with the stream; whoever waits for the first one does not depend on it. */
const ASK_MS = 2_000;
/** What becomes of it comes by the stream, which may be away. */
const SEEN_MS = 10_000;

function Waiting({ account }: { readonly account: Account }) {
  const queries = useQueryClient();
  const [since] = useState(() => serverNow());
  const { data } = useQuery({
    queryKey: ['signals', 'first', account.id],
    async queryFn() {
      const query = { limit: LOOKED_AT, trading_account_id: account.id };
      const page = await read(api.GET('/trading/signals', { params: { query } }));
      // The steps tick by what the overview says.
      if (page.items.length > 0) void queries.invalidateQueries({ queryKey: ['overview'] });
      return page;
    },
    refetchInterval: ({ state }) => (state.data?.items.some(hasPassed) ? SEEN_MS : ASK_MS),
  });
  useOrderChanges(
    useCallback(() => void queries.invalidateQueries({ queryKey: ['signals', 'first'] }), [queries]),
  );
  const passed = data?.items.find(hasPassed);
  const [latest] = data?.items ?? [];
  return (
    <div aria-live="polite">
      {passed ? (
        <Arrived signal={passed} account={account} />
      ) : (
        <>
          {latest && <Arrived signal={latest} account={account} isOver />}
          <p className={styles.waiting}>
            <Mark name="executing" />
            <b>Waiting for your first signal…</b>
            <span className={styles.listening}>listening since {clockTime(new Date(since))}</span>
          </p>
          <div className={styles.ghost} aria-hidden="true">
            <i />
            <i />
            <i />
          </div>
          <p className={styles.note}>
            If nothing comes within a minute: a signal with a wrong secret, or from an address that is not
            allowed, is under <Link to="/security">Security</Link>. One sent to a wrong webhook address
            reaches no account; compare the address.
          </p>
        </>
      )}
    </div>
  );
}

function Arrived({
  signal,
  account,
  isOver = false,
}: {
  readonly signal: Schemas['SignalSummary'];
  readonly account: Account;
  /** It led to nothing, and the next one is waited for. */
  readonly isOver?: boolean;
}) {
  const { id, arrived_at, action, quantity, symbol } = signal;
  const word = unrealOf(signal, account);
  const { data: order = null } = useQuery({
    ...orderOf(signal.order_id ?? ''),
    enabled: signal.order_id !== null,
  });
  return (
    <>
      <div className={`${styles.arrived} ${word ? 'hatched' : ''}`}>
        <p>
          <b>
            {action && <Side side={action} />} {quantity ? <Figure value={quantity} /> : null} {symbol}
          </b>{' '}
          <Unreal word={word} />
        </p>
        <SignalStatus status={order?.status ?? signal.order_status ?? signal.outcome} />
        <p>{happened(signal, order).text}</p>
        <span className="quiet">
          <When at={arrived_at} relative />
        </span>
      </div>
      <div className={styles.under}>
        <Link to="/signals/$id" params={{ id }} className={isOver ? '' : 'button primary'}>
          See its story
        </Link>
        {/* A new visit: by then it is no longer the first. */}
        {!isOver && <a href="/">Go to Today, as it looks from now on</a>}
      </div>
    </>
  );
}
