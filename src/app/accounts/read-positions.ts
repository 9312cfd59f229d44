// What an account holds, beside what its strategies hold.

import { TRADABLE } from '../../broker/broker.ts';
import type { Db } from '../../data/engine/db.ts';
import { type StrategyState, strategiesOf } from '../../data/orders/strategies.ts';
import { type Decimal, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { isDenial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { countedPosition, isMetBy, positionOf, scaledPosition } from '../../domain/signals/strategy.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { besidePositions, UNPROTECTED } from '../protection/read-protections.ts';
import { type AskDeps, heldPositions } from './account-broker.ts';
import { ownAccount } from './accounts.ts';

/** Those of the broker, or those of the account's simulated book. */
export async function readPositions(
  deps: AskDeps & { readonly db: Db },
  user: UserId,
  id: string,
  book: { readonly simulation: boolean },
) {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  const positions = await heldPositions(deps, user, account, book);
  if (isDenial(positions)) return positions;
  const strategies = new Map(
    (await strategiesOf(deps.db.lists, account.id, book)).map((state) => [state.key.symbol, state]),
  );
  const canonical = (symbol: string) => canonicalSymbol(account.brokerName, symbol);
  const of = { accountId: account.id, brokerName: account.brokerName, ...book };
  const protections = await besidePositions({ db: deps.db.lists }, user, of, positions);
  const held = positions.map(
    ({ symbol, quantity, averagePrice, lastPrice, openProfit, tradable, reason }, index) => ({
      symbol,
      quantity: toNumber(quantity),
      average_price: toNumber(averagePrice),
      last_price: toNumberOrNull(lastPrice),
      open_profit: toNumberOrNull(openProfit),
      tradable,
      reason,
      ...(protections[index] ?? UNPROTECTED),
      ...besides(strategies.get(canonical(symbol)), quantity),
    }),
  );
  const listed = new Set(positions.map(({ symbol }) => canonical(symbol)));
  // What only the strategy holds.
  const missing = [...strategies.values()]
    .filter(({ key, word }) => !listed.has(key.symbol) && word.after !== null && word.after.side !== 'flat')
    .map((state) => ({
      symbol: state.key.symbol,
      quantity: 0,
      average_price: null,
      last_price: null,
      open_profit: null,
      ...TRADABLE,
      ...UNPROTECTED,
      ...besides(state, ZERO),
      // A continuous month is held under the month's own name: if anything is held, what was last compared tells.
      ...(state.key.symbol.endsWith('!') && positions.length > 0 && { in_sync: state.driftSince === null }),
    }));
  return { items: [...held, ...missing] };
}

/** Where the strategy stands beside what is held; nulls where none has said anything. */
function besides(state: StrategyState | undefined, held: Decimal) {
  const after = state?.word.after ?? null;
  const stopped = state?.stopped ?? null;
  // What protection has closed is no difference.
  const counted = state && after && countedPosition(after, stopped, state.scale);
  const said = after && positionOf(after);
  return {
    strategy_position: toNumberOrNull(state && said ? scaledPosition(said, state.scale) : said),
    in_sync: state && after && counted ? isMetBy(held, counted, after, state.scale) : null,
    closed_by_protection: toNumberOrNull(stopped?.quantity ?? null),
    last_signal_at: state?.arrivedAt ?? null,
  };
}
