// One book: the account's row with its money at the right, its positions, and what differs with the order that ends it.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { figure, Held, Profit, Unreal } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { useOver } from '../../parts/over.tsx';
import { Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { alignOrder, isHeldElsewhere, reasonInWords, standingOf } from '../../parts/standing.ts';
import { When } from '../../parts/when.tsx';
import { type Book, wordOf } from './books.ts';
import styles from './positions.module.css';
import { averageInWords, differenceInWords, toneOf } from './standing.ts';

const COLUMNS = 9;

interface BookGroupProps {
  readonly book: Book;
  readonly onAlign: (symbol: string) => void;
  readonly onReset: () => void;
}

export function BookGroup({ book, onAlign, onReset }: BookGroupProps) {
  const { positions, fault, isReading } = book;
  const row = wordOf(book) ? 'hatched' : '';
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
            <ProblemNote fault={fault}>
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
              equity {figure(balance.equity)} {balance.currency}
              {balance.available === balance.equity
                ? ', all available'
                : `, ${figure(balance.available)} available`}
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

interface PositionRowsProps {
  readonly book: Book;
  readonly position: Schemas['Position'];
  readonly onAlign: () => void;
}

function PositionRows({ book, position, onAlign }: PositionRowsProps) {
  const { account, simulation, currency } = book;
  const { openTrade } = useOver();
  const { symbol, quantity, tradable } = position;
  const order = tradable ? alignOrder(position) : null;
  const row = wordOf(book) ? 'hatched' : '';
  const trade = () =>
    openTrade({
      accountId: account.id,
      symbol,
      simulation,
      ...(quantity === 0 ? {} : { action: 'close' as const }),
    });
  return (
    <>
      <tr
        className={`${tradable ? 'opens' : ''} ${styles.position} ${order || !tradable ? styles.explained : ''} ${row}`}
      >
        <th scope="row" className={styles.symbol}>
          {tradable ? (
            <button
              type="button"
              className={styles.cover}
              aria-label={`${symbol}: ${quantity === 0 ? 'trade' : 'close or trade'}`}
              onClick={trade}
            >
              {symbol}
            </button>
          ) : (
            symbol
          )}
        </th>
        <td className={`num ${styles.strategy}`} data-head="strategy">
          {position.strategy_position === null ? (
            <span className="quiet">not said</span>
          ) : (
            <Held position={position.strategy_position} />
          )}
        </td>
        <td className={`num ${styles.broker}`} data-head="broker">
          {isHeldElsewhere(position) && position.in_sync ? (
            <span className="quiet">under its month</span>
          ) : (
            <Held position={quantity} />
          )}
        </td>
        <td className={`num ${styles.difference}`}>
          <Difference position={position} />
        </td>
        <td className={`num ${styles.average}`}>
          {position.average_price !== null && quantity !== 0 && (
            <span title={figure(position.average_price)}>
              {averageInWords(position.average_price, position.last_price)}
            </span>
          )}
        </td>
        <td className={`num ${styles.last}`}>
          {position.last_price !== null && figure(position.last_price)}
        </td>
        <td className={`num ${styles.open}`} data-head="open">
          {position.open_profit !== null && <Profit value={position.open_profit} unit={currency} exact />}
        </td>
        <td className={`num ${styles.realised}`} data-head="realised today">
          {book.realised.has(symbol) && <Profit value={book.realised.get(symbol)} unit={currency} />}
        </td>
        <td className={`num quiet ${styles.at}`}>
          {position.last_signal_at && <When at={position.last_signal_at} />}
        </td>
      </tr>
      {!tradable && (
        <tr className={`${styles.why} ${row}`}>
          <td colSpan={COLUMNS}>
            <div>
              <p>Not traded here. {position.reason}</p>
            </div>
          </td>
        </tr>
      )}
      {order && (
        <tr className={`${styles.why} ${row}`}>
          <td colSpan={COLUMNS}>
            <div>
              <p>
                {reasonInWords(position)} {order.says}
              </p>
              <button type="button" className="button trade" onClick={onAlign}>
                {order.button}…
              </button>
            </div>
          </td>
        </tr>
      )}
    </>
  );
}

function Difference({ position }: { readonly position: Schemas['Position'] }) {
  const standing = standingOf(position);
  const tone = toneOf(standing);
  if (tone === null) return null;
  const words = differenceInWords(standing);
  return (
    <span className={`status ${tone}`}>
      <Mark name={tone === 'usual' ? 'same' : 'differs'} />
      {words || <span className="unseen">in sync</span>}
    </span>
  );
}
