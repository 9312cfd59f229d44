// The same story, by its order. One that came from the dashboard has no signal.

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { order as orderOf, signal as signalOf } from '../../api/queries.ts';
import { NoStory } from './no-story.tsx';
import { aroundOrder } from './queries.ts';
import { Story } from './story.tsx';
import { whileUnderWay } from './under-way.ts';

export default function OrderStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const order = useQuery({ ...orderOf(id), ...whileUnderWay });
  const around = useQuery(aroundOrder(id));
  const signalId = around.data?.signal_id ?? null;
  const signal = useQuery({ ...signalOf(signalId ?? ''), enabled: signalId !== null });
  // Whole or not at all: a story without its signal would be another one, for a moment.
  const isComing = around.isPending || (signalId !== null && signal.isPending);
  if (!order.data || isComing) return <NoStory fault={order.error} onAgain={() => void order.refetch()} />;
  return <Story key={id} signal={signal.data ?? null} order={order.data} />;
}
