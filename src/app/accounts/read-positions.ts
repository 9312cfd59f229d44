// What an account holds, beside what its strategies hold.

import type { Account } from '../../data/accounts.ts';
import { type StrategyState, strategiesOf } from '../../data/strategies.ts';
import { type Decimal, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { positionOf } from '../../domain/strategy.ts';
import { canonicalSymbol } from '../../domain/symbol.ts';
import type { PlaceOrderDeps } from '../orders/place-order.ts';
import { positionFor } from '../orders/plan-order.ts';
import { type AskDeps, heldPositions } from './account-broker.ts';
import { ownAccount } from './accounts.ts';

/** Those of the broker, or those of the account's simulated book. */
export async function readPositions(
  deps: AskDeps & Pick<PlaceOrderDeps, 'db' | 'clock'>,
  user: UserId,
  id: string,
  book: { readonly simulation: boolean },
) {
  const account = await ownAccount(deps, user, id);
  if (isDenial(account)) return account;
  const positions = await heldPositions(deps, user, account.id, book);
  if (isDenial(positions)) return positions;
  const strategies = new Map(
    (await strategiesOf(deps.db.lists, account.id, book)).map((state) => [state.key.symbol, state]),
  );
  const canonical = (symbol: string) => canonicalSymbol(account.brokerName, symbol);
  const held = positions.map(({ symbol, quantity, averagePrice, lastPrice, openProfit }) => ({
    symbol,
    quantity: toNumber(quantity),
    average_price: toNumber(averagePrice),
    last_price: toNumberOrNull(lastPrice),
    open_profit: toNumberOrNull(openProfit),
    ...besides(strategies.get(canonical(symbol)), quantity),
  }));
  const listed = new Set(positions.map(({ symbol }) => canonical(symbol)));
  const missing = [];
  for (const state of strategies.values()) {
    const { symbol } = state.key;
    if (listed.has(symbol) || state.word.after === null || state.word.after.side === 'flat') continue;
    const quantity = await heldOf(deps, account, { symbol, ...book });
    if (typeof quantity !== 'string') return quantity;
    missing.push({
      symbol,
      quantity: toNumber(quantity),
      average_price: null,
      last_price: null,
      open_profit: null,
      ...besides(state, quantity),
    });
  }
  return { items: [...held, ...missing] };
}

/** Where the strategy stands beside what is held; nulls where none has said anything. */
function besides(state: StrategyState | undefined, held: Decimal) {
  const position = state?.word.after ? positionOf(state.word.after) : null;
  return {
    strategy_position: toNumberOrNull(position),
    in_sync: position === null ? null : position === held,
    last_signal_at: state?.arrivedAt ?? null,
  };
}

/** Of a symbol that is not listed nothing is held; but a continuous month is listed under the month's own name. */
async function heldOf(
  deps: AskDeps & Pick<PlaceOrderDeps, 'clock'>,
  account: Account,
  of: { readonly symbol: string; readonly simulation: boolean },
): Promise<Decimal | Denial> {
  if (!of.symbol.endsWith('!')) return ZERO;
  const held = await positionFor(deps, account, of);
  if (isDenial(held)) return held;
  return 'rejection' in held ? ZERO : held.position;
}
