// The same story, by its order. One that came from the dashboard has no signal.

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { order as orderOf } from '../../api/queries.ts';
import { NoStory } from './no-story.tsx';
import { signalOf } from './queries.ts';
import { Story } from './story.tsx';
import { whileUnderWay } from './under-way.ts';

export default function OrderStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const order = useQuery({ ...orderOf(id), ...whileUnderWay });
  const signalId = order.data?.signal_id ?? null;
  const signal = useQuery({ ...signalOf(signalId ?? ''), enabled: signalId !== null });
  // Whole or not at all: a story without its signal would be another one, for a moment.
  if (!order.data || (signalId !== null && signal.isPending)) return <NoStory fault={order.error} />;
  return <Story key={id} signal={signal.data ?? null} order={order.data} />;
}
