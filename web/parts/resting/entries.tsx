// What waits at the brokers for a price: where and how far off, what protects it from its first fill, how much of it is filled, until
// when, and the two things that can be done about it.

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { priceNow } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { accounts as allAccounts } from '../../api/queries.ts';
import { DeletedAccount, figure, Side, Unreal } from '../figures.tsx';
import { Mark } from '../marks.tsx';
import { unrealOf } from '../numbers.ts';
import { useOver } from '../over.tsx';
import { Led } from '../page.tsx';
import { tookInWords } from '../protection/words.ts';
import { spelled } from '../symbol.ts';
import { minuteOf } from '../times.ts';
import { useNow, When } from '../when.tsx';
import { CancelDialog } from './cancel-dialog.tsx';
import { draftOf } from './draft.ts';
import styles from './entries.module.css';
import {
  awayInWords,
  entryInWords,
  leftInWords,
  priceInWords,
  type Resting,
  sideOf,
  unitsOf,
  waitsFor,
} from './words.ts';

/** What an account holds, where that was read. */
interface Book {
  readonly account: { readonly id: string };
  readonly simulation: boolean;
  readonly positions?: readonly Pick<Schemas['Position'], 'symbol' | 'last_price'>[] | undefined;
}

interface RestingEntriesProps {
  readonly entries: readonly Resting[];
  readonly books: readonly Book[];
  /** All of one account, which is named elsewhere. */
  readonly isOfOne?: boolean;
}

/** Prices move without any order of ours. */
const PRICE_AGAIN_MS = 30_000;

export function RestingEntries({ entries, books, isOfOne = false }: RestingEntriesProps) {
  const [asked, setAsked] = useState<string | null>(null);
  const { data: accounts } = useQuery(allAccounts);
  const lastOf = useLastPrices(entries, books);
  const cancelled = entries.find(({ order_id }) => order_id === asked);
  const accountOf = (order: Resting) => accounts?.find(({ id }) => id === order.trading_account_id);
  // The dialog stays for as long as somebody reads it, also where its entry is gone by then.
  const [shown, setShown] = useState<Resting | null>(null);
  const close = () => {
    setAsked(null);
    setShown(null);
  };
  const open = cancelled ?? shown;
  if (entries.length === 0 && open === null) return null;
  return (
    <Led>
      {entries.length > 0 && (
        <>
          <table className={`table two listed ${styles.resting} ${isOfOne ? styles.ofOne : ''}`}>
            <thead>
              <tr>
                <th scope="col">
                  <h2>Resting entries</h2>
                </th>
                <th scope="col" className={styles.account}>
                  Account
                </th>
                <th scope="col">Waits at</th>
                <th scope="col">Protected from its first fill</th>
                <th scope="col">Placed, ends</th>
                <th scope="col">
                  <span className="unseen">Move or cancel</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map((order) => (
                <Row
                  key={order.order_id}
                  order={order}
                  account={accountOf(order)}
                  last={lastOf(order)}
                  onCancel={() => {
                    setAsked(order.order_id);
                    setShown(order);
                  }}
                />
              ))}
            </tbody>
          </table>
          <p className={styles.note}>
            An exit, a market order or an order on the other side of the same symbol, and the kill switch,
            take these back first. A distance counts from the broker’s price of now.
          </p>
        </>
      )}
      {open && (
        <CancelDialog
          order={open}
          accountName={accountOf(open)?.name ?? 'a deleted account'}
          unreal={unrealOf(open, accountOf(open))}
          onClose={close}
        />
      )}
    </Led>
  );
}

interface RowProps {
  readonly order: Resting;
  readonly account: Schemas['Account'] | undefined;
  readonly last: number | null;
  readonly onCancel: () => void;
}

