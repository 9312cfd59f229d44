// What an order has to do with protection: what it set, how long that took, what closed it later; or which order set what made
// this one.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { order as orderOf, protection as protectionOf } from '../../api/queries.ts';
import { figure } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { ProtectionNow } from '../../parts/protection/now.tsx';
import { CLOSED, closeOf, tookInWords } from '../../parts/protection/words.ts';
import { When } from '../../parts/when.tsx';
import styles from './story.module.css';

type Order = Schemas['OrderRecord'];

export function WhatProtects({ order }: { readonly order: Order }) {
  const { protection, exit_reason: reason, caused_by: cause } = order;
  return (
    <>
      {reason && cause && <MadeBy reason={CLOSED[reason]} cause={cause} />}
      {protection && <WhatItSet order={order} protection={protection} />}
    </>
  );
}

function MadeBy({ reason, cause }: { readonly reason: string; readonly cause: string }) {
  const { data: setter } = useQuery(orderOf(cause));
  const id = setter?.protection?.id;
  return (
    <Section
      title="Why it was closed"
      more={id && <Link to={`/protections/${id}` as never}>The story of what protected it</Link>}
    >
      <p className={styles.advice}>
        Nobody sent this order: {reason}.{' '}
        <Link to={`/orders/${cause}` as never}>
          The order that set it
          {setter && (
            <>
              , <When at={setter.submitted_at} milliseconds />
            </>
          )}
        </Link>
      </p>
    </Section>
  );
}

function WhatItSet({
  order,
  protection,
}: {
  readonly order: Order;
  readonly protection: NonNullable<Order['protection']>;
}) {
  const { id } = protection;
  const { data } = useQuery({ ...protectionOf(id ?? ''), enabled: id !== null });
  const closes = (data?.history ?? []).flatMap((line) => {
    const why = closeOf(line);
    return why ? [{ ...line, why }] : [];
  });
  const took = order.unprotected_ms;
  return (
    <Section
      title="What protects it"
      more={id && <Link to={`/protections/${id}` as never}>Its story, every move</Link>}
    >
      <ProtectionNow protection={protection}>
        {took !== null && (
          <div>
            <dt>protected</dt>
            <dd>{tookInWords(took)} after the first fill</dd>
          </div>
        )}
        {closes.map(({ at, why, to, by }) => (
          <div key={`${at} ${by}`}>
            <dt>closed</dt>
            <dd>
              <Link to={`/orders/${by}` as never}>
                <When at={at} milliseconds />
              </Link>
              {to !== null && ` at ${figure(to)}`}: {CLOSED[why]}
            </dd>
          </div>
        ))}
      </ProtectionNow>
    </Section>
  );
}
