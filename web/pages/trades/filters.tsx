// What is shown: a time, freely, and of which trades.

import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { counted } from '../../parts/numbers.ts';
import { type Asked, RANGES, searchOf, spanOf } from './asked.ts';
import styles from './trades.module.css';
import type { Summary } from './words.ts';

interface FiltersProps {
  readonly asked: Asked;
  readonly accounts: readonly Schemas['Account'][];
  readonly summary: Summary | null;
}

export function Filters({ asked, accounts, summary }: FiltersProps) {
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const show = (change: Partial<Asked>) =>
    void navigate({ to: '/trades', search: searchOf({ ...asked, ...change }), replace: true });
  const { first, last } = spanOf(asked, serverNow());
  const isOwn = asked.from !== null || asked.to !== null;
  const chosen = [asked.accountId, asked.symbol, asked.strategy, asked.closedBy, asked.currency];
  const count = chosen.filter((one) => one !== null).length + (asked.money === 'all' ? 0 : 1);
  return (
    <search className={styles.filters} aria-label="What is shown">
      <nav aria-label="Range">
        {RANGES.map((range) => (
          <Link
            key={range}
            to="/trades"
            search={searchOf({ ...asked, range, from: null, to: null })}
            activeOptions={{ exact: true }}
            className={styles.filter}
            aria-current={range === asked.range && !isOwn ? 'true' : undefined}
          >
            {range === 'all' ? 'all' : `${range} days`}
          </Link>
        ))}
      </nav>
      <button
        type="button"
        className={`button ${styles.more}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        Filter{count > 0 && `, ${count}`}
      </button>
      <div className={isOpen ? styles.chosen : `${styles.chosen} ${styles.folded}`}>
        <span className={styles.fromTo}>
          <input
            type="date"
            aria-label="From"
            value={first ?? summary?.days[0]?.day ?? ''}
            max={last}
            onChange={({ target: { value } }) =>
              value && show({ from: value, to: asked.to ?? (value <= last ? last : value) })
            }
          />{' '}
          to{' '}
          <input
            type="date"
            aria-label="To"
            value={last}
            onChange={({ target: { value } }) =>
              value && show({ from: first && first > value ? value : first, to: value })
            }
          />
        </span>
        <Choice
          label="Account"
          all="All accounts"
          value={asked.accountId}
          options={accounts.map(({ id, name }) => [id, name])}
          onChoose={(accountId) => show({ accountId })}
        />
        <Choice
          label="Symbol"
          all="All symbols"
          value={asked.symbol}
          options={(summary?.symbols ?? []).map(({ symbol }) => [symbol, symbol])}
          onChoose={(symbol) => show({ symbol })}
        />
        <Choice
          label="Strategy"
          all="All strategies"
          value={asked.strategy}
          options={(summary?.strategies ?? []).flatMap(({ strategy }) =>
            strategy ? [[strategy, strategy]] : [],
          )}
          onChoose={(strategy) => show({ strategy })}
        />
        <Choice
          label="Closed by"
          all="However closed"
          value={asked.closedBy}
          options={(summary?.closed_by ?? []).map(({ closed_by }) => [closed_by, closed_by])}
          onChoose={(closedBy) => show({ closedBy })}
        />
        {((summary?.currencies.length ?? 0) > 1 || asked.currency !== null) && (
          <select
            aria-label="Currency"
            value={summary?.currency ?? asked.currency ?? ''}
            onChange={({ target }) => show({ currency: target.value })}
          >
            {(summary?.currencies ?? []).map(({ currency, trades }) => (
              <option key={currency} value={currency}>
                {currency}, {counted(trades, 'trade')}
              </option>
            ))}
          </select>
        )}
        <select
          aria-label="Money"
          value={asked.money}
          onChange={({ target }) => show({ money: target.value as Asked['money'] })}
        >
          <option value="all">Not simulated</option>
          <option value="real">Real money</option>
          <option value="simulated">Simulated only</option>
        </select>
      </div>
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string | null;
  readonly options: readonly (readonly string[])[];
  readonly onChoose: (value: string | null) => void;
}

/** What is chosen stays in it, also where none of the trades has it. */
function Choice({ label, all, value, options, onChoose }: ChoiceProps) {
  const isListed = value === null || options.some(([name]) => name === value);
  return (
    <select aria-label={label} value={value ?? ''} onChange={({ target }) => onChoose(target.value || null)}>
      <option value="">{all}</option>
      {!isListed && <option value={value ?? ''}>{value}</option>}
      {options.map(([name = '', said]) => (
        <option key={name} value={name}>
          {said}
        </option>
      ))}
    </select>
  );
}
