// One position: what is held beside what the strategy says, what protects it, and below it what is to be known or done.

import type { Schemas } from '../../api/client.ts';
import { figure, Held, Profit } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { useOver } from '../../parts/over.tsx';
import {
  alignOrder,
  isHeldElsewhere,
  mayBeInWords,
  reasonInWords,
  standingOf,
} from '../../parts/standing.ts';
import { When } from '../../parts/when.tsx';
import { Below } from './below.tsx';
import { type Book, type Held as HeldHere, wordOf } from './books.ts';
import styles from './positions.module.css';
import { StopCell, TargetCell, useKeepsStops } from './protection-cells.tsx';
import { ProtectionRow, saysSomething } from './protection-row.tsx';
import { averageInWords, differenceInWords, toneOf } from './standing.ts';

interface PositionRowsProps {
  readonly book: Book;
  readonly position: HeldHere;
  readonly onAlign: () => void;
}

export function PositionRows({ book, position, onAlign }: PositionRowsProps) {
  const { account, simulation, currency } = book;
  const { openTrade } = useOver();
  const { symbol, quantity, tradable } = position;
  const order = tradable ? alignOrder(position) : null;
  const row = wordOf(book) ? 'hatched' : '';
  const protection = position.protection;
  const isSame = standingOf(position).is === 'same';
  const isHeldBack = tradable && standingOf(position).is === 'held back';
  const isExplained = order !== null || isHeldBack || !tradable || saysSomething(protection);
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
        className={`${tradable ? 'opens' : ''} ${styles.position} ${isExplained ? styles.explained : ''} ${isSame ? styles.same : ''} ${row}`}
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
          {position.last_signal_at && (
            <small>
              signal <When at={position.last_signal_at} />
            </small>
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
          {position.may_be ? (
            <span className="risk">{mayBeInWords(position.may_be)}</span>
          ) : isHeldElsewhere(position) && position.in_sync ? (
            <span className="quiet">under its month</span>
          ) : (
            <Held position={quantity} />
          )}
        </td>
        <td className={`num ${styles.difference}`}>
          <Difference position={position} />
          <Closed position={position} />
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
        <td className={`num ${styles.open}`} data-head={position.open_profit === null ? undefined : 'open'}>
          {position.open_profit !== null && <Profit value={position.open_profit} unit={currency} exact />}
          {book.realised.has(symbol) && (
            <small className={styles.realised}>
              today <Profit value={book.realised.get(symbol)} unit={currency} />
            </small>
          )}
        </td>
        <td className={`num ${styles.stop} ${protection?.stop_loss == null ? styles.none : ''}`}>
          {quantity !== 0 && <StopCell book={book} position={position} />}
        </td>
        <td className={`num ${styles.target}`}>
          {protection && protection.take_profit.length > 0 && <TargetCell book={book} position={position} />}
        </td>
        <td className={`num ${styles.move}`}>
          {tradable && quantity !== 0 && <Change book={book} position={position} />}
        </td>
      </tr>
      <ProtectionRow book={book} position={position} />
      {!tradable && (
        <Below book={book}>
          <p>Not traded here. {position.reason}</p>
        </Below>
      )}
      {isHeldBack && (
        <Below book={book}>
          <p className="quiet">{reasonInWords(position)}</p>
        </Below>
      )}
      {order && (
        <Below book={book}>
          <p>
            {reasonInWords(position)} {order.says}
          </p>
          <button type="button" className="button trade" onClick={onAlign}>
            {order.button}…
          </button>
        </Below>
      )}
    </>
  );
}

/** Sets, moves and removes what protects it, in the one drawer. */
function Change({ book: { account, simulation }, position }: Omit<PositionRowsProps, 'onAlign'>) {
  const { openProtect } = useOver();
  const { symbol, protection } = position;
  if (!useKeepsStops(account.broker, simulation)) return null;
  return (
    <button
      type="button"
      className={`link ${styles.change}`}
      aria-label={`${protection ? 'Change' : 'Set'} what protects ${symbol}`}
      onClick={() => openProtect({ accountId: account.id, symbol, simulation })}
    >
      {protection ? 'Change' : 'Set'}
    </button>
  );
}

function Difference({ position }: { readonly position: HeldHere }) {
  const standing = standingOf(position);
  const tone = toneOf(standing);
  const words = differenceInWords(standing);
  if (tone === null) return <span className="quiet">{words}</span>;
  return (
    <span className={`status ${tone}`}>
      <Mark name={standing.is === 'unknown' ? 'unknown' : tone === 'usual' ? 'same' : 'differs'} />
      {words || <span className="unseen">in sync</span>}
    </span>
  );
}

/** Why a strategy that says more than is held is in sync all the same. */
function Closed({ position: { closed_by_protection: closed } }: { readonly position: Schemas['Position'] }) {
  if (!closed) return null;
  return <small className={styles.closed}>{figure(Math.abs(closed))} closed by protection</small>;
}
