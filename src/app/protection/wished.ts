// What an order is to be protected with: what it says, and, from flat, what its account fills in; and whether its broker can keep that.

import type { Account } from '../../data/accounts/accounts.ts';
import { BROKERS } from '../../domain/brokers.ts';
import { absolute, type Decimal, ONE, sign } from '../../domain/decimal.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isEntry } from '../../domain/orders/entitlement.ts';
import type { OrderIntent } from '../../domain/orders/order.ts';
import { sideTowards } from '../../domain/orders/position.ts';
import type { QuantityType } from '../../domain/orders/sizing.ts';
import { whyUnsupported } from '../../domain/protection/ability.ts';
import { type Defaults, readDefaults, withDefaults } from '../../domain/protection/defaults.ts';
import {
  contradiction,
  type OrderWish,
  PROTECTION_FIELDS,
  readWish,
  type Wish,
} from '../../domain/protection/wish.ts';
import { NOTHING_TO_PROTECT_WITH } from '../../domain/signals/protective-fields.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';

export interface Asking {
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly quantityType: QuantityType;
  /** null: it says nothing of it. */
  readonly protection: Wish | null;
}

const NOTHING: Wish = {};

/** What a manual order says of protection, and which of its fields mean nothing with its action: exits are not protected. */
export interface Asked {
  readonly protection: Wish | null;
  readonly ignored: readonly string[];
}

export function readAsked(
  fields: Readonly<Record<string, unknown>>,
  { intent }: { readonly intent: OrderIntent },
): Asked | { readonly problem: string } {
  const moves = intent.operation === 'PROTECT_POSITION';
  if (!isEntry(intent) && !moves)
    return { protection: null, ignored: PROTECTION_FIELDS.filter((name) => Object.hasOwn(fields, name)) };
  const read = readWish(fields);
  if ('problem' in read) return read;
  const { wish } = read;
  const problem = contradiction(wish, { isFromFlat: false });
  if (problem !== null) return { problem };
  if (moves && isEmpty(wish)) return { problem: NOTHING_TO_PROTECT_WITH };
  const ignored = moves && Object.hasOwn(fields, 'quantity') ? ['quantity'] : [];
  return { protection: isEmpty(wish) ? null : wish, ignored };
}

/** undefined: nothing is to protect it. */
export function wishOf(
  account: Account,
  { intent, symbol, protection }: Omit<Asking, 'quantity' | 'quantityType'>,
): OrderWish | undefined {
  const own = protection ?? NOTHING;
  const fromFlat = mayOpen(intent) ? filledIn(account, own, symbol) : own;
  return isEmpty(own) && isEmpty(fromFlat) ? undefined : { own, fromFlat };
}

/** An entry, or an exit of an account that follows: what its strategy holds, and the account does not, is opened with it. */
function mayOpen(intent: OrderIntent): boolean {
  const { target } = intent;
  if (isEntry(intent) || !target) return isEntry(intent);
  const { position, opens } = target;
  return sign(position) !== 0 && (opens === null || opens === sideTowards(position));
}

const isEmpty = (wish: Wish): boolean => Object.keys(wish).length === 0;

/** With what the account fills in for an entry from flat. */
export function filledIn(account: Account, wish: Wish, symbol: string): Wish {
  const { brokerName, protectionDefaults } = account;
  if (protectionDefaults === null) return wish;
  const meant = canonicalSymbol(brokerName, symbol);
  return withDefaults(
    wish,
    defaultsOf(protectionDefaults),
    (name) => canonicalSymbol(brokerName, name) === meant,
  );
}

/** As it was kept: it was read when it was set. */
function defaultsOf(kept: unknown): Defaults {
  const read = readDefaults(kept);
  return 'defaults' in read ? read.defaults : {};
}

/** What the broker cannot keep is refused before anything trades; but no exit for what its account fills in. `factor`: with which it is taken. */
export function unsupported(account: Account, asking: Asking, factor: Decimal): Denial | null {
  if (!isEntry(asking.intent) && asking.protection === null) return null;
  const wish = wishOf(account, asking);
  if (!wish) return null;
  const { title, capabilities } = BROKERS[account.brokerName];
  // What is computed is rounded down to what can be protected.
  const isPlain = asking.quantityType === 'units' && factor === ONE;
  const isKnown = isEntry(asking.intent) && isPlain;
  // Of what is moved to a target the quantity is only recorded: what stands there afterwards is to be protected.
  const { target } = asking.intent;
  const held = target ? absolute(target.position) : asking.quantity;
  const quantity = isKnown ? held : null;
  const why = whyUnsupported(wish.fromFlat, { title, capabilities, quantity });
  return why === null ? null : deny('protection_unsupported', { detail: why });
}
