// Below a position: why its stop does not stand, since when, and what to do; or what else is to be known of it.

import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { figure } from '../../parts/figures.tsx';
import { useOver } from '../../parts/over.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Resume } from '../../parts/protection/resume.tsx';
import { isBare, type Protection } from '../../parts/protection/shapes.ts';
import { TryAgain } from '../../parts/protection/try-again.tsx';
import { When } from '../../parts/when.tsx';
import { Below } from './below.tsx';
import type { Book } from './books.ts';
import styles from './positions.module.css';

interface ProtectionRowProps {
  readonly book: Book;
  readonly position: Schemas['Position'];
}

/** Somebody should know more of it than the cell says. */
export const saysSomething = (protection: Protection | null): protection is Protection =>
  protection !== null &&
  (protection.state === 'unprotected' ||
    protection.state === 'unwatched' ||
    protection.state === 'left' ||
    (protection.reason !== null && protection.state !== 'ended'));

export function ProtectionRow({ book, position }: ProtectionRowProps) {
  const protection = position.protection;
  const [fault, setFault] = useState<unknown>(null);
  if (!saysSomething(protection)) return null;
  return (
    <Below book={book}>
      {isBare(protection) ? (
        <Unprotected book={book} position={position} protection={protection} />
      ) : (
        <>
          <div>
            <p>
              <Known protection={protection} accountId={book.account.id} />
            </p>
            {fault !== null && <ProblemNote fault={fault} />}
          </div>
          {protection.state === 'left' && <Resume id={protection.id} onFault={setFault} />}
        </>
      )}
    </Below>
  );
}

function Known({ protection, accountId }: { readonly protection: Protection; readonly accountId: string }) {
  const { state, reason } = protection;
  if (state === 'unwatched')
    return (
      <>
        <b className="act">Nobody looks after this stop.</b>{' '}
        {reason ?? 'It stands at the broker, which refuses the credentials.'}{' '}
        <Link to="/accounts/$id" params={{ id: accountId } as never}>
          Enter new credentials
        </Link>
      </>
    );
  if (state === 'left')
    return (
      <>
        <b className="act">Nobody looks after this stop.</b> {reason}{' '}
        <Link to={`/protections/${protection.id}` as never}>Its story</Link>
      </>
    );
  return (
    <>
      {reason} <Link to={`/protections/${protection.id}` as never}>Its story</Link>
    </>
  );
}

function Unprotected({
  book,
  position,
  protection,
}: ProtectionRowProps & { readonly protection: Protection }) {
  const { openTrade } = useOver();
  const [fault, setFault] = useState<unknown>(null);
  const { symbol, quantity } = position;
  const amount = figure(Math.abs(quantity));
  return (
    <>
      <div>
        <p>
          <b className="risk">
            Unprotected
            {protection.unprotected_since && (
              <>
                {' '}
                since <When at={protection.unprotected_since} />
              </>
            )}
            .
          </b>{' '}
          {protection.reason ?? 'Its stop is wanted, and does not stand at the broker.'}{' '}
          {book.account.unprotected === 'alert' && (
            <>Nothing is closed by itself: the account is set to keep it, tell you and keep trying. </>
          )}
          <Link to={`/protections/${protection.id}` as never}>Its story</Link>
        </p>
        {fault !== null && <ProblemNote fault={fault} />}
      </div>
      <span className={styles.does}>
        <TryAgain
          accountId={book.account.id}
          symbol={symbol}
          simulation={book.simulation}
          stop={protection.stop_loss}
          words="Try the stop again now"
          onFault={setFault}
        />
        <button
          type="button"
          className="button trade"
          onClick={() =>
            openTrade({ accountId: book.account.id, symbol, simulation: book.simulation, action: 'close' })
          }
        >
          {quantity > 0 ? 'Sell' : 'Buy'} {amount} {symbol}, be flat…
        </button>
      </span>
    </>
  );
}
