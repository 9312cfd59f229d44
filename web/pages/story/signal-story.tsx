import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { order as orderOf, signal as signalOf } from '../../api/queries.ts';
import { GroupStory } from './group-story.tsx';
import { NoStory } from './no-story.tsx';
import { Story } from './story.tsx';
import { whileUnderWay } from './under-way.ts';

export default function SignalStory() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const signal = useQuery(signalOf(id));
  const orderId = signal.data?.order_id ?? null;
  const order = useQuery({ ...orderOf(orderId ?? ''), enabled: orderId !== null, ...whileUnderWay });
  const fault = signal.error ?? order.error;
  const readAgain = () => void (signal.data ? order : signal).refetch();
  if (!signal.data || (orderId !== null && !order.data)) return <NoStory fault={fault} onAgain={readAgain} />;
  if (signal.data.group_id !== null) return <GroupStory key={id} signal={signal.data} />;
  return <Story key={id} signal={signal.data} order={order.data ?? null} />;
}
