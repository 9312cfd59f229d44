// One book: the account's row with its money at the right, its positions, and what differs with the order that ends it.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { figure, Unreal } from '../../parts/figures.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { exposureOf } from '../../parts/protection/exposure.ts';
import { plainMoney } from '../../parts/protection/money.ts';
import { When } from '../../parts/when.tsx';
import { COLUMNS } from './below.tsx';
import { type Book, wordOf } from './books.ts';
import { faultAs } from './fault.ts';
import { PositionRows } from './position-rows.tsx';
import styles from './positions.module.css';

interface BookGroupProps {
  readonly book: Book;
  readonly onAlign: (symbol: string) => void;
  readonly onReset: () => void;
}

export function BookGroup({ book, onAlign, onReset }: BookGroupProps) {
  const { account, positions, fault, isReading } = book;
  const row = wordOf(book) ? 'hatched' : '';
  const told = faultAs(fault, account);
  return (
    <tbody>
      <GroupRow book={book} onReset={onReset} />
      {positions?.map((position) => (
        <PositionRows
          key={keyOf(position)}
          book={book}
          position={position}
          onAlign={() => onAlign(position.symbol)}
        />
      ))}
      {positions?.length === 0 && (
        <tr className={row}>
          <td colSpan={COLUMNS} className="quiet">
            flat, and no strategy says otherwise
          </td>
        </tr>
      )}
      {isReading && (
        <tr className={`${row} ${styles.waits}`}>
          <td colSpan={COLUMNS}>
            <Skeleton rows={2} />
          </td>
        </tr>
      )}
      {fault !== null && !isReading && (
        <tr className={`${row} ${styles.fault}`}>
          <td colSpan={COLUMNS}>
            <ProblemNote fault={told}>
              {told !== fault && (
                <>
                  <Link to="/accounts/$id" params={{ id: account.id } as never}>
                    Enter new credentials
                  </Link>
                  .{' '}
                </>
              )}
              {book.readAt !== null && (
                <>
                  What is shown was read at <When at={new Date(book.readAt).toISOString()} />.{' '}
                </>
              )}
              <button type="button" className="link" onClick={book.again}>
                Ask again
              </button>
            </ProblemNote>
          </td>
        </tr>
      )}
    </tbody>
  );
}

function GroupRow({ book, onReset }: Pick<BookGroupProps, 'book' | 'onReset'>) {
  const { account, simulation, balance } = book;
  const word = wordOf(book);
  return (
    <tr className={`${styles.group} ${word ? 'hatched' : ''}`}>
      <th scope="rowgroup" colSpan={COLUMNS}>
        <div>
          <span className={styles.name}>
            <Link to="/accounts/$id" params={{ id: account.id } as never} title={account.name}>
              {account.name}
            </Link>{' '}
            {word ? (
              <>
                <Unreal word={word} /> {simulation ? 'its own book' : 'no real money'}
              </>
            ) : (
              `${account.broker}, ${account.environment}`
            )}
            {account.halted && (
              <>
                {', '}
                <b>halted</b>
              </>
            )}
          </span>
          {balance && (
            <small>
              <AtRisk book={book} />
              <span title={`${figure(balance.equity)}, ${figure(balance.available)} available`}>
                equity {plainMoney(balance.equity)} {balance.currency}
                {balance.available === balance.equity
                  ? ', all available'
                  : `, ${plainMoney(balance.available)} available`}
              </span>
            </small>
          )}
          {simulation && (
            <button type="button" className="link" onClick={onReset}>
              Reset this book…
            </button>
          )}
        </div>
      </th>
    </tr>
  );
}

/** What is not tradable may be listed twice: long and short of one instrument. */
const keyOf = ({ symbol, quantity, tradable }: Schemas['Position']): string =>
  tradable ? symbol : `${symbol} ${quantity}`;

function AtRisk({ book }: { readonly book: Book }) {
  const { unprotected, risk } = exposureOf(book.positions ?? []);
  return (
    <>
      {risk !== null && (
        <>
          at risk to the stops{' '}
          <b>
            {plainMoney(risk)} {book.currency}
          </b>
          ;{' '}
        </>
      )}
      {unprotected > 0 && (
        <>
          <span className="risk">
            {unprotected} without {unprotected === 1 ? 'its stop' : 'their stops'}
          </span>
          ;{' '}
        </>
      )}
    </>
  );
}
