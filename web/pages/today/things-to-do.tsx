// The things to do, worst first, each with its one button.

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { AlignDialog } from '../../parts/align-dialog.tsx';
import { Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { counted } from '../../parts/numbers.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Resume } from '../../parts/protection/resume.tsx';
import { spanInWords } from '../../parts/protection/words.ts';
import { useNow, When } from '../../parts/when.tsx';
import { Bare } from './bare.tsx';
import { TermsDialog } from './terms-dialog.tsx';
import { isBare, markOf, nextLook, wayOn } from './things.ts';
import styles from './things-to-do.module.css';

type Todo = Schemas['Todo'];

export function Things({ overview }: { readonly overview: Schemas['Overview'] }) {
  return (
    <>
      <ol className={styles.things} aria-label="To do, the worst first">
        {overview.todo.map((todo) => (
          <Thing
            key={`${todo.kind} ${todo.order_id ?? todo.trading_account_id} ${todo.symbol}`}
            todo={todo}
            account={overview.accounts.find(({ id }) => id === todo.trading_account_id)}
          />
        ))}
      </ol>
      {overview.todo_more > 0 && (
        <p className="quiet">{counted(overview.todo_more, 'more thing')} to do, after these.</p>
      )}
    </>
  );
}

function Thing({
  todo,
  account,
}: {
  readonly todo: Todo;
  readonly account: Schemas['AccountToday'] | undefined;
}) {
  const word = account ? unrealWord(account) : null;
  const { severity, title, detail, since, order_id } = todo;
  const [fault, setFault] = useState<unknown>(null);
  return (
    <li
      className={`${styles.thing} ${severity === 'risk' ? styles.risk : styles.act} ${word ? 'hatched' : ''}`}
    >
      <Mark name={markOf(todo)} />
      <div>
        <h2>
          {title}{' '}
          {since && isBare(todo) && (
            <span className="risk">
              <NoneFor since={since} />
            </span>
          )}{' '}
          <Unreal word={word} />
        </h2>
        <p>
          {detail} {todo.next_at && <NextLook todo={todo} />}{' '}
          {todo.protection_id ? (
            <Link to={`/protections/${todo.protection_id}` as never}>Its story</Link>
          ) : (
            order_id && (
              <Link to="/orders/$id" params={{ id: order_id }}>
                Its story
              </Link>
            )
          )}
        </p>
        {fault !== null && <ProblemNote fault={fault} />}
      </div>
      <p className={styles.since}>
        {since && (
          <>
            since <When at={since} />
          </>
        )}
      </p>
      <WayOn todo={todo} account={account} onFault={setFault} />
    </li>
  );
}

/** How long already, while it counts. */
const NoneFor = ({ since }: { readonly since: string }) =>
  `None for ${spanInWords(useNow() - Date.parse(since))}.`;

/** Alone, so that only these words tick. */
const NextLook = ({ todo }: { readonly todo: Todo }) => nextLook(todo, useNow());

function WayOn({
  todo,
  account,
  onFault,
}: {
  readonly todo: Todo;
  readonly account: Schemas['AccountToday'] | undefined;
  readonly onFault: (fault: unknown) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const way = wayOn(todo);
  if (way === null) return null;
  const { does, words } = way;
  const { order_id, trading_account_id } = todo;
  if (does === 'look' && order_id) return <LookNow orderId={order_id} words={words} onFault={onFault} />;
  if (does === 'open_story' && order_id)
    return (
      <Link to="/orders/$id" params={{ id: order_id }} className="button">
        {words}
      </Link>
    );
  if (does === 'open_account' && trading_account_id)
    return (
      <Link to="/accounts/$id" params={{ id: trading_account_id }} className="button">
        {words}
      </Link>
    );
  if (does === 'open_notifications')
    return (
      <Link to="/notifications" className="button">
        {words}
      </Link>
    );
  if (does === 'resume' && todo.protection_id) return <Resume id={todo.protection_id} onFault={onFault} />;
  if (does === 'protect' && trading_account_id && todo.symbol)
    return <Bare accountId={trading_account_id} symbol={todo.symbol} words={words} onFault={onFault} />;
  const close = () => setOpen(false);
  const aligns = isOpen && does === 'align';
  return (
    <>
      <button
        type="button"
        className={does === 'align' ? 'button trade' : 'button'}
        onClick={() => setOpen(true)}
      >
        {words}
      </button>
      {aligns && account && todo.symbol && (
        <AlignDialog
          account={{ ...account, broker: account.broker_name }}
          symbol={todo.symbol}
          told={todo.strategy_position}
          onClose={close}
        />
      )}
      {isOpen && does === 'accept_terms' && <TermsDialog onClose={close} />}
    </>
  );
}

/** What the broker says comes with the order's next change: the page is told of it. */
function LookNow({
  orderId,
  words,
  onFault,
}: {
  readonly orderId: string;
  readonly words: string;
  readonly onFault: (fault: unknown) => void;
}) {
  const queries = useQueryClient();
  const look = useMutation({
    mutationFn: () => read(api.POST('/trading/orders/{id}/look', { params: { path: { id: orderId } } })),
    onSuccess: () => onFault(null),
    onError: onFault,
    onSettled: () => queries.invalidateQueries({ queryKey: ['overview'] }),
  });
  return (
    <button type="button" className="button primary" disabled={look.isPending} onClick={() => look.mutate()}>
      <span aria-live="polite">
        {look.isPending ? 'Asking the broker…' : look.isSuccess ? 'Look again' : words}
      </span>
    </button>
  );
}
