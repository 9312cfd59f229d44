// What the accounts hold, as far as their brokers answer.

import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { Held as HeldPosition, Profit, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark, type MarkName } from '../../parts/marks.tsx';
import { counted, figure, money } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import { isBare } from '../../parts/protection/shapes.ts';
import { spanInWords } from '../../parts/protection/words.ts';
import { useResting } from '../../parts/resting/use-resting.ts';
import { mayBeInWords } from '../../parts/standing.ts';
import { useNow } from '../../parts/when.tsx';
import styles from './held.module.css';
import { type HeldRow, heldRows } from './held.ts';
import { useHeld } from './use-held.ts';

export function Held({ overview }: { readonly overview: Schemas['Overview'] }) {
  const all = useHeld(overview);
  const { data: resting = [] } = useResting();
  const { rows, more } = heldRows(
    all.map(({ account, positions = [] }) => ({ account, positions })),
    overview.todo,
  );
  // What can be lost says more than what is open, as soon as anything is protected.
  const hasStops = rows.some(({ protection }) => protection !== null);
  const silent = all.flatMap(({ account, isSilent }) => (isSilent ? [account] : []));
  const isAsking = all.some((book) => book.isAsking);
  return (
    <Led>
      <table className={`table listed ${styles.held}`}>
        <colgroup>
          <col />
          <col className={styles.colHolds} />
          <col className={styles.colOpenProfit} />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">
              <h2>
                <Link to="/positions">Positions</Link>
              </h2>
            </th>
            <th scope="col" className="num">
              Broker
            </th>
            <th scope="col" className="num">
              {hasStops ? 'Stop, at risk' : 'Open profit'}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // What cannot be traded here may be listed twice: long and short of one instrument.
            <Row key={`${row.account.id} ${row.symbol} ${row.quantity}`} row={row} hasStops={hasStops} />
          ))}
          {silent.map(({ id, name }) => (
            <tr key={id}>
              <td className="ellipsis" title={name}>
                {name}
              </td>
              <td className="num" colSpan={2}>
                <span className="quiet">not known: no answer came</span>
              </td>
            </tr>
          ))}
          {rows.length === 0 && silent.length === 0 && (
            <tr>
              <td colSpan={3} className="quiet">
                {isAsking ? 'The brokers are being asked…' : 'Nothing is held.'}
              </td>
            </tr>
          )}
          {resting.length > 0 && (
            <tr>
              <td colSpan={3}>
                <Link to="/positions">
                  {counted(resting.length, 'entry', 'entries')}{' '}
                  {resting.length === 1 ? 'rests at the broker' : 'rest at the brokers'}
                </Link>
              </td>
            </tr>
          )}
          {more > 0 && (
            <tr>
              <td colSpan={3}>
                <Link to="/positions">{figure(more)} more</Link>
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </Led>
  );
}

type Trouble = NonNullable<HeldRow['trouble']>;
const MARKS: Readonly<Record<Trouble, MarkName>> = {
  unknown: 'unknown',
  bare: 'risk',
  excess: 'differs',
  missing: 'differs',
};
const WORDS: Readonly<Record<Trouble, string>> = {
  unknown: 'an order is unresolved',
  bare: 'its stop is missing',
  excess: 'differs',
  missing: 'differs',
};

/** Where its stop stands and what is lost there, or why there is none. */
function StopOf({ row: { protection, risk, account } }: { readonly row: HeldRow }) {
  if (!protection || (protection.stop_loss === null && !isBare(protection)))
    return <span className="quiet">no stop</span>;
  const { state, stop_loss, unprotected_since: since } = protection;
  if (isBare(protection))
    return <span className="risk">{since ? <NoneFor since={since} /> : 'unprotected'}</span>;
  if (state === 'unwatched' || state === 'left') return <span className="act">{state}</span>;
  return (
    <>
      {stop_loss !== null && figure(stop_loss)}{' '}
      {risk !== null && (
        <small className={styles.atRisk}>
          {money(-risk || 0)} {account.currency}
        </small>
      )}
    </>
  );
}

/** Alone, so that only these words tick. On a phone they take two lines, and a unit stays with its number. */
const NoneFor = ({ since }: { readonly since: string }) =>
  `none for ${spanInWords(useNow() - Date.parse(since)).replaceAll(' ', '\u00a0')}`;

function Row({ row, hasStops }: { readonly row: HeldRow; readonly hasStops: boolean }) {
  const { account, symbol, quantity, may_be, open_profit, trouble, isAmbiguous } = row;
  const word = unrealWord(account);
  return (
    <tr className={word ? 'hatched' : ''}>
      <td className="ellipsis" title={`${symbol} on ${account.name}`}>
        {trouble && (
          <span className={`status ${trouble === 'missing' ? 'act' : 'risk'} ${styles.trouble}`}>
            <Mark name={MARKS[trouble]} />
            <span className="unseen">{WORDS[trouble]}</span>
          </span>
        )}
        {symbol} <Unreal word={word} /> {isAmbiguous && <small>{account.name}</small>}
      </td>
      <td className={`num ${styles.holds}`}>
        {may_be ? (
          <span className="risk">{mayBeInWords(may_be)}</span>
        ) : quantity === 0 ? (
          <span className="quiet">flat</span>
        ) : (
          <HeldPosition position={quantity} />
        )}
      </td>
      <td className={`num ${styles.openProfit}`}>
        {hasStops ? (
          quantity !== 0 && <StopOf row={row} />
        ) : (
          <Profit value={quantity === 0 ? 0 : open_profit} unit={account.currency} exact />
        )}
      </td>
    </tr>
  );
}
