// The price around what an order filled, with its stop for as long as that stood.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { protection as protectionOf } from '../../api/queries.ts';
import { type Fill, movesOf, numbered, stopOf, targetsOf } from '../../parts/price-chart/happened.ts';
import { PriceChart } from '../../parts/price-chart/price-chart.tsx';

type Order = Schemas['OrderRecord'];

/** What was filled, and when; without it there is nothing to show. */
const fillsOf = ({ legs, price }: Order): readonly Fill[] =>
  legs.flatMap(({ side, fill_quantity: quantity, fill_price, filled_at, acked_at, sent_at }) => {
    const at = filled_at ?? acked_at ?? sent_at;
    if (!quantity || fill_price === null || at === null) return [];
    return [{ at, side, quantity, price: fill_price, asked: price }];
  });

export function Picture({ order }: { readonly order: Order }) {
  // What moved an old stop belongs to the order that set it.
  const id = order.exit_reason === null ? (order.protection?.id ?? null) : null;
  const { data: protection } = useQuery({ ...protectionOf(id ?? ''), enabled: id !== null });
  const told = useMemo(() => {
    const history = protection?.history ?? [];
    return {
      numbered: numbered(fillsOf(order), movesOf(history)),
      stop: stopOf(history),
      targets: protection ? targetsOf(protection) : [],
    };
  }, [order, protection]);
  const entry = order.legs.find(({ leg, fill_price }) => leg === 'entry' && fill_price !== null);
  // Of a close: from when there was something to close, as far as that is known.
  const [first] = told.numbered;
  const last = told.numbered.at(-1);
  if (!first || !last || !told.numbered.some(({ fill }) => fill)) return null;
  const stands = protection ? protection.ended_at : last.at;
  return (
    <PriceChart
      accountId={order.trading_account_id}
      symbol={order.symbol}
      side={protection?.side ?? (entry?.side === 'sell' ? 'short' : 'long')}
      opened={first.at}
      closed={stands}
      {...told}
      entry={entry?.fill_price ?? null}
      isUnreal={!order.real_money}
      isListed
    />
  );
}
