import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '../../api/client.ts';
import { Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import styles from './broker-words.module.css';
import { aroundOrder, useCurrency } from './queries.ts';
import { brokerWords } from './said.ts';

export function BrokerWords({ order }: { readonly order: Schemas['OrderRecord'] }) {
  const { data: around } = useQuery(aroundOrder(order.order_id));
  const words = brokerWords(order, around?.last_look ?? null, useCurrency(order.broker_name));
  if (words.length === 0) return null;
  return (
    <Section title="What the broker said" more={<span className="quiet">{order.broker_name}</span>}>
      <dl className={`rows ${styles.said}`}>
        {words.map(({ about, said, at }) => (
          <div key={about}>
            <dt>{about}</dt>
            <dd>{said}</dd>
            <dd className="quiet">{at && <When at={at} milliseconds />}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
