// The page's heading: what was earned, with the money and its sign; and whether it was real money.

import type { components } from '../../api/schema.ts';
import { counted, money, unrealWord } from '../../parts/numbers.ts';
import { hasSeveralCurrencies, type RangeName, type Row, totalsOf, withinWords } from './days.ts';

interface Scope {
  readonly range: RangeName;
  /** Null: all of them. */
  readonly accountName: string | null;
}

/** `said` matters, `rest` accompanies it. */
export function answerOf(
  performance: components['schemas']['Performance'],
  rows: readonly Row[],
  { range, accountName }: Scope,
): { readonly said: string; readonly rest: string } {
  const { realised, orderCount } = totalsOf(rows);
  const where = accountName === null ? '' : ` on ${accountName}`;
  const within = withinWords(range);
  if (performance.days.length === 0)
    return { said: range === 'all' ? 'No order yet' : `No order ${within}`, rest: where.trim() };
  if (hasSeveralCurrencies(performance) || realised === null)
    return { said: `${counted(orderCount, 'order')} ${within}`, rest: 'in several currencies' };
  const sum = performance.currency === null ? money(realised) : `${money(realised)} ${performance.currency}`;
  return { said: `${sum} realised ${within}`, rest: `by ${counted(orderCount, 'order')}${where}` };
}

type MoneyOf = Pick<components['schemas']['Account'], 'broker' | 'environment'>;

/** Real money and none must not be taken for each other, not even in a sum. */
export function moneyKinds(accounts: readonly MoneyOf[], simulation: boolean) {
  const words = accounts.map(({ broker, environment }) =>
    unrealWord({ simulation, broker_name: broker, environment }),
  );
  const unreal = [...new Set(words.filter((word) => word !== null))].toSorted();
  const unrealCount = words.filter((word) => word !== null).length;
  const isMixed = unrealCount > 0 && unrealCount < words.length;
  return {
    unreal,
    unrealCount,
    isMixed,
    /** Where nothing of it is real. */
    word: simulation ? 'simulated' : unrealCount > 0 && !isMixed ? unreal.join(', ') : null,
  };
}
