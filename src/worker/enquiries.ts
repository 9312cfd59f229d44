// What a worker answers about an account besides executing its orders. A broker that cannot be asked is an answer too:
// silence would keep the API waiting.

import {
  AccountUnfit,
  type Balance,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
  type Position,
} from '../broker/broker.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Connections } from './connections.ts';
import { CredentialsUnreadable } from './credentials.ts';

export interface Unavailable {
  readonly unavailable: string;
  /** Where the broker says when it may be asked again. */
  readonly retryAfterMs?: number;
}

/** `verified`: the connection version of the account whose credentials the broker took. */
export type Verdict =
  | { readonly verified: number; readonly warnings: readonly string[] }
  | { readonly rejected: string }
  /** The credentials are good, and the account is not: in words. */
  | { readonly unfit: string }
  | { readonly unreadable: true }
  | Unavailable;

export interface SymbolSearch {
  readonly query: string;
  /** The last symbol of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

export interface SymbolPage {
  readonly instruments: readonly Instrument[];
  readonly hasMore: boolean;
}

export async function verifyCredentials(connections: Connections, account: AccountId): Promise<Verdict> {
  try {
    const { version, warnings } = await connections.renew(account);
    return { verified: version, warnings };
  } catch (fault) {
    if (fault instanceof CredentialsUnreadable) return { unreadable: true };
    if (fault instanceof CredentialsRejected) return { rejected: fault.message };
    if (fault instanceof AccountUnfit) return { unfit: fault.message };
    return unavailable(fault);
  }
}

export async function readPositions(
  connections: Connections,
  account: AccountId,
): Promise<{ readonly positions: readonly Position[] } | Unavailable> {
  try {
    return { positions: await connections.use(real(account), (broker) => broker.positions()) };
  } catch (fault) {
    return unavailable(fault);
  }
}

export async function readBalance(
  connections: Connections,
  account: AccountId,
): Promise<{ readonly balance: Balance } | Unavailable> {
  try {
    return { balance: await connections.use(real(account), (broker) => broker.balance()) };
  } catch (fault) {
    return unavailable(fault);
  }
}

export async function searchSymbols(
  connections: Connections,
  account: AccountId,
  { query, after, limit }: SymbolSearch,
): Promise<SymbolPage | Unavailable> {
  try {
    // One more than is asked for tells whether there are more.
    const search = { query, after, limit: limit + 1 };
    const found = await connections.use(real(account), (broker) => broker.instruments(search));
    return { instruments: found.slice(0, limit), hasMore: found.length > limit };
  } catch (fault) {
    return unavailable(fault);
  }
}

const real = (accountId: AccountId) => ({ accountId, simulation: false });

function unavailable(fault: unknown): Unavailable {
  if (!(fault instanceof BrokerUnavailable)) throw fault;
  return {
    unavailable: fault.message,
    ...(fault instanceof BrokerBusy && { retryAfterMs: fault.retryAfterMs }),
  };
}
