// How a paper account behaves: the bad days that anyone can rehearse.

import { Section } from '../../parts/page.tsx';
import { plain, readNumber } from '../../parts/settings/numbers.ts';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useChange } from './change.ts';
import { FieldRow } from './row.tsx';
import type { Account } from './words.ts';

type Paper = NonNullable<Account['paper']>;

const FILLS: Readonly<Record<Paper['fill'], string>> = {
  full: 'at once and whole',
  partial: 'in part; the rest stays open',
  never: 'never: the order stays open',
  cancel: 'cancelled by the broker',
  fail: 'fails at the broker',
};

const REJECTIONS: readonly NonNullable<Paper['reject']>[] = [
  'insufficient_margin',
  'market_closed',
  'invalid_symbol',
  'broker_rate_limited',
  'position_mode_mismatch',
];

const PROTECTIONS: Readonly<Record<Paper['protection'], string>> = {
  native: 'kept, as at a broker',
  refuse: 'each is refused',
  lose_answer: 'taken, and the answer is lost',
  vanish: 'gone at the next look',
};

const NUMBERS = [
  {
    name: 'starting_cash',
    unit: 'USD',
    meaning: 'what the account starts with',
    bounds: { least: 0, most: 1e12 },
  },
  {
    name: 'latency_ms',
    unit: 'ms',
    meaning: 'before the broker accepts an order',
    bounds: { least: 0, most: 60_000, whole: true },
  },
  {
    name: 'seed',
    unit: '',
    meaning: 'of its prices: the same seed, the same market',
    bounds: { least: 0, most: 1e15, whole: true },
  },
] as const;

export function PaperRows({ account, paper }: { readonly account: Account; readonly paper: Paper }) {
  return (
    <Section
      title="Paper"
      more={<span className="quiet">rehearse the bad days; no real money is involved</span>}
    >
      <dl className={`rows ${styles.rows} ${styles.guards}`}>
        {NUMBERS.map(({ name, unit, meaning, bounds }) => (
          <FieldRow
            key={name}
            account={account}
            name={<code>{name}</code>}
            label={name}
            stored={plain(paper[name])}
            unit={unit}
            meaning={meaning}
            read={(text) => {
              const typed = readNumber(text, bounds);
              return 'value' in typed ? { value: { paper: { [name]: typed.value } } } : typed;
            }}
          />
        ))}
        <Choice
          account={account}
          name="fill"
          meaning="what becomes of an accepted order"
          value={paper.fill}
          options={Object.entries(FILLS)}
        />
        <Choice
          account={account}
          name="reject"
          meaning="the broker refuses every order for this reason"
          value={paper.reject ?? ''}
          options={[['', 'nothing'], ...REJECTIONS.map((code) => [code, code] as const)]}
        />
        <LoseAnswer account={account} isOn={paper.lose_answer} />
        <Choice
          account={account}
          name="protection"
          meaning="what becomes of stops"
          value={paper.protection}
          options={Object.entries(PROTECTIONS)}
        />
      </dl>
    </Section>
  );
}

interface ChoiceProps {
  readonly account: Account;
  readonly name: 'fill' | 'reject' | 'protection';
  readonly meaning: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ account, name, meaning, value, options }: ChoiceProps) {
  const change = useChange(account);
  return (
    <Row
      name={<code>{name}</code>}
      meaning={meaning}
      fault={change.error}
      does={<Saved when={change.isSuccess} />}
    >
      <select
        aria-label={name}
        className={styles.choice}
        value={String((change.isPending ? change.variables.paper?.[name] : value) ?? '')}
        onChange={({ target }) => change.mutate({ paper: { [name]: target.value || null } })}
      >
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    </Row>
  );
}

function LoseAnswer({ account, isOn }: { readonly account: Account; readonly isOn: boolean }) {
  const change = useChange(account);
  return (
    <Row
      name={<code>lose_answer</code>}
      meaning="the broker accepts the order, but its answer is lost: the order becomes unknown"
      fault={change.error}
      does={<Saved when={change.isSuccess} />}
    >
      <label className={styles.radio}>
        <input
          type="checkbox"
          checked={change.isPending ? change.variables.paper?.lose_answer === true : isOn}
          onChange={({ target }) => change.mutate({ paper: { lose_answer: target.checked } })}
        />
        lose answers
      </label>
    </Row>
  );
}
