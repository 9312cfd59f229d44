// The counts, which are filters, and the other filters. On a phone these fold into one button.

import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { AS_CSV, CsvButton } from '../../parts/csv.tsx';
import { figure } from '../../parts/numbers.ts';
import { type Filters, isWholeDay, queryOf } from './filters.ts';
import styles from './signals.module.css';

type Counts = Schemas['Overview']['signals_today'];

const COUNTED: readonly { readonly outcome: string; readonly name: string; readonly of: keyof Counts }[] = [
  { outcome: 'executed', name: 'executed', of: 'executed' },
  { outcome: 'rejected', name: 'rejected', of: 'rejected' },
  { outcome: 'refused', name: 'refused', of: 'refused' },
  { outcome: 'sync', name: 'reported', of: 'reported' },
  { outcome: 'under_way', name: 'under way', of: 'under_way' },
];
const TIMES: readonly [string, string][] = [
  ['', 'Today'],
  ['week', '7 days'],
  ['month', '30 days'],
  ['all', 'All time'],
];
/** They have no control of their own: they come with a link, and go with a click. */
const SAID = ['status', 'code', 'from', 'to'] as const;

interface FilterBarProps {
  readonly filters: Filters;
  readonly counts: Counts | null;
  readonly accounts: readonly Schemas['Account'][];
  readonly symbols: readonly string[];
  readonly dayStart: number;
}

export function FilterBar({ filters, counts, accounts, symbols, dayStart }: FilterBarProps) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const go = (change: Partial<Record<keyof Filters, string | undefined>>) =>
    void navigate({ to: '/signals', search: { ...filters, ...change } as never, replace: true });
  const shown = isWholeDay(filters) ? counts : null;
  const choose = (name: keyof Filters) => ({
    value: filters[name] ?? '',
    onChange: ({ target }: { target: HTMLSelectElement }) => go({ [name]: target.value || undefined }),
  });
  return (
    <search className={styles.filters} aria-label="Filters" data-open={isOpen}>
      <Count filters={filters} outcome={undefined} name="all" count={shown?.total} />
      {COUNTED.map(({ outcome, name, of }) =>
        // A count of none is worth no place, but what is filtered by must be seen.
        shown?.[of] === 0 && filters.outcome !== outcome ? null : (
          <Count key={outcome} filters={filters} outcome={outcome} name={name} count={shown?.[of]} />
        ),
      )}
      {filters.outcome === 'order' && (
        <Count filters={filters} outcome="order" name="became orders" count={undefined} />
      )}
      {SAID.map((name) =>
        filters[name] === undefined ? null : (
          <button
            key={name}
            type="button"
            className="link"
            onClick={() => go({ [name]: undefined })}
            aria-label={`Remove the filter ${name} ${filters[name]}`}
          >
            {name} {filters[name]} ×
          </button>
        ),
      )}
      <button
        type="button"
        className={`button ${styles.onlyPhone}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Filter
      </button>
      <div className={styles.choices}>
        <select aria-label="Account" {...choose('account')}>
          <option value="">All accounts</option>
          {accounts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <select aria-label="Symbol" {...choose('symbol')}>
          <option value="">All symbols</option>
          {symbols.map((symbol) => (
            <option key={symbol}>{symbol}</option>
          ))}
        </select>
        <select aria-label="Money" {...choose('money')}>
          <option value="">Real and simulated</option>
          <option value="real">Real</option>
          <option value="simulated">Simulated</option>
        </select>
        <select aria-label="Time" {...choose('time')}>
          {TIMES.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <CsvButton
          name="signals"
          ask={() =>
            api.GET('/trading/signals', { params: { query: queryOf(filters, dayStart) }, ...AS_CSV })
          }
        />
      </div>
    </search>
  );
}

function Count({
  filters,
  outcome,
  name,
  count,
}: {
  readonly filters: Filters;
  readonly outcome: string | undefined;
  readonly name: string;
  readonly count: number | undefined;
}) {
  return (
    <Link
      to={'/signals' as never}
      search={{ ...filters, outcome } as never}
      className={styles.filter}
      activeOptions={{ exact: true }}
      replace
    >
      {name} {count !== undefined && <b>{figure(count)}</b>}
    </Link>
  );
}
