// One signal as the platform sent it, and what came back each time.

import type { Decimal } from '../src/domain/decimal.ts';
import type { AccountId } from '../src/domain/ids.ts';
import type { OrderResult } from '../src/domain/orders/result.ts';
import type { Desk } from './desks.ts';

export interface Delivery {
  readonly api: string;
  readonly sentAt: number;
  readonly ms: number;
  /** null: no answer, or one that broke off. */
  readonly answer: { readonly status: number; readonly body: OrderResult } | null;
}

export interface Signal {
  readonly desk: Desk;
  readonly accountId: AccountId;
  /** As the exchange lists it. */
  readonly symbol: string;
  readonly action: string;
  /** Zero: it trades nothing. */
  readonly quantity: Decimal;
  /** What no other signal of the account has; see `keyOf` of an order's row. */
  readonly key: string;
  readonly path: string;
  readonly body: string;
  readonly deliveries: Delivery[];
}

export const nameOfSignal = ({ action, quantity, symbol, desk }: Signal): string =>
  `${action} ${quantity} ${symbol} of ${desk.name}`;
