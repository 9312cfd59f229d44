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
  if (isMixed(performance))
    return {
      said: `${counted(orderCount, 'order')} ${within}`,
      rest: 'with real money and without it; choose an account',
    };
  const sum = performance.currency === null ? money(realised) : `${money(realised)} ${performance.currency}`;
  return { said: `${sum} realised ${within}`, rest: `by ${counted(orderCount, 'order')}${where}` };
}

type MoneyOf = Pick<components['schemas']['Account'], 'broker' | 'environment'>;

/** Real money and none must not be taken for each other, least of all in a sum. */
export const isMixed = ({ days, real_money }: components['schemas']['Performance']): boolean =>
  days.length > 0 && real_money === null;

/** The word where nothing of it is real; of accounts that are deleted, or not known yet, no more is known than that. */
export function wordOf(
  { real_money }: Pick<components['schemas']['Performance'], 'real_money'>,
  accounts: readonly MoneyOf[],
  simulation: boolean,
): string | null {
  if (simulation) return 'simulated';
  if (real_money !== false) return null;
  const words = accounts.map(({ broker, environment }) => unrealWord({ broker_name: broker, environment }));
  const unreal = [...new Set(words.filter((word) => word !== null))].toSorted();
  return unreal.join(', ') || 'no real money';
}
