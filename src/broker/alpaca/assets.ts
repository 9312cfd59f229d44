// What can be traded at Alpaca, by the platform's symbols: shares and funds of the American exchanges.

import { decimal } from '../../domain/decimal.ts';
import { timestamp } from '../../domain/ids.ts';
import { didYouMean, nearest } from '../../domain/nearest.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { readSymbol } from '../../domain/signals/symbol.ts';
import type { Instrument } from '../broker.ts';
import type { Asset, Clock } from './answers.ts';

export type Assets = ReadonlyMap<string, Asset>;

/** In the order of their names. */
export const assetsOf = (list: readonly Asset[]): Assets =>
  new Map(
    list
      .filter((asset) => asset.class === 'us_equity' && asset.status === 'active')
      .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
      .map((asset) => [asset.symbol, asset]),
  );

/** As the platform names those on which the same share is the same. A share of this name elsewhere is another one. */
const AMERICAN = new Set([
  'NASDAQ',
  'NYSE',
  'AMEX',
  'ARCA',
  'NYSEARCA',
  'BATS',
  'CBOE',
  'OTC',
  'BOATS',
  'IEX',
  'ALPACA',
]);

export type Found = { readonly asset: Asset } | { readonly rejection: OrderError };

export function findAsset(symbol: string, assets: Assets): Found {
  const { exchange, ticker, market } = readSymbol(symbol);
  const asset = assets.get(ticker);
  const isOurs = market.kind === 'spot' && (exchange === null || AMERICAN.has(exchange));
  if (!isOurs || !asset) {
    const near = isOurs ? nearest(ticker, assets.keys()) : asset ? [ticker] : [];
    return { rejection: unlisted(symbol, didYouMean(near)) };
  }
  if (!asset.tradable)
    return { rejection: unlisted(symbol, ` Alpaca knows ${ticker}, and does not trade it.`) };
  return { asset };
}

const unlisted = (symbol: string, more: string): OrderError => ({
  code: 'invalid_symbol',
  message: `The symbol ${symbol} is not found in the broker contracts of Alpaca, which are American shares and funds such as AAPL.${more}`,
});

const ONE = decimal(1);
/** Alpaca's quantities have nine decimals. */
const FRACTION = decimal('0.000000001');
const CENT = decimal('0.01');

export function instrumentOf({ symbol, name, fractionable }: Asset, clock: Clock): Instrument {
  const step = fractionable ? FRACTION : ONE;
  return {
    symbol,
    description: name,
    contractSize: ONE,
    quantityStep: step,
    minQuantity: step,
    tickSize: CENT,
    open: clock.is_open,
    nextOpen: clock.is_open ? null : timestamp(Date.parse(clock.next_open)),
  };
}

export function search(assets: Assets, query: string, after: string | null, limit: number): readonly Asset[] {
  const wanted = query.trim().toUpperCase();
  const found: Asset[] = [];
  for (const asset of assets.values()) {
    if (found.length === limit) break;
    if (after !== null && asset.symbol <= after) continue;
    if (!asset.tradable) continue;
    if (asset.symbol.includes(wanted) || asset.name.toUpperCase().includes(wanted)) found.push(asset);
  }
  return found;
}
