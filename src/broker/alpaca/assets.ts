// What can be traded at Alpaca, by the platform's symbols: shares and funds of the American exchanges.

import { decimal } from '../../domain/decimal.ts';
import { timestamp } from '../../domain/ids.ts';
import { type InstrumentSearch, searchInstruments } from '../../domain/instrument-search.ts';
import { didYouMean, nearest } from '../../domain/nearest.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import { readSymbol } from '../../domain/signals/symbol.ts';
import type { Instrument } from '../broker.ts';
import { jsonOf } from '../wire.ts';
import { ASSETS, type Asset, type Clock } from './answers.ts';

type Listed = Pick<Asset, 'symbol' | 'name' | 'tradable' | 'fractionable'>;

/** What is kept of them, in the order of their symbols: by columns, as what is handed from thread to thread costs by the object. */
export interface AssetColumns {
  readonly symbols: readonly string[];
  readonly names: readonly string[];
  readonly tradable: readonly boolean[];
  readonly fractionable: readonly boolean[];
}

/** undefined: it is not as agreed. Run by the thread that reads lists (broker/lists.ts). */
export function readAssets(bytes: ArrayBuffer): AssetColumns | undefined {
  const list = jsonOf(new TextDecoder().decode(bytes));
  if (!ASSETS.Check(list)) return undefined;
  const traded = new Map(
    list
      .filter((asset) => asset.class === 'us_equity' && asset.status === 'active')
      .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))
      .map((asset) => [asset.symbol, asset]),
  );
  const kept = [...traded.values()];
  return {
    symbols: kept.map(({ symbol }) => symbol),
    names: kept.map(({ name }) => name),
    tradable: kept.map(({ tradable }) => tradable),
    fractionable: kept.map(({ fractionable }) => fractionable),
  };
}

export interface Assets {
  get(symbol: string): Listed | undefined;
  /** In order. */
  readonly symbols: readonly string[];
}

export function assetsOf({ symbols, names, tradable, fractionable }: AssetColumns): Assets {
  const places = new Map(symbols.map((symbol, place) => [symbol, place]));
  return {
    symbols,
    get(symbol) {
      const at = places.get(symbol);
      if (at === undefined) return undefined;
      return {
        symbol,
        name: names[at] ?? '',
        tradable: tradable[at] === true,
        fractionable: fractionable[at] === true,
      };
    },
  };
}

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

export type Found = { readonly asset: Listed } | { readonly rejection: OrderError };

export function findAsset(symbol: string, assets: Assets): Found {
  const { exchange, ticker, market } = readSymbol(symbol);
  const asset = assets.get(ticker);
  const isOurs = market.kind === 'spot' && (exchange === null || AMERICAN.has(exchange));
  if (!isOurs || !asset) {
    const near = isOurs ? nearest(ticker, assets.symbols) : asset ? [ticker] : [];
    return { rejection: unlisted(symbol, didYouMean(near)) };
  }
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

/** One that is halted, or not traded for another reason, may be held all the same. Nobody says until when. */
export function instrumentOf({ symbol, name, tradable, fractionable }: Listed, clock: Clock): Instrument {
  const step = fractionable ? FRACTION : ONE;
  return {
    symbol,
    description: name,
    contractSize: ONE,
    quantityStep: step,
    minQuantity: step,
    tickSize: CENT,
    open: tradable && clock.is_open,
    nextOpen: clock.is_open || !tradable ? null : timestamp(Date.parse(clock.next_open)),
  };
}

export function search(assets: Assets, wanted: InstrumentSearch): readonly Listed[] {
  const traded = assets.symbols.flatMap((symbol) => {
    const asset = assets.get(symbol);
    return asset?.tradable ? [{ asset, symbol, description: asset.name }] : [];
  });
  return searchInstruments(traded, wanted).map(({ asset }) => asset);
}
