// What becomes of an order that was under way in a backup, in the database that is restored from it. The instance that the
// backup was made of went on: it may have sent what waited here, and filled it. So nothing of it is sent from here: what has
// an id at the broker is looked for under that id, and the rest is owned up to.

import type { Timestamp } from '../ids.ts';
import { clientOrderId, isUnderWay, type Leg, moveTo, type Order } from './order.ts';

export interface Backup {
  /** Nothing that waited then was sent before. */
  readonly madeAt: Timestamp;
  /** The broker's ledger stands in the same database, and went back with it: what it does not have was not traded. */
  readonly hasLedger: (order: Order) => boolean;
}

/** The order itself where it was not under way. */
export function afterRestore(order: Order, { madeAt, hasLedger }: Backup): Order {
  if (!isUnderWay(order.status)) return order;
  const taken = moveTo(order, 'executing');
  if (taken.legs.some(({ status }) => status !== 'planned'))
    return moveTo({ ...taken, legs: taken.legs.map((leg) => mayHaveBeenSent(leg, madeAt)) }, 'unknown');
  if (hasLedger(taken))
    return moveTo(taken, 'expired', {
      error: {
        code: 'expired',
        message: `The order was not sent: it still waited when the backup of ${madeAt} was made, from which this database was restored.`,
      },
    });
  const ids = `${clientOrderId(order.id, 'entry')} (entry) and ${clientOrderId(order.id, 'exit')} (exit)`;
  return moveTo(taken, 'unknown', {
    error: {
      code: 'expired',
      message:
        `The order still waited when the backup of ${madeAt} was made, from which this database was restored. It is not sent from here, ` +
        `but may have been sent before the restoration: look for the client order ids ${ids} at the broker.`,
    },
  });
}

/** The entry behind a close too: its id is known, and so is whether the broker has it. */
const mayHaveBeenSent = (leg: Leg, madeAt: Timestamp): Leg =>
  leg.status === 'sending' || leg.status === 'planned'
    ? { ...leg, status: 'unknown', sentAt: leg.sentAt ?? madeAt }
    : leg;
