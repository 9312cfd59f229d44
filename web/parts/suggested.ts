// What the search offers while somebody types. First what Enter alone has always led to, all that is found; then symbols, held
// before traded, accounts by their names, and the latest orders.

import type { components } from '../api/schema.ts';
import { figure, heldInWords } from './numbers.ts';
import { unitsOf } from './sizes.ts';
import { spelled } from './symbol.ts';

type Schemas = components['schemas'];
type Order = Schemas['OrderSummary'];

export interface Suggestion {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly name: string;
  readonly says: string;
  /** What it leads to. */
  readonly kind: string;
  readonly at?: string;
}

interface Known {
  readonly accounts: readonly Pick<Schemas['Account'], 'id' | 'name' | 'broker'>[];
  /** By account, as it was last read. */
  readonly held: ReadonlyMap<string, readonly Pick<Schemas['Position'], 'symbol' | 'quantity' | 'may_be'>[]>;
  /** Those that the text found, the newest first. */
  readonly orders: readonly Order[];
}

const MOST_SYMBOLS = 4;
const MOST_ACCOUNTS = 2;
const MOST_ORDERS = 4;

export function suggestedFor(text: string, { accounts, held, orders }: Known): readonly Suggestion[] {
  const wanted = text.trim();
  if (wanted === '') return [];
  const letters = wanted.toUpperCase();
  const nameOf = (id: string) => accounts.find((account) => account.id === id)?.name ?? 'a deleted account';
  const positions = accounts.flatMap(({ id, name }) =>
    (held.get(id) ?? []).flatMap(({ symbol, quantity, may_be }) =>
      symbol.startsWith(letters) && (quantity !== 0 || may_be)
        ? [{ symbol, says: may_be ? `not known on ${name}` : `held: ${heldInWords(quantity)} on ${name}` }]
        : [],
    ),
  );
  const isHeld = new Set(positions.map(({ symbol }) => symbol));
  const traded = new Map<string, Order>();
  for (const order of orders) {
    const symbol = spelled(order.symbol, order.broker_name);
    if (symbol.startsWith(letters) && !isHeld.has(symbol) && !traded.has(symbol)) traded.set(symbol, order);
  }
  return [
    { to: '/signals', search: { search: wanted }, name: wanted, says: 'orders and signals', kind: 'all' },
    ...[
      ...positions.map(({ symbol, says }) => ({ to: '/positions', name: symbol, says, kind: 'position' })),
      ...[...traded].map(([symbol, order]) => ({
        ...{ to: '/signals', search: { symbol, time: 'all' }, name: symbol },
        says: `last traded on ${nameOf(order.trading_account_id)}`,
        ...{ kind: 'signals', at: order.submitted_at },
      })),
    ].slice(0, MOST_SYMBOLS),
    ...accounts
      .filter(({ name }) => name.toUpperCase().includes(letters))
      .slice(0, MOST_ACCOUNTS)
      .map(({ id, name, broker }) => ({ to: `/accounts/${id}`, name, says: broker, kind: 'account' })),
    ...orders.slice(0, MOST_ORDERS).map((order) => ({
      to: `/orders/${order.order_id}`,
      name: [order.action.replaceAll('_', ' '), sizeOf(order)].filter(Boolean).join(' '),
      says: `${spelled(order.symbol, order.broker_name)}, ${order.status.replaceAll('_', ' ')}`,
      ...{ kind: 'order', at: order.submitted_at },
    })),
  ];
}

function sizeOf(order: Order): string {
  const units = unitsOf(order);
  return units ? figure(units) : '';
}
