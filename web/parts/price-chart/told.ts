// What a trade's picture needs besides the trade: what protected it, from the order that opened it. Without it the picture is drawn all the same.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { order as orderOf, protection as protectionOf } from '../../api/queries.ts';
import { type Fill, movesOf, numbered, stopOf, targetsOf } from './happened.ts';

type Trade = Schemas['TradeStory'];

/** A stop is set, and ended, a little beside the fills. */
const BESIDE_MS = 60_000;

export function useTold(trade: Trade) {
  const { data: opener } = useQuery(orderOf(trade.id));
  const id = opener?.protection?.id ?? null;
  const { data: protection } = useQuery({ ...protectionOf(id ?? ''), enabled: id !== null });
  return useMemo(() => {
    const fills = trade.fills.map((fill) => ({ ...fill, asked: fill.asked_price }) satisfies Fill);
    const [opened, closed] = [Date.parse(trade.opened_at), Date.parse(trade.closed_at ?? '')];
    // A protection may go on with the next trade of the position.
    const history = (protection?.history ?? []).filter(({ at }) => {
      const time = Date.parse(at);
      return time >= opened - BESIDE_MS && !(time > closed + BESIDE_MS);
    });
    return {
      protectionId: protection?.id ?? null,
      numbered: numbered(fills, movesOf(history)),
      stop: stopOf(history),
      targets: protection ? targetsOf({ ...protection, history }) : [],
    };
  }, [trade, protection]);
}
