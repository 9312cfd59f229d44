// Which positions stand on the page: what is in trouble first, then what is held.

import type { components } from '../../api/schema.ts';
import { spelled } from '../../parts/symbol.ts';

type AccountToday = components['schemas']['AccountToday'];
type Position = components['schemas']['Position'];
type Todo = components['schemas']['Todo'];

/** As many as there are signals beside them. */
const MOST_ROWS = 8;

/** The worst first. */
const TROUBLES = ['unknown', 'bare', 'excess', 'missing'] as const;

export interface HeldRow
  extends Pick<Position, 'symbol' | 'quantity' | 'may_be' | 'open_profit' | 'protection' | 'risk'> {
  readonly account: AccountToday;
  /** `unknown`: an order of it is; `bare`: its stop is missing; `excess` and `missing`: it is not the strategy's. */
  readonly trouble: (typeof TROUBLES)[number] | null;
  /** The symbol is held on another account too. */
  readonly isAmbiguous: boolean;
}

interface OfAccount {
  readonly account: AccountToday;
  readonly positions: readonly Position[];
}

export function heldRows(
  all: readonly OfAccount[],
  todo: readonly Todo[],
): { readonly rows: readonly HeldRow[]; readonly more: number } {
  const found = all.flatMap(({ account, positions }) =>
    positions
      .map(({ symbol, quantity, may_be, open_profit, protection, risk }) => ({
        account,
        symbol,
        quantity,
        ...(may_be && { may_be }),
        open_profit,
        protection,
        risk,
        trouble: troubleOf(todo, account, symbol),
      }))
      .filter(({ quantity, trouble }) => quantity !== 0 || trouble !== null),
  );
  const rows = found
    .toSorted((a, b) => weight(a) - weight(b))
    .map((row) => ({
      ...row,
      isAmbiguous: found.some((other) => other.symbol === row.symbol && other.account.id !== row.account.id),
    }));
  return { rows: rows.slice(0, MOST_ROWS), more: Math.max(0, rows.length - MOST_ROWS) };
}

const weight = ({ trouble }: Pick<HeldRow, 'trouble'>): number =>
  trouble === null ? TROUBLES.length : TROUBLES.indexOf(trouble);

function troubleOf(todo: readonly Todo[], account: AccountToday, symbol: string): HeldRow['trouble'] {
  const { id, broker_name } = account;
  // Of an order it is told as the alert spelt it.
  const [worst] = todo.filter(
    (one) =>
      one.trading_account_id === id &&
      one.symbol !== undefined &&
      spelled(one.symbol, broker_name) === spelled(symbol, broker_name),
  );
  switch (worst?.kind) {
    case 'dead_letter':
    case 'unknown_order':
      return 'unknown';
    case 'unprotected':
    case 'protection_not_restored':
      return 'bare';
    case 'drift_excess':
      return 'excess';
    case 'drift_missing':
      return 'missing';
    default:
      return null;
  }
}
