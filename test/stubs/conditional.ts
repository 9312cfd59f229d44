// Entries that wait for a price, where the exchange keeps them in a place of their own: under their own ids while they wait, and as a plain
// order when the price was there, which has another id of the exchange's and none of the client's. The plain calls know nothing of one
// that waits.

import type { Office, SeenOrder } from '../../chaos/exchange-dialect.ts';
import type { AccountId } from '../../src/domain/ids.ts';

export const isConditional = ({ waitedFor }: SeenOrder): boolean => waitedFor !== null;
/** It has become a plain order. */
export const hasTriggered = (order: SeenOrder): boolean => isConditional(order) && order.trigger === null;

const MADE = /^1(\d{15})$/;
/** Of what it becomes. */
export const madeRef = (ref: string): string => `1${ref.padStart(15, '0')}`;

const asMade = (order: SeenOrder): SeenOrder => ({
  ...order,
  ref: madeRef(order.ref),
  clientOrderId: `auto${order.ref}`,
  waitedFor: null,
});

/** What the plain calls know of a conditional order; null: nothing. */
export const plainly = (order: SeenOrder): SeenOrder | null => {
  if (!isConditional(order)) return order;
  return hasTriggered(order) ? asMade(order) : null;
};

/** The office of the plain calls. */
export function plainOffice(office: Office): Office {
  const waitingRef = (ref: string): string | null => {
    const [, digits] = MADE.exec(ref) ?? [];
    return digits === undefined ? null : `${Number(digits)}`;
  };
  return {
    ...office,
    async find(account, id) {
      const order = await office.find(account, id);
      return order && !isConditional(order) ? order : null;
    },
    async findByRef(account, ref) {
      const own = waitingRef(ref);
      const order = await office.findByRef(account, own ?? ref);
      return order && isConditional(order) === (own !== null) ? plainly(order) : null;
    },
    orders: async (account) => (await office.orders(account)).flatMap((order) => plainly(order) ?? []),
    cancel: (account, ref) => office.cancel(account, waitingRef(ref) ?? ref),
  };
}

/** Those that wait, and those that did. */
export async function conditionals(office: Office, account: AccountId): Promise<readonly SeenOrder[]> {
  return (await office.orders(account)).filter(isConditional);
}

/** Ends one that waits; false: it does not any more. */
export const endWaiting = async (office: Office, account: AccountId, order: SeenOrder): Promise<boolean> =>
  !hasTriggered(order) && office.cancel(account, order.ref);
