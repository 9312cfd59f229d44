// The price of what is held, with what was done about it since it was opened. A broker is asked when somebody wants to see it.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, read, type Schemas } from '../../api/client.ts';
import { Section, Skeleton } from '../../parts/page.tsx';
import { PriceChart } from '../../parts/price-chart/price-chart.tsx';
import { useTold } from '../../parts/price-chart/told.ts';
import { type Book, type Held, wordOf } from './books.ts';
import styles from './positions.module.css';

interface Charted {
  readonly book: Book;
  readonly position: Held;
}

const keyOf = ({ book: { account, simulation }, position: { symbol } }: Charted): string =>
  `${account.id} ${simulation} ${symbol}`;

export function Prices({ books }: { readonly books: readonly Book[] }) {
  const [chosen, choose] = useState<string | null>(null);
  const held = books.flatMap((book) =>
    (book.positions ?? []).flatMap((position) =>
      position.tradable && position.quantity !== 0 ? [{ book, position }] : [],
    ),
  );
  if (held.length === 0) return null;
  const shown = held.find((one) => keyOf(one) === chosen);
  return (
    <>
      <Section title="Price of what is held">
        <p className={styles.charted}>
          {held.map((one) => {
            const key = keyOf(one);
            return (
              <button
                key={key}
                type="button"
                className="link"
                aria-pressed={key === chosen}
                onClick={() => choose(key === chosen ? null : key)}
              >
                {one.position.symbol}
                {books.length > 1 && `, ${one.book.account.name}${one.book.simulation ? ', simulated' : ''}`}
              </button>
            );
          })}
        </p>
      </Section>
      {shown && <PriceOf key={keyOf(shown)} {...shown} />}
    </>
  );
}

/** Long enough for what rolls or is added to day by day. */
const MOST_ORDERS = 50;

/** The trade that is open; null: what is held was opened elsewhere, or long ago. */
async function openTrade({ book: { account, simulation }, position }: Charted) {
  const query = {
    trading_account_id: account.id,
    instrument: position.symbol,
    simulation,
    limit: MOST_ORDERS,
  };
  // Without an Accept of its own it answers JSON.
  const { items } = (await read(api.GET('/trading/orders', { params: { query } }))) as {
    readonly items: readonly Schemas['OrderSummary'][];
  };
  const opener = items.find(
    ({ fill_quantity, position_before }) =>
      fill_quantity !== null &&
      fill_quantity > 0 &&
      position_before !== null &&
      position_before * position.quantity <= 0,
  );
  if (!opener) return null;
  const params = { path: { id: opener.order_id } };
  return read(api.GET('/trading/trades/{id}', { params })).catch(() => null);
}

function PriceOf(charted: Charted) {
  const { book, position } = charted;
  const asked = useQuery({
    queryKey: ['trades', 'open', keyOf(charted)],
    queryFn: () => openTrade(charted),
    retry: false,
  });
  if (asked.isPending) return <Skeleton rows={8} />;
  const isUnreal = wordOf(book) !== null;
  return asked.data ? (
    <OfTrade trade={asked.data} isUnreal={isUnreal} />
  ) : (
    <PriceChart
      accountId={book.account.id}
      symbol={position.symbol}
      side={position.quantity > 0 ? 'long' : 'short'}
      opened={
        position.protection?.seen_at ?? position.last_signal_at ?? new Date(book.readAt ?? 0).toISOString()
      }
      closed={null}
      numbered={NOTHING}
      stop={NOTHING}
      targets={NOTHING}
      entry={position.average_price}
      isUnreal={isUnreal}
    />
  );
}
const NOTHING: readonly never[] = [];

function OfTrade({ trade, isUnreal }: { readonly trade: Schemas['TradeStory']; readonly isUnreal: boolean }) {
  const { numbered, stop, targets } = useTold(trade);
  return (
    <PriceChart
      accountId={trade.trading_account_id}
      symbol={trade.symbol}
      side={trade.side}
      opened={trade.opened_at}
      closed={trade.closed_at}
      numbered={numbered}
      stop={stop}
      targets={targets}
      entry={trade.entry_price}
      isUnreal={isUnreal}
      isListed
    />
  );
}
