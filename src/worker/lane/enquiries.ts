// What a worker answers about an account besides executing its orders. A broker that cannot be asked is an answer too:
// silence would keep the API waiting.

import {
  AccountUnfit,
  type Balance,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
  type OpenOrder,
  type Position,
  type Quote,
} from '../../broker/broker.ts';
import type { Candle, CandleSpan } from '../../domain/candles.ts';
import type { AccountId } from '../../domain/ids.ts';
import type { InstrumentSearch } from '../../domain/instrument-search.ts';
import type { Look } from '../../domain/orders/fill.ts';
import { keyOf, type Order, type OrderError, openLeg } from '../../domain/orders/order.ts';
import type { Connections } from '../line/connections.ts';
import { CredentialsUnreadable } from '../line/credentials.ts';
import { queryOf, whyDoubt } from '../line/leg-at-broker.ts';
import { ReadsLimited } from '../line/reader.ts';
import type { Young } from '../line/young.ts';
import { type TakingBack, takeBack } from './take-back.ts';

export interface Unavailable {
  readonly unavailable: string;
  /** Where the broker says when it may be asked again. */
  readonly retryAfterMs?: number;
  /** It was not asked: who asks has asked too often, or has to leave the rest to orders. */
  readonly isLimited?: true;
}

/** `verified`: the connection version of the account whose credentials the broker took. */
export type Verdict =
  | { readonly verified: number; readonly warnings: readonly string[]; readonly identity?: string }
  | { readonly rejected: string }
  /** The credentials are good, and the account is not: in words. */
  | { readonly unfit: string }
  | { readonly unreadable: true }
  | Unavailable;

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
    const { version, ...fitness } = await connections.verify(account);
    return { verified: version, ...fitness };
  } catch (fault) {
    if (fault instanceof CredentialsUnreadable) return { unreadable: true };
    if (fault instanceof CredentialsRejected) return { rejected: fault.message };
    if (fault instanceof AccountUnfit) return { unfit: fault.message };
    return unavailable(fault);
  }
}

type AtBroker =
  | { readonly positions: readonly Position[] }
  | { readonly balance: Balance }
  | { readonly openOrders: readonly OpenOrder[] };

/** What the account, or its simulated book, has at the broker. */
export async function readAtBroker(
  connections: Connections,
  request: {
    readonly kind: 'positions' | 'balance' | 'openOrders';
    readonly accountId: AccountId;
    readonly simulation?: boolean;
  },
): Promise<AtBroker | Unavailable> {
  const { kind, accountId, simulation = false } = request;
  try {
    return await connections.use({ accountId, simulation }, async (broker): Promise<AtBroker> => {
      if (kind === 'balance') return { balance: await broker.balance() };
      if (kind === 'openOrders') return { openOrders: await broker.openOrders() };
      return { positions: await broker.positions() };
    });
  } catch (fault) {
    return unavailable(fault);
  }
}

/** What an instrument costs now, as its broker calls it; null: there is none of that name. */
export interface Quoted {
  readonly quote: (Quote & { readonly symbol: string }) | null;
}

interface OfSymbol {
  readonly accountId: AccountId;
  readonly symbol: string;
}
type QuoteAsked = { readonly kind: 'quote'; readonly simulation: boolean } & OfSymbol;
type CandlesAsked = { readonly kind: 'candles' } & OfSymbol & CandleSpan;

/** What an instrument costs, or what it was traded at. `charts`: of all users, as `listings` below. */
export const readMarket = (
  { connections, charts }: { readonly connections: Connections; readonly charts: Young },
  request: QuoteAsked | CandlesAsked,
): Promise<Quoted | Charted | Unavailable> =>
  request.kind === 'quote' ? readQuote(connections, request) : readCandles(connections, charts, request);

async function readQuote(
  connections: Connections,
  { symbol, ...target }: QuoteAsked,
): Promise<Quoted | Unavailable> {
  try {
    return await connections.use(target, async (broker) => {
      const instrument = await broker.resolve(symbol);
      if ('rejection' in instrument) return { quote: null };
      return { quote: { symbol: instrument.symbol, ...(await broker.quote(instrument)) } };
    });
  } catch (fault) {
    return unavailable(fault);
  }
}

/** `candles`: null where the broker has none at all. */
export interface Charted {
  readonly charted: { readonly symbol: string; readonly candles: readonly Candle[] | null } | null;
}

