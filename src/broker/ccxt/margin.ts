// The margin mode of orders, where the exchange asks for one with each. What is held has its own, whatever the account's setting
// says by now: its closes go there, and what adds to it too.

import type { MarginMode } from '../../domain/brokers.ts';
import { sign } from '../../domain/decimal.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { Market } from './listing.ts';
import { findMarket, type MarketList } from './markets.ts';
import type { AccountKind, Asking, Held, Profile } from './profile.ts';

const OTHER: Readonly<Record<MarginMode, MarginMode>> = { cross: 'isolated', isolated: 'cross' };

/** Of a position. */
export interface HeldMargin {
  readonly mode: MarginMode;
  /** Of an order that adds to it. */
  readonly side: Side;
}

/**
 * One after the other, until the exchange has a position there. A close that sees nothing held may be ahead of the list of
 * positions, and the setting may have been changed since it was opened: what it closes is in one of the two. What opens the other
 * side may see as held what its reversal has just closed.
 */
export function modesToTry(
  held: HeldMargin | null,
  {
    setting,
    side,
    reduceOnly,
  }: { readonly setting: MarginMode; readonly side: Side; readonly reduceOnly: boolean },
): readonly MarginMode[] {
  if (held && (reduceOnly || held.side === side)) return [held.mode];
  return reduceOnly ? [setting, OTHER[setting]] : [setting];
}

interface Looking {
  readonly profile: Profile;
  readonly kind: AccountKind;
  readonly setting: MarginMode;
  readonly list: MarketList;
  readonly held: readonly Held[];
  readonly symbols: readonly string[];
  readonly asking: Asking;
}

/** Where the exchange has another mode than the account's setting, in words: of what is held, and of the symbols. */
export async function marginWarnings({
  profile,
  setting,
  list,
  held,
  ...looking
}: Looking): Promise<string[]> {
  const { title } = profile;
  const elsewhere = held.filter(
    ({ quantity, marginMode }) => sign(quantity) !== 0 && marginMode === OTHER[setting],
  );
  const warnings = elsewhere.flatMap(({ marketId }) => {
    const market = list.byId.get(marketId);
    if (!market) return [];
    return `${market.instrument.symbol} is held in ${OTHER[setting]} margin at ${title}, and the account’s margin_mode is ${setting}: what closes it, or adds to it, stays ${OTHER[setting]}; what is opened after it is ${setting}.`;
  });
  const known = new Set(elsewhere.map(({ marketId }) => marketId));
  const wanted = looking.symbols.flatMap((symbol) => findMarket(list, symbol) ?? []);
  for (const market of wanted.filter(({ id }) => !known.has(id)))
    if ((await setAt(market, profile, looking)) === OTHER[setting])
      warnings.push(
        `${market.instrument.symbol} is set to ${OTHER[setting]} margin at ${title}, and the account’s margin_mode is ${setting}: what is opened there will be ${setting}. Change either of them if you do not mean that.`,
      );
  return warnings;
}

/** Good to know, and no more. */
const setAt = async (
  market: Market,
  { marginModeSet }: Profile,
  { kind, asking }: Pick<Looking, 'kind' | 'asking'>,
): Promise<MarginMode | null> => (marginModeSet ? asking.hear(marginModeSet(market, kind)) : null);
