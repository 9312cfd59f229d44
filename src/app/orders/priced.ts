// What a manual order says of the price that its entry waits for, and whether its account's broker takes such an entry.

import type { Account } from '../../data/accounts/accounts.ts';
import { BROKERS } from '../../domain/brokers.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import type { Action, OrderIntent } from '../../domain/orders/order.ts';
import type { AskedPrice } from '../../domain/orders/priced.ts';
import { whyNoKind } from '../../domain/orders/resting.ts';
import { hasSessions } from '../../domain/sessions.ts';
import {
  CANCEL_ID,
  cancelling,
  PRICED_FIELDS,
  readCancelId,
  readPrice,
} from '../../domain/signals/priced-fields.ts';
import { isProblem } from '../../domain/signals/values.ts';

interface Asked {
  readonly intent: OrderIntent;
  readonly priced: AskedPrice | null;
  /** Names of fields that mean nothing with this action. */
  readonly ignored: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

export function readPriced(
  fields: Fields,
  { action, intent }: { readonly action: Action; readonly intent: OrderIntent },
): Asked | { readonly problem: string } {
  const given = (names: readonly string[]) => names.filter((name) => Object.hasOwn(fields, name));
  if (action === 'cancel') {
    const id = readCancelId(fields);
    if (isProblem(id)) return id;
    const ignored = given([...PRICED_FIELDS, 'quantity', 'id']);
    return { intent: cancelling(id), priced: null, ignored };
  }
  const id = typeof fields.id === 'string' && fields.id !== '' ? fields.id : null;
  const read = readPrice(fields, { action, intent, id });
  if ('problem' in read) return read;
  const unused = PRICED_FIELDS.filter((name) => !read.used.includes(name));
  const ignored = given([...unused, CANCEL_ID, ...(read.price ? [] : ['id'])]);
  return { intent, priced: read.price, ignored };
}

/** What the broker does not take is refused before anything is accepted. */
export function kindRefusal(
  { brokerName }: Account,
  { priced, symbol }: { readonly priced: AskedPrice | null; readonly symbol: string },
): Denial | null {
  if (!priced) return null;
  const { title, capabilities } = BROKERS[brokerName];
  const of = { title, symbol, hasSessions: hasSessions(brokerName, symbol) };
  const why = whyNoKind(priced, capabilities, of);
  return why === null ? null : deny('order_kind_unsupported', { detail: why });
}
