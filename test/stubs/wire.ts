// What the stubs share: the coins that are traded at all of them, and how their requests are read and refused.

import { createHash, createHmac } from 'node:crypto';
import {
  type Answer,
  type Listed,
  type Office,
  type OtherVisit,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import type { Holder } from '../../chaos/exchange-standing.ts';
import { average, type Decimal, decimal, parseDecimal, ZERO } from '../../src/domain/decimal.ts';

/** Whoever asks for nothing else waits as long. */
export const FOR_EVER = Date.UTC(9999, 11, 31);

interface Coin {
  readonly coin: string;
  /** In the coin itself. Of the first three finer than at most exchanges: chaos tells its orders apart by quantities. */
  readonly step: number;
  readonly tick: number;
  /** The least value of an order. */
  readonly minValue: number;
}

const coin = (name: string, step: number, tick: number, minValue = 5): Coin => ({
  coin: name,
  step,
  tick,
  minValue,
});

export const COINS: readonly Coin[] = [
  coin('BTC', 0.001, 0.1, 0),
  coin('ETH', 0.001, 0.01, 0),
  coin('SOL', 0.001, 0.01, 0),
  coin('BNB', 0.01, 0.01),
  coin('XRP', 0.1, 0.0001),
  coin('DOGE', 1, 0.00001),
  coin('ADA', 1, 0.0001),
  coin('LINK', 0.01, 0.001),
  coin('AVAX', 0.1, 0.001),
  coin('LTC', 0.001, 0.01),
];

/** Listed everywhere, and traded nowhere any more. */
export const SUSPENDED: Coin = coin('LUNA', 1, 0.0001);

/** Perpetuals in USDT, under the names that the exchange gives them; `sizes`: how much of a coin is a contract. */
export function perpetuals(
  nameOf: (coin: string) => string,
  sizes: Readonly<Record<string, number>> = {},
): readonly Listed[] {
  return [...COINS, SUSPENDED].map(({ coin, step, tick, minValue }) => {
    const contractSize = decimal(sizes[coin] ?? 1);
    const contracts = average(decimal(step), contractSize);
    const isSuspended = coin === SUSPENDED.coin;
    return {
      symbol: nameOf(coin),
      of: isSuspended ? 'ADAUSDT' : `${coin}USDT`,
      contractSize,
      step: contracts,
      min: contracts,
      minValue: decimal(minValue),
      tick: decimal(tick),
      isSuspended,
    };
  });
}

export const hmac = (
  algorithm: 'sha256' | 'sha512',
  secret: string,
  text: string,
  encoding: 'hex' | 'base64',
): string => createHmac(algorithm, secret).update(text).digest(encoding);

export const sha512 = (text: string): string => createHash('sha512').update(text).digest('hex');

export type Params = Readonly<Record<string, string | undefined>>;

/** Of JSON or a form; an array's are those of its first. undefined: neither. */
export function paramsOf({ query, body }: Pick<WireRequest, 'query' | 'body'>): Params | undefined {
  const asked = Object.fromEntries(query);
  if (!/^\s*[[{]/.test(body)) return { ...asked, ...Object.fromEntries(new URLSearchParams(body)) };
  try {
    const json: unknown = JSON.parse(body);
    const fields: object = Array.isArray(json) ? json[0] : json;
    for (const [key, value] of Object.entries(fields)) asked[key] = String(value);
    return asked;
  } catch {
    return undefined;
  }
}

/** A number that a wire can carry, and zero where it is none. */
export const quantityOf = (text: string | undefined): Decimal => parseDecimal(text ?? '') ?? ZERO;

export const header = ({ headers }: WireRequest, name: string): string => `${headers[name] ?? ''}`;

export const mayComeFrom = ({ standing }: Holder, address: string): boolean =>
  standing.addresses === null ||
  standing.addresses.some((allowed) => address === allowed || address === `::ffff:${allowed}`);

/** An authenticated request. */
export interface Call {
  readonly holder: Holder;
  readonly params: Params;
  /** As it came, where more than its fields count: a list, or a field that is one. */
  readonly body?: string;
  /** When it was signed. */
  readonly signedAt: number;
  /** For how long it holds from then on. */
  readonly windowMs: number;
}

/** Of the paths that anybody may ask, and of those that need a key, by "GET /path". */
export interface Routes {
  readonly open: Readonly<Record<string, (params: Params) => object>>;
  readonly asked: Readonly<Record<string, (call: Call) => Visit | Promise<Visit>>>;
  /** Which of them need the permission to trade. */
  readonly trading: readonly string[];
}

export const visit = (
  what: OtherVisit['what'],
  { holder }: Pick<Call, 'holder'>,
  answer: () => Promise<Answer> | Answer,
): OtherVisit => ({ what, account: holder.account, answer: async () => answer() });

export const openly = (answer: () => Answer | Promise<Answer>): OtherVisit => ({
  what: 'other',
  account: null,
  answer: async () => answer(),
});

interface Manners {
  /** Where a part of the path is a name: the path without it, and the name as a parameter. */
  place?(path: string): { readonly path: string; readonly params: Params };
  /** The one who asks, or what he is told at the door. */
  authenticate(request: WireRequest): Call | Answer;
  /** How anybody is answered. */
  said(body: object): Answer;
  /** The key may not trade. */
  readonly forbidden: Answer;
  unknown(route: string): Answer;
}

/** Reads requests by a table of routes. */
export const listener =
  ({ open, asked, trading }: Routes, { place, authenticate, said, forbidden, unknown }: Manners) =>
  (request: WireRequest): Visit | Promise<Visit> => {
    const { path, params } = place?.(request.path) ?? { path: request.path, params: {} };
    const route = `${request.method} ${path}`;
    const anybodys = open[route];
    if (anybodys) return openly(() => said(anybodys({ ...paramsOf(request), ...params })));
    const handle = asked[route];
    if (!handle) return turnedAway(unknown(route));
    const call = authenticate(request);
    if (!('holder' in call)) return turnedAway(call);
    const mayTrade = call.holder.standing.permissions.includes('trade');
    if (trading.includes(route) && !mayTrade) return turnedAway(forbidden);
    return handle({ ...call, params: { ...call.params, ...params } });
  };

/** What an order that was found has to do with what was asked for. */
export const among = (
  orders: Awaited<ReturnType<Office['orders']>>,
  { symbol, side }: { symbol?: string | undefined; side?: string | undefined },
) =>
  orders.filter(
    (order) =>
      (symbol === undefined || order.symbol === symbol) && (side === undefined || order.side === side),
  );
