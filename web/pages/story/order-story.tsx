// The same story, by its order. One that came from the dashboard has no signal.

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { order as orderOf } from '../../api/queries.ts';
import { NoStory } from './no-story.tsx';
import { linksOf, signalOf } from './queries.ts';
import { Story } from './story.tsx';
import { whileUnderWay } from './under-way.ts';

export default function OrderStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const order = useQuery({ ...orderOf(id), ...whileUnderWay });
  const links = useQuery(linksOf(id));
  const signalId = links.data?.signal_id ?? null;
  const signal = useQuery({ ...signalOf(signalId ?? ''), enabled: signalId !== null });
  if (!order.data) return <NoStory fault={order.error} />;
  return <Story key={id} signal={signal.data ?? null} order={order.data} />;
}