function Row({ order, account, last, onCancel }: RowProps) {
  const { openTrade } = useOver();
  const unreal = unrealOf(order, account);
  const price = waitsFor(order);
  const units = unitsOf(order);
  const filled = order.fill_quantity ?? 0;
  const name = entryInWords(order);
  return (
    <tr className={unreal ? 'hatched' : ''}>
      <th scope="row" className={styles.entry}>
        <Link to="/orders/$id" params={{ id: order.order_id } as never}>
          <Side side={sideOf(order)} /> {figure(units)} {spelled(order.symbol, order.broker_name)}
        </Link>{' '}
        <Unreal word={unreal} />
        <small>
          <span className="status">
            <Mark name={order.status === 'placed' ? 'placed' : 'partially_filled'} share={filled / units} />
            {filled > 0 ? `${figure(filled)} of ${figure(units)} filled` : order.status}
          </span>
        </small>
        <small className={styles.on}>on {account?.name ?? 'a deleted account'}</small>
      </th>
      <td className={`ellipsis ${styles.account}`} title={account?.name}>
        {account?.name ?? <DeletedAccount />}
      </td>
      <td className={styles.price}>
        {priceInWords(order)}
        <small>{price !== null && awayInWords(price, last)}</small>
      </td>
      <td className={styles.guarded}>
        <Protected order={order} />
      </td>
      <td className={styles.when}>
        <When at={order.submitted_at} />
        {order.entry_id !== null && (
          <>
            , id <span title={order.entry_id}>{order.entry_id}</span>
          </>
        )}
        <small>
          <Ends order={order} />
        </small>
      </td>
      <td className={styles.does}>
        <span>
          <button
            type="button"
            className="link"
            aria-label={`Move ${name} of ${order.symbol}`}
            onClick={() => openTrade(draftOf(order))}
          >
            Move…
          </button>
          <button
            type="button"
            className="link"
            aria-label={`Cancel ${name} of ${order.symbol}`}
            onClick={onCancel}
          >
            Cancel…
          </button>
        </span>
      </td>
    </tr>
  );
}

function Protected({
  order: { protection, unprotected_ms: took, fill_quantity },
}: {
  readonly order: Resting;
}) {
  if (protection === null) return <span className="quiet">no stop or target</span>;
  const { stop_loss: stop, take_profit: targets } = protection;
  const stands = [
    ...(stop === null ? [] : [`stop ${figure(stop)}`]),
    ...targets.slice(0, 1).map(({ price }) => `target ${figure(price)}`),
  ];
  return (
    <>
      {stands.length > 0 ? stands.join(', ') : 'armed'}
      <small>
        {!fill_quantity
          ? 'set by its first fill'
          : took === null
            ? 'its stop is not seen yet'
            : `protected within ${tookInWords(took)}`}
      </small>
    </>
  );
}

/** Alone, so that only these words tick. */
function Ends({ order: { expires_at: at, time_in_force } }: { readonly order: Resting }) {
  const now = useNow();
  if (at === null) return null;
  const left = Date.parse(at) - now;
  const until = minuteOf(new Date(at), new Date(now));
  const day = time_in_force === 'day' ? 'with its session, at the latest ' : '';
  return (
    <span title={at}>
      {left > 0 ? `ends ${day}${until}, in ${leftInWords(left)}` : `its time is over since ${until}`}
    </span>
  );
}

/** By what is held where something is; the broker is asked for the others. */
function useLastPrices(entries: readonly Resting[], books: readonly Book[]) {
  const heldAt = (order: Resting): number | null =>
    books
      .find(
        ({ account, simulation }) =>
          account.id === order.trading_account_id && simulation === order.simulation,
      )
      ?.positions?.find(({ symbol }) => symbol === spelled(order.symbol, order.broker_name))?.last_price ??
    null;
  const keyOf = ({ trading_account_id, symbol, simulation }: Resting): string =>
    JSON.stringify([trading_account_id, symbol, simulation]);
  const unknown = new Map(
    entries.filter((order) => heldAt(order) === null).map((order) => [keyOf(order), order]),
  );
  const prices = useQueries({
    queries: [...unknown.values()].map(({ trading_account_id: id, symbol, simulation }) => ({
      ...priceNow(id, symbol, { simulation }),
      refetchInterval: PRICE_AGAIN_MS,
    })),
  });
  const asked = new Map([...unknown.keys()].map((key, index) => [key, prices[index]?.data ?? null]));
  return (order: Resting): number | null => heldAt(order) ?? asked.get(keyOf(order)) ?? null;
}
