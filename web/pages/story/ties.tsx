// What proves an order, what was before it and what came after.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { Side } from '../../parts/figures.tsx';
import { positionAfter } from '../../parts/happened.ts';
import { figure, heldInWords } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { sizeInWords } from '../../parts/sizes.ts';
import { When } from '../../parts/when.tsx';
import { aroundOrder, auditOf } from './queries.ts';
import styles from './ties.module.css';

type Order = Schemas['OrderRecord'];

export function Ties({ order }: { readonly order: Order }) {
  const { data: audit } = useQuery(auditOf(order.order_id));
  const { data: around } = useQuery(aroundOrder(order.order_id));
  const previous = around?.previous_order ?? null;
  const next = around?.next_order ?? null;
  const entries = audit?.items ?? [];
  return (
    <div className={styles.ties}>
      {entries.length > 0 && (
        <Section title="Audit" more={<Link to={'/security' as never}>The whole log</Link>}>
          <table className={`table dense ${styles.audit}`}>
            <thead className="unseen">
              <tr>
                <th scope="col">Entry</th>
                <th scope="col">Time</th>
                <th scope="col">Action</th>
              </tr>
            </thead>
            <tbody>
              {entries.toReversed().map(({ id, created_at, action, success }) => (
                <tr key={id}>
                  <td>{figure(id)}</td>
                  <td>
                    <When at={created_at} milliseconds />
                  </td>
                  <td>
                    {action}
                    {!success && <span className="quiet"> refused</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
      {previous !== undefined && (
        <Section title="Before and after">
          <ol className={styles.chain}>
            <li>
              <span className="quiet">before this</span>
              {previous ? (
                <Tie order={previous} symbol={order.symbol} />
              ) : (
                <span>nothing in {order.symbol}</span>
              )}
            </li>
            <li>
              <span className="quiet">this</span>
              <b>
                <When at={order.submitted_at} milliseconds /> {order.action} {sizeInWords(order)}
              </b>
            </li>
            <li>
              <span className="quiet">after this</span>
              {next ? <Tie order={next} symbol={order.symbol} /> : <span>nothing{leftOpen(order)}</span>}
            </li>
          </ol>
        </Section>
      )}
    </div>
  );
}

function leftOpen(order: Order): string {
  const after = order.status === 'filled' ? positionAfter(order) : null;
  return after ? `: ${heldInWords(after)} was left open` : '';
}

const Tie = ({ order, symbol }: { readonly order: Schemas['NeighbourOrder']; readonly symbol: string }) => (
  <Link to={`/orders/${order.order_id}` as never}>
    <When at={order.submitted_at} milliseconds /> <Side side={order.action} />{' '}
    {order.quantity ? figure(order.quantity) : ''} {symbol}
  </Link>
);
