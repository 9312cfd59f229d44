// What is open at the brokers, whoever sent it: an order that somebody placed there by hand may hold a close back. Brokers are
// asked when somebody wants to see it, and not by themselves.

import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { openOrders } from '../../api/broker-reads.ts';
import type { Schemas } from '../../api/client.ts';
import { counted, figure, Side, Unreal, unrealWord } from '../../parts/figures.tsx';
import { Section, Skeleton } from '../../parts/page.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import styles from './positions.module.css';

type Account = Schemas['Account'];

export function OpenOrders({ accounts }: { readonly accounts: readonly Account[] }) {
  const [isAsked, ask] = useState(false);
  const able = accounts.filter(({ broker_credentials_verified }) => broker_credentials_verified);
  const asked = useQueries({ queries: able.map(({ id }) => ({ ...openOrders(id), enabled: isAsked })) });
  if (able.length === 0) return null;
  const again = () => {
    ask(true);
    if (isAsked) for (const each of asked) void each.refetch();
  };
  return (
    <Section
      title="Open orders at the brokers"
      more={
        <button type="button" className="link" onClick={again}>
          {isAsked ? 'Ask again' : 'Ask the brokers'}
        </button>
      }
    >
      {isAsked && (
        <ul className={styles.atBroker}>
          {able.map((account, index) => (
            <OfAccount key={account.id} account={account} asked={asked[index]} />
          ))}
        </ul>
      )}
    </Section>
  );
}

interface OfAccountProps {
  readonly account: Account;
  readonly asked:
    | { readonly data: Schemas['OpenOrders'] | undefined; readonly error: unknown; refetch(): unknown }
    | undefined;
}

function OfAccount({ account, asked }: OfAccountProps) {
  const word = unrealWord({ broker_name: account.broker, environment: account.environment });
  const items = asked?.data?.items;
  return (
    <li className={word ? 'hatched' : ''}>
      <p>
        <b>{account.name}</b> <Unreal word={word} />{' '}
        {items && (
          <span className="quiet">{items.length === 0 ? 'none' : counted(items.length, 'open order')}</span>
        )}
      </p>
      {!items &&
        (asked?.error ? <ProblemNote fault={asked.error} onAgain={asked.refetch} /> : <Skeleton rows={1} />)}
      {items?.map((order) => (
        <p key={`${order.symbol} ${order.broker_ref}`}>
          <Side side={order.side} /> {figure(order.quantity)} {order.symbol}
          {order.fill_quantity > 0 && `, ${figure(order.fill_quantity)} filled`}
          {order.reduce_only && ', can only close'}{' '}
          {order.order_id ? (
            <Link to={`/orders/${order.order_id}` as never}>Its story</Link>
          ) : (
            <span className="quiet">
              not sent from here; {account.broker} calls it {order.broker_ref}
            </span>
          )}
        </p>
      ))}
    </li>
  );
}
