// What an exchange lists, made of megabytes by ccxt: run by the thread that reads lists (broker/lists.ts), with a ccxt object of
// its own. Only what is traded here leaves it.

import { type Decimal, decimal, multiply, parseDecimal, sign } from '../../domain/decimal.ts';
import type { Instrument } from '../broker.ts';
import { jsonOf } from '../wire.ts';
import { type Ccxt, makeCcxt } from './library.ts';
import type { AccountKind, CcxtMarket, ExchangeName, ListedMarket, Profile } from './profile.ts';
import { PROFILES } from './profiles.ts';
import { at } from './rows.ts';
import type { Request } from './wire.ts';

export interface Market extends CcxtMarket {
  readonly instrument: Instrument;
}

/** Whose list it is. */
export interface ListingOf {
  readonly name: ExchangeName;
  readonly environment: string;
  readonly kind: AccountKind;
}

export interface Listed {
  /** Each name once, in order. */
  readonly markets: readonly Market[];
  /** The ids of all that the exchange lists, of those too that are not traded here. */
  readonly ids: readonly string[];
  /** Each of the markets as ccxt must know it to compose a request, in JSON. */
  readonly composable: readonly string[];
}

/** What is wrong with it, said of the exchange. */
export type Listing = Listed | { readonly problem: string };

class NotJson extends Error {}

export async function readListing(
  { name, ...setting }: ListingOf,
  ask: (request: Request & { readonly url: string }) => Promise<ArrayBuffer>,
): Promise<Listing> {
  const profile = PROFILES[name];
  const ccxt = await makeCcxt(profile, {
    ...setting,
    async send(url, { method, headers, body }) {
      const bytes = await ask({
        url,
        method,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      const text = new TextDecoder().decode(bytes);
      if (jsonOf(text) === undefined) throw new NotJson();
      return new Response(text);
    },
  });
  try {
    return readMarkets(await ccxt.fetchMarkets(), ccxt, profile);
  } catch (fault) {
    if (fault instanceof NotJson) return { problem: 'did not list its markets as agreed' };
    throw fault;
  }
}

function readMarkets(listed: readonly ListedMarket[], ccxt: Ccxt, profile: Profile): Listing {
  const read = listed.flatMap((row) => {
    const market = readMarket(row, profile);
    return market ? [{ market, row }] : [];
  });
  // An exchange without markets is an answer that went wrong.
  if (read.length === 0) return { problem: 'lists no markets that could be read' };
  const byName = new Map<string, (typeof read)[number]>();
  for (const each of read.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const known = byName.get(nameOf(each))?.market.instrument;
    if (!known || (!known.open && each.market.instrument.open)) byName.set(nameOf(each), each);
  }
  const traded = [...byName.values()];
  return {
    markets: traded.map(({ market }) => market),
    ids: listed.map(({ id }) => id),
    composable: composableIn(
      ccxt,
      traded.map(({ row }) => row),
      profile,
    ),
  };
}

const nameOf = ({ market }: { readonly market: Market }): string => market.instrument.symbol;

/** Made ready by ccxt, with as little of the exchange's own row as its methods look at. */
function composableIn(ccxt: Ccxt, rows: readonly ListedMarket[], { rowKept = [] }: Profile): string[] {
  ccxt.setMarkets(
    rows.map((row) => ({ ...row, info: Object.fromEntries(rowKept.map((key) => [key, at(row.info, key)])) })),
  );
  return rows.map(({ symbol }) => JSON.stringify(ccxt.markets[symbol]));
}

/** null: it is no perpetual in USDT, or it cannot be counted exactly. */
function readMarket(listed: ListedMarket, profile: Profile): Market | null {
  const { id, symbol, baseId, quoteId, swap, linear, settle, quote, active } = listed;
  if (!swap || !linear || settle !== 'USDT' || quote !== 'USDT' || !id || !baseId) return null;
  const own = profile.sizes?.(listed) ?? {};
  const contractSize = size(own.contractSize ?? listed.contractSize);
  const step = size(own.step ?? listed.precision.amount);
  const min = size(own.min ?? listed.limits.amount.min) ?? step;
  const tickSize = size(own.tick ?? listed.precision.price);
  if (!contractSize || !step || !min || !tickSize) return null;
  const minValue = size(listed.limits.cost?.min);
  const instrument: Instrument = {
    symbol: `${baseId}${quoteId}.P`.toUpperCase(),
    description: `${baseId} / ${quoteId} perpetual`.toUpperCase().replace('PERPETUAL', 'perpetual'),
    // Quantities are in the base asset, whatever a contract is.
    contractSize: ONE,
    quantityStep: multiply(step, contractSize),
    minQuantity: multiply(min, contractSize),
    ...(minValue && { minValue }),
    tickSize,
    open: active !== false,
    nextOpen: null,
  };
  return { id, symbol, contractSize, instrument };
}

const ONE = decimal(1);

function size(value: unknown): Decimal | null {
  const read = typeof value === 'string' || typeof value === 'number' ? parseDecimal(String(value)) : null;
  return read !== null && sign(read) > 0 ? read : null;
}
