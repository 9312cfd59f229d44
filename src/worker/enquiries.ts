// What a worker answers about an account besides executing its orders. A broker that cannot be asked is an answer too:
// silence would keep the API waiting.

import { BrokerUnavailable, CredentialsRejected, type Instrument, type Position } from '../broker/broker.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import type { Connections } from './connections.ts';
import { CredentialsUnreadable } from './credentials.ts';

export interface Unavailable {
  readonly unavailable: string;
}

/** `verified`: the connection version of the account whose credentials the broker took. */
export type Verdict =
  | { readonly verified: number }
  | { readonly rejected: string }
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

/** `reset`: false where a simulated order of the account is under way. */
export interface Reset {
  readonly reset: boolean;
}

export async function verifyCredentials(connections: Connections, account: AccountId): Promise<Verdict> {
  try {
    return { verified: await connections.renew(account) };
  } catch (fault) {
    if (fault instanceof CredentialsUnreadable) return { unreadable: true };
    if (fault instanceof CredentialsRejected) return { rejected: fault.message };
    return unavailable(fault);
  }
}

export async function readPositions(
  connections: Connections,
  target: { readonly accountId: AccountId; readonly simulation: boolean },
): Promise<{ readonly positions: readonly Position[] } | Unavailable> {
  try {
    return { positions: await connections.use(target, (broker) => broker.positions()) };
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
    const all = await connections.use(real(account), (broker) => broker.instruments(query));
    const rest = after === null ? all : all.filter(({ symbol }) => symbol > after);
    return { instruments: rest.slice(0, limit), hasMore: rest.length > limit };
  } catch (fault) {
    return unavailable(fault);
  }
}

/** Not under an order that has read the book and is about to trade by what it read. */
export async function resetSimulation(
  flatten: (account: AccountId) => Promise<void>,
  account: AccountId,
  underWay: readonly Order[],
): Promise<Reset | Unavailable> {
  if (underWay.some(({ accountId, simulation }) => simulation && accountId === account))
    return { reset: false };
  try {
    await flatten(account);
    return { reset: true };
  } catch (fault) {
    return unavailable(fault);
  }
}

const real = (accountId: AccountId) => ({ accountId, simulation: false });

function unavailable(fault: unknown): Unavailable {
  if (!(fault instanceof BrokerUnavailable)) throw fault;
  return { unavailable: fault.message };
}
