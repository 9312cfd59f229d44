// What an account holds, beside what its strategies hold.

import { TRADABLE } from '../../broker/broker.ts';
import type { Db } from '../../data/engine/db.ts';
import { type StrategyState, strategiesOf } from '../../data/orders/strategies.ts';
import { unknownOrders } from '../../data/orders/unresolved.ts';
import { type Decimal, toNumber, toNumberOrNull, ZERO } from '../../domain/decimal.ts';
import { isDenial } from '../../domain/denial.ts';
import type { UserId } from '../../domain/ids.ts';
import { mayHold } from '../../domain/orders/may-hold.ts';
import { type Order, openLeg } from '../../domain/orders/order.ts';
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
  const undecided = (await unknownOrders(deps.db.lists, user, of)).filter(openLeg);
  const unknown = Map.groupBy(undecided, (order) => canonical(openLeg(order)?.instrument ?? order.symbol));
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
      ...inDoubt(unknown.get(canonical(symbol)), quantity),
    }),
  );
  const listed = new Set(positions.map(({ symbol }) => canonical(symbol)));
  const isHeld = ({ word }: StrategyState) => word.after !== null && word.after.side !== 'flat';
  const byStrategy = [...strategies.values()].filter(isHeld).map(({ key }) => key.symbol);
  // What only the strategy holds, and what an order may have opened.
  const missing = [...new Set([...byStrategy, ...unknown.keys()])]
    .filter((symbol) => !listed.has(symbol))
    .map((symbol) => ({
      symbol,
      quantity: 0,
      average_price: null,
      last_price: null,
      open_profit: null,
      ...TRADABLE,
      ...UNPROTECTED,
      ...besides(strategies.get(symbol), ZERO),
      // A continuous month is held under the month's own name: if anything is held, what was last compared tells.
      ...(symbol.endsWith('!') &&
        positions.length > 0 && { in_sync: strategies.get(symbol)?.driftSince === null }),
      ...inDoubt(unknown.get(symbol), ZERO),
    }));
  return { items: [...held, ...missing] };
}

/** While the end of an order is not known, neither is what is held: it is never in sync. */
function inDoubt(orders: readonly Order[] | undefined, read: Decimal) {
  const may = orders ? mayHold(read, orders) : [read];
  return may.length > 1 ? { may_be: may.map(toNumber), in_sync: null } : {};
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
