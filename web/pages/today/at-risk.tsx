// What can be lost down to the stops, and what has none. Money that is none is not added to money that is.

import Big from 'big.js';
import type { Schemas } from '../../api/client.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { type Exposure, exposureOf } from '../../parts/protection/exposure.ts';
import { useWithout } from '../../parts/protection/without.ts';
import { sumsByCurrency, unsigned } from '../../parts/sums.ts';
import { type HeldBy, useEquities, useHeld } from './use-held.ts';

/** Those whose money counts. */
function countedBooks(all: readonly HeldBy[]): readonly HeldBy[] {
  const real = all.filter(({ account }) => account.real_money);
  return real.length > 0 ? real : all;
}

/** Of all that could be read. */
export const stopsOf = (all: readonly HeldBy[]): Exposure =>
  exposureOf(countedBooks(all).flatMap(({ positions = [] }) => positions));

export function AtRisk({ overview }: { readonly overview: Schemas['Overview'] }) {
  const books = countedBooks(useHeld(overview)).map((book) => ({
    ...book,
    risk: exposureOf(book.positions ?? []).risk,
  }));
  const atRisk = books.filter(({ risk }) => risk !== null);
  const equities = useEquities(atRisk);
  const { missing } = useWithout(books);
  const { stops, standing } = stopsOf(books);
  if (stops === 0) return null;
  const risks = sumsByCurrency(atRisk.map(({ risk, currency }) => ({ value: risk, currency })));
  const shareOf = (currency: string, risk: number) =>
    shareInWords(
      risk,
      atRisk
        .filter((book) => book.currency === currency)
        .map(({ account }) => equities.get(account.id) ?? null),
    );
  return (
    <>
      {risks.length > 0 && (
        <span>
          at risk{' '}
          {unsigned(risks).map(({ currency, text, value }, index) => (
            <span key={currency}>
              {index > 0 && ', '}
              <b>
                {text} {currency}
              </b>
              {shareOf(currency, value)}
            </span>
          ))}{' '}
          down to the stops
        </span>
      )}
      {unsigned(missing).map(({ currency, text }) => (
        <span key={currency} className="risk">
          <b>
            {text} {currency}
          </b>{' '}
          without its stop
        </span>
      ))}
      <span>
        <b>{figure(standing)}</b> of {counted(stops, 'wanted stop')} {stops === 1 ? 'stands' : 'stand'}
      </span>
    </>
  );
}

/** `, 2.3 % of the equity`; nothing where the equity of one is not known. */
function shareInWords(risk: number, equities: readonly (number | null)[]): string {
  if (equities.includes(null)) return '';
  const all = equities.reduce<Big>((sum, equity) => sum.plus(equity ?? 0), new Big(0));
  if (all.lte(0)) return '';
  const share = new Big(risk).div(all).times(100);
  const said = share.gt(0) && share.lt(0.1) ? 'less than 0.1' : figure(share.round(1).toNumber());
  return ` (${said} % of the equity)`;
}
