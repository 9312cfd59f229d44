// What an account holds, as its exchange lists it. All of it is listed, also what is not traded here: whoever wants to be out
// must see what is left. One odd row marks itself, and never hides the others.

import { type Decimal, multiply, sign, ZERO } from '../../domain/decimal.ts';
import { AccountUnfit, BrokerUnavailable, type Position } from '../broker.ts';
import { hedged } from './answers.ts';
import type { Market } from './listing.ts';
import type { HeldMargin } from './margin.ts';
import { type MarketList, type Markets, marketsOf } from './markets.ts';
import type { Held, Profile } from './profile.ts';

/** A position's margin mode is believed for so long after it was read, unless an order was taken meanwhile. */
const MARGIN_MS = 5_000;

interface Reading {
  readonly profile: Pick<Profile, 'title' | 'howToSwitch'>;
  readonly markets: Markets;
  /** `market`: of that one, where the exchange can be asked for one; else rows of others come too. */
  rows(market: Market | null, signal: AbortSignal): Promise<readonly Held[]>;
}

export interface Holdings {
  /** Throws AccountUnfit where it is held in a way that is no one position. */
  of(market: Market, signal: AbortSignal): Promise<Decimal>;
  all(signal: AbortSignal): Promise<Position[]>;
  /** Of what is held in it; null: nothing is. */
  marginOf(market: Market, signal: AbortSignal): Promise<HeldMargin | null>;
  /** An order was taken there, or may have been: what was held may be closed by now, and something else opened. */
  forgetMargin(market: Market): void;
}

export function createHoldings({ profile, markets, rows }: Reading): Holdings {
  const { title, howToSwitch } = profile;
  const margins = new Map<string, { readonly margin: HeldMargin | null; readonly readAt: number }>();

  async function heldIn(market: Market, signal: AbortSignal): Promise<Held | null> {
    const own = (await rows(market, signal)).filter(({ marketId }) => marketId === market.id);
    const readAt = performance.now();
    // Flat ones of a hedged instrument too: what would be opened there has a side of its own.
    if (own.some(({ isHedged }) => isHedged)) throw new AccountUnfit(hedged(title, howToSwitch));
    const [held = null, ...more] = own.filter(isOpen);
    if (more.length > 0) throw new AccountUnfit(`${twice(title)} Then try again.`);
    margins.set(market.id, { margin: held && marginIn(held), readAt });
    return held;
  }

  /** Those known where the exchange does not list them anew: a row of an unknown market does not hide the others. */
  const marketsFor = (held: readonly Held[], signal: AbortSignal): Promise<MarketList> =>
    marketsOf(markets, held, signal).catch((fault: unknown) => {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
      return markets.all(signal);
    });

  function whyNot(row: Held, market: Market | undefined, held: readonly Held[]): string | null {
    if (!market) return `${row.marketId} is no perpetual in USDT that ${title} lists. ${closeThere(title)}`;
    if (row.isHedged)
      return `It is held in hedge mode, and only one-way mode is traded. ${closeThere(title)} ${howToSwitch}.`;
    return held.filter(({ marketId }) => marketId === row.marketId).length > 1 ? twice(title) : null;
  }

  return {
    of: async (market, signal) => {
      const held = await heldIn(market, signal);
      return held ? multiply(held.quantity, market.contractSize) : ZERO;
    },

    async all(signal) {
      const held = (await rows(null, signal)).filter(isOpen);
      const readAt = performance.now();
      const { byId } = await marketsFor(held, signal);
      return held.map((row) => {
        const market = byId.get(row.marketId);
        const reason = whyNot(row, market, held);
        if (reason === null) margins.set(row.marketId, { margin: marginIn(row), readAt });
        return {
          symbol: market?.instrument.symbol ?? row.marketId,
          quantity: market ? multiply(row.quantity, market.contractSize) : row.quantity,
          averagePrice: row.averagePrice,
          lastPrice: row.lastPrice,
          openProfit: row.openProfit,
          tradable: reason === null,
          reason,
        };
      });
    },

    async marginOf(market, signal) {
      const known = margins.get(market.id);
      if (known && performance.now() - known.readAt < MARGIN_MS) return known.margin;
      const held = await heldIn(market, signal);
      return held && marginIn(held);
    },

    forgetMargin(market) {
      margins.delete(market.id);
    },
  };
}

const marginIn = ({ marginMode: mode, quantity }: Held): HeldMargin | null =>
  mode && { mode, side: sign(quantity) > 0 ? 'buy' : 'sell' };

const isOpen = ({ quantity }: Held): boolean => sign(quantity) !== 0;

const closeThere = (title: string): string => `Close it at ${title}.`;

const twice = (title: string): string =>
  `A cross and an isolated position are held in one instrument at ${title}. Close one of them there.`;
