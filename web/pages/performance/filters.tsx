// What is shown, and it stands in the address: a range, an account, real orders or simulated ones.

import { Link, useNavigate } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { RANGES, type RangeName, rangeInWords } from './days.ts';
import styles from './performance.module.css';

export interface Shown {
  readonly range: RangeName;
  readonly accountId: string | null;
  readonly simulation: boolean;
  /** Without the accounts that are paper or not live. */
  readonly realMoney: boolean;
}

/** What is usual is left out of the address. */
export const searchOf = ({ range, accountId, simulation, realMoney }: Shown) =>
  ({
    ...(range === '30' ? {} : { range }),
    ...(accountId === null ? {} : { account: accountId }),
    ...(simulation ? { simulation: 'true' } : {}),
    ...(realMoney ? { money: 'real' } : {}),
  }) as never;

interface FiltersProps {
  readonly shown: Shown;
  readonly accounts: readonly Schemas['Account'][];
  readonly span: string;
}

export function Filters({ shown, accounts, span }: FiltersProps) {
  const navigate = useNavigate();
  const show = (change: Partial<Shown>) =>
    void navigate({ to: '/performance', search: searchOf({ ...shown, ...change }), replace: true });
  return (
    <search className={styles.filters} aria-label="What is shown">
      <nav aria-label="Range">
        {RANGES.map((range) => (
          <Link
            key={range}
            to="/performance"
            search={searchOf({ ...shown, range })}
            activeOptions={{ exact: true }}
            className={styles.filter}
            aria-current={range === shown.range ? 'true' : undefined}
          >
            {rangeInWords(range)}
          </Link>
        ))}
      </nav>
      <span className="quiet">{span}</span>
      <select
        aria-label="Account"
        value={shown.accountId ?? ''}
        onChange={({ target }) => show({ accountId: target.value || null })}
      >
        <option value="">All accounts</option>
        {accounts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Orders"
        value={shown.simulation ? 'simulated' : shown.realMoney ? 'real' : ''}
        onChange={({ target: { value } }) =>
          show({ simulation: value === 'simulated', realMoney: value === 'real' })
        }
      >
        <option value="">Not simulated</option>
        <option value="real">Real money</option>
        <option value="simulated">Simulated only</option>
      </select>
    </search>
  );
}
