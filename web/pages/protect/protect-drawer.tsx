// One drawer sets, moves and removes what protects a position. Its sentence comes first, and follows each key.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { balance, instrumentOf, positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { accounts, brokers } from '../../api/queries.ts';
import { Drawer } from '../../parts/dialog.tsx';
import type { ProtectDraft } from '../../parts/drafts.ts';
import drawer from '../../parts/drawer.module.css';
import { figure, Held, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import {
  type Asked,
  asStanding,
  changeOf,
  hasProblem,
  problemsOf,
  stopPriceOf,
} from '../../parts/protection/asked.ts';
import { ProtectionFields } from '../../parts/protection/fields.tsx';
import { type Ground, isGiven, priceOf } from '../../parts/protection/levels.ts';
import { type Holding, shareInWords, wonAt } from '../../parts/protection/money.ts';
import { isBare } from '../../parts/protection/shapes.ts';
import { useProtect } from '../../parts/protection/use-protect.ts';
import { minuteOf } from '../../parts/times.ts';
import { Ladder } from './ladder.tsx';
import { Moves } from './moves.tsx';
import styles from './protect-drawer.module.css';
import { RemoveDialog } from './remove-dialog.tsx';
import { buttonWords, type Change, removesStop, sentenceOf } from './sentence.ts';

interface ProtectDrawerProps {
  readonly draft: ProtectDraft;
  readonly onClose: () => void;
}

export default function ProtectDrawer({ draft, onClose }: ProtectDrawerProps) {
  const { accountId, symbol, simulation } = draft;
  const { data: all } = useQuery(accounts);
  const held = useQuery(positions(accountId, { simulation }));
  const account = all?.find(({ id }) => id === accountId);
  const position = held.data?.items.find((one) => one.symbol === symbol);
  return (
    <Drawer
      title={
        <>
          {position && <Held position={position.quantity} />} {symbol}
          {account && `, ${account.name}`}
        </>
      }
      onClose={onClose}
    >
      {account && position && position.quantity !== 0 ? (
        <Protecting
          key={`${accountId} ${symbol} ${simulation}`}
          account={account}
          position={position}
          simulation={simulation}
          onClose={onClose}
        />
      ) : held.error ? (
        <ProblemNote fault={held.error} onAgain={held.refetch} />
      ) : held.isPending || !account ? (
        <Skeleton rows={6} />
      ) : (
        <p>Nothing is held in {symbol}: there is nothing to protect.</p>
      )}
    </Drawer>
  );
}

interface ProtectingProps {
  readonly account: Schemas['Account'];
  readonly position: Schemas['Position'];
  readonly simulation: boolean;
  readonly onClose: () => void;
}

function Protecting({ account, position, simulation, onClose }: ProtectingProps) {
  const { symbol, quantity, average_price: average, last_price: last } = position;
  const protection = position.protection;
  const { data: instrument } = useQuery(instrumentOf(account.id, symbol));
  const { data: money } = useQuery(balance(account.id));
  const { data: described } = useQuery(brokers);
  const broker = described?.items.find(({ name }) => name === account.broker);
  const sending = useProtect(onClose);
  const ground: Ground = {
    isLong: quantity > 0,
    entry: average,
    last,
    tick: instrument?.tick_size ?? null,
  };
  // What stood when the drawer was opened, or after a change: what is typed stays what it is while prices move.
  const standing = JSON.stringify(asStanding(protection, ground));
  const before = useMemo(() => JSON.parse(standing) as Asked, [standing]);
  const [typed, setTyped] = useState<Partial<Asked>>({});
  const [isRemoving, setRemoving] = useState(false);
  const asked: Asked = { ...before, ...typed };

  const holding: Holding = {
    quantity,
    average,
    last,
    contract: instrument?.contract_size ?? null,
    currency: money?.currency ?? null,
  };
  const isMissing = isBare(protection);
  const change: Change = { symbol, holding, ground, before, asked, isMissing };
  const problems = problemsOf(asked, ground);
  const isWrong = hasProblem(problems);
  const words = buttonWords(change);
  const { words: sentence, isLooser } = sentenceOf(change);
  const send = (sent: object) =>
    sending.mutate({ trading_account_id: account.id, symbol, simulation, ...sent });
  const unreal = unrealWord({ simulation, broker_name: account.broker, environment: account.environment });
  const rejected = sending.data && sending.data.status !== 'done' ? sending.data : null;
  const hasStop = stopPriceOf(before, ground) !== null;
  if (broker?.capabilities.stop === 'none')
    return <p>{broker.title} keeps no stops and no targets. An order can still be closed by the clock.</p>;
  return (
    <>
      <p className={`${drawer.say} ${styles.say} ${isLooser && !isWrong ? 'act' : ''}`} role="status">
        {isWrong
          ? 'Something below is not right yet.'
          : sentence.map((part, index) =>
              // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one sentence have no other name
              typeof part === 'string' ? part : <b key={index}>{part.strong}</b>,
            )}
      </p>
      {protection?.state === 'left' && (
        <p className={drawer.remark}>
          <span className="act">It is not being watched. {protection.reason}</span>
        </p>
      )}
      <Ladder
        was={stopPriceOf(before, ground)}
        stop={stopPriceOf(asked, ground)}
        entry={average}
        last={last}
        targets={asked.targets.flatMap(({ at, percent }) => {
          const price = isGiven(at) ? priceOf(at, 'target', ground) : null;
          return price === null ? [] : [{ price, share: shareInWords(Number(percent)) }];
        })}
      />
      <form onSubmit={(event) => event.preventDefault()}>
        <fieldset disabled={sending.isPending}>
          <legend className="unseen">What protects it</legend>
          <ProtectionFields
            asked={asked}
            problems={problems}
            ground={ground}
            wins={(price, percent) => wonAt(holding, price, (Math.abs(quantity) * percent) / 100)}
            currency={holding.currency}
            closesAt={
              protection?.time_stop_at
                ? minuteOf(new Date(protection.time_stop_at), new Date(serverNow()))
                : null
            }
            triggerBy={account.trigger_by}
            isFirst
            onChange={(changed) => {
              if (!sending.isPending) sending.reset();
              setTyped({ ...typed, ...changed });
            }}
          />
        </fieldset>
      </form>
      {hasStop && !isMissing && broker && <HowMoved broker={broker} />}
      {protection && <Moves id={protection.id} onLeave={onClose} />}
      <div className={drawer.sends}>
        {sending.error && <ProblemNote fault={sending.error} />}
        {rejected && <Rejected order={rejected} onLeave={onClose} />}
        <button
          type="button"
          className="button trade"
          disabled={words === null || isWrong || sending.isPending}
          onClick={() => (removesStop(change) ? setRemoving(true) : send(changeOf(asked, before)))}
        >
          {sending.isPending
            ? 'Sending…'
            : words === null
              ? 'Nothing is changed yet'
              : removesStop(change)
                ? `${words}…`
                : words}
        </button>
        <p>
          {unreal ? (
            <>
              <Unreal word={unreal} /> No real money
            </>
          ) : (
            'Real money'
          )}
          , on {account.name}. {!isMissing && 'The stop stands at the broker, also while we are away. '}
          {hasStop && (
            <button type="button" className="link" onClick={() => setRemoving(true)}>
              Remove the stop…
            </button>
          )}
        </p>
      </div>
      {isRemoving && (
        <RemoveDialog
          what={`${figure(Math.abs(quantity))} ${symbol}`}
          isMissing={isMissing}
          hasTargets={before.targets.some(({ at }) => isGiven(at))}
          at={stopPriceOf(before, ground)}
          onClose={() => setRemoving(false)}
          onRemove={() => {
            setRemoving(false);
            const bare = {
              ...before,
              stop: { ...before.stop, text: '' },
              trail: { ...before.trail, text: '' },
            };
            send(changeOf(bare, before));
          }}
        />
      )}
    </>
  );
}

/** Whether there is a moment without a stop. */
function HowMoved({ broker }: { readonly broker: Schemas['Broker'] }) {
  const { moves, reserves } = broker.capabilities;
  return (
    <p className={styles.how}>
      <Mark name={reserves ? 'unreached' : 'passed'} />
      {reserves
        ? `${broker.title} keeps shares for each order: to move the stop, the old one may have to go first.`
        : moves === 'replace'
          ? 'The new stop is placed before the old one goes: no moment without a stop.'
          : `${broker.title} moves it in place: no moment without a stop.`}
    </p>
  );
}

function Rejected({
  order,
  onLeave,
}: {
  readonly order: Pick<Schemas['OrderResult'], 'order_id' | 'status' | 'error'>;
  readonly onLeave: () => void;
}) {
  return (
    <p className={drawer.pressed} role="alert">
      <b className="act">{order.error ? 'Not changed.' : `It is ${order.status}.`}</b> {order.error?.message}{' '}
      <Link to={`/orders/${order.order_id}` as never} onClick={onLeave}>
        Its story
      </Link>
    </p>
  );
}