async function readCandles(
  connections: Connections,
  charts: Young,
  { accountId, symbol, interval, from, to }: CandlesAsked,
): Promise<Charted | Unavailable> {
  try {
    return await connections.use(real(accountId), async (broker): Promise<Charted | Unavailable> => {
      const instrument = await broker.resolve(symbol);
      if ('rejection' in instrument) return { charted: null };
      const span = { interval, from, to };
      const ask = async () => (await broker.candles?.(instrument, span)) ?? null;
      const key = JSON.stringify([broker.listing, instrument.symbol, span]);
      const isShared = broker.candles !== undefined && broker.listing !== undefined;
      try {
        const candles = await (isShared ? charts.get(key, ask, { isTheirs: () => true }) : ask());
        return { charted: { symbol: instrument.symbol, candles } };
      } catch (fault) {
        // No reason to connect anew: orders need the connection as it is.
        return unavailable(fault);
      }
    });
  } catch (fault) {
    return unavailable(fault);
  }
}

/** `listings`: of all users, because a broker's list of instruments is the same for all of them. */
export async function searchSymbols(
  { connections, listings }: { readonly connections: Connections; readonly listings: Young },
  account: AccountId,
  { query, after, limit }: InstrumentSearch,
): Promise<SymbolPage | Unavailable> {
  try {
    // One more than is asked for tells whether there are more.
    const search = { query, after, limit: limit + 1 };
    const found = await connections.use(real(account), (broker) => {
      const ask = () => broker.instruments(search);
      if (broker.listing === undefined) return ask();
      // Whatever went wrong with another's connection, or budget, is no word about this one.
      return listings.get(JSON.stringify([broker.listing, search]), ask, { isTheirs: () => true });
    });
    return { instruments: found.slice(0, limit), hasMore: found.length > limit };
  } catch (fault) {
    return unavailable(fault);
  }
}

export async function resetSimulation(
  flatten: (account: AccountId) => Promise<void>,
  account: AccountId,
): Promise<Reset | Unavailable> {
  try {
    await flatten(account);
    return { reset: true };
  } catch (fault) {
    return unavailable(fault);
  }
}

interface Looking {
  readonly connections: Connections;
  readonly clock: { now(): number };
  /** Why its entry is not to rest any longer; null: it may. */
  readonly ending?: OrderError | null;
  readonly taking?: TakingBack;
}

/**
 * One look at what became of the order's open leg, for fill verification. An entry that is not to rest any longer is taken back on the
 * way: this is its sweep too.
 */
export async function lookAtOrder(
  { connections, clock, ending = null, taking }: Looking,
  order: Order | null,
): Promise<Look> {
  const leg = order && openLeg(order);
  if (!leg) return { seen: 'failure', reason: 'the order has no open leg' };
  try {
    // Verification comes back by itself: a look does not reconnect in circles.
    return await connections.use(
      { accountId: order.accountId, simulation: order.simulation },
      async (line) => {
        const sought = queryOf(leg, order);
        // What is not known to be there is looked for once: whoever asked does not wait for as long as one who takes it back.
        const isTaken = ending !== null && leg.leg === 'entry';
        const isThere = isTaken && (leg.brokerRef !== null || (await line.find(sought)) !== null);
        if (ending && taking && isThere) await takeBack(taking, line, [order], () => ending);
        const state = isTaken && !isThere ? null : await line.find(sought);
        if (state) return { seen: 'state', leg: keyOf(leg), state };
        const doubt = whyDoubt(order, leg, line, clock.now());
        if (doubt === null) return { seen: 'nothing', leg: keyOf(leg) };
        return { seen: 'failure', reason: doubt, isForgotten: true };
      },
      // A close that was sent ends by its fill, also where the credentials have been refused since.
      { retries: 1, mayTryRefused: leg.leg === 'exit' || ending !== null },
    );
  } catch (fault) {
    if (fault instanceof BrokerBusy || fault instanceof ReadsLimited)
      return { seen: 'busy', retryAfterMs: fault.retryAfterMs };
    return {
      seen: 'failure',
      reason: fault instanceof Error ? fault.message : 'the broker cannot be reached',
    };
  }
}

const real = (accountId: AccountId) => ({ accountId, simulation: false });

export function unavailable(fault: unknown): Unavailable {
  if (fault instanceof ReadsLimited)
    return { unavailable: fault.message, retryAfterMs: fault.retryAfterMs, isLimited: true };
  if (!(fault instanceof BrokerUnavailable)) throw fault;
  return {
    unavailable: fault.message,
    ...(fault instanceof BrokerBusy && { retryAfterMs: fault.retryAfterMs }),
  };
}
