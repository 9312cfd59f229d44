// What the accounts hold, as far as their brokers answer.

import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { positions } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { Held as HeldPosition, Profit, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Mark } from '../../parts/marks.tsx';
import { figure } from '../../parts/numbers.ts';
import { Led } from '../../parts/page.tsx';
import styles from './held.module.css';
import { type HeldRow, heldRows } from './held.ts';

/** Prices move without any order. */
const ASK_MS = 60_000;

export function Held({ overview }: { readonly overview: Schemas['Overview'] }) {
  const asked = overview.accounts.filter(({ credentials }) => credentials === 'verified');
  const answers = useQueries({
    queries: asked.map(({ id }) => ({ ...positions(id), refetchInterval: ASK_MS })),
  });
  const { rows, more } = heldRows(
    asked.map((account, place) => ({ account, positions: answers[place]?.data?.items ?? [] })),
    overview.todo,
  );
  const silent = asked.filter((_, place) => answers[place]?.isError);
  const isAsking = answers.some(({ isPending }) => isPending);
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
              Open profit
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // What cannot be traded here may be listed twice: long and short of one instrument.
            <Row key={`${row.account.id} ${row.symbol} ${row.quantity}`} row={row} />
          ))}
          {silent.map(({ id, name }) => (
            <tr key={id}>
              <td className="ellipsis" title={name}>
                {name}
              </td>
              <td className="num" colSpan={2}>
                <span className="quiet">not known: the broker does not answer</span>
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

function Row({ row }: { readonly row: HeldRow }) {
  const { account, symbol, quantity, open_profit, trouble, isAmbiguous } = row;
  const word = unrealWord(account);
  return (
    <tr className={word ? 'hatched' : ''}>
      <td className="ellipsis" title={`${symbol} on ${account.name}`}>
        {trouble && (
          <span className={`status ${trouble === 'missing' ? 'act' : 'risk'} ${styles.trouble}`}>
            <Mark name={trouble === 'unknown' ? 'unknown' : 'differs'} />
            <span className="unseen">{trouble === 'unknown' ? 'an order is unresolved' : 'differs'}</span>
          </span>
        )}
        {symbol} <Unreal word={word} /> {isAmbiguous && <small>{account.name}</small>}
      </td>
      <td className={`num ${styles.holds}`}>
        {quantity === 0 ? <span className="quiet">flat</span> : <HeldPosition position={quantity} />}
      </td>
      <td className={`num ${styles.openProfit}`}>
        <Profit value={quantity === 0 ? 0 : open_profit} unit={account.currency} exact />
      </td>
    </tr>
  );
}
