// What an account settles about protection: what an entry has that does not say so, and what happens where a stop is refused.

import { type FormEvent, useState } from 'react';
import { Section } from '../../parts/page.tsx';
import { type Defaulted, defaultsOf, defaultText, EVERY } from '../../parts/protection/defaults.ts';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { type Change, useChange } from './change.ts';
import { defaultsInWords, readDefault, withDefault } from './protection-defaults.ts';
import { FieldRow } from './row.tsx';
import type { Account } from './words.ts';

const ROWS: readonly { readonly name: Defaulted; readonly meaning: string }[] = [
  {
    name: 'stop_loss',
    meaning: 'how far from the entry the whole position is closed: 2%, 20t (ticks), 150p (points)',
  },
  { name: 'take_profit', meaning: 'how far away profit is taken: 4%, or in parts: 50 at 2%, 50 at 4%' },
  {
    name: 'trailing_stop',
    meaning:
      'the stop follows the best price at this distance: 1%; or only once the price has come so far: 1% from 2%',
  },
  {
    name: 'break_even',
    meaning:
      'when the stop goes to the entry: tp1 (the first target is filled), or 1%; beyond it with: tp1 plus 2t',
  },
  {
    name: 'time_stop',
    meaning: 'closes by the clock: seconds after the first fill, or 15:55 America/New_York',
  },
];

export function ProtectionRows({ account }: { readonly account: Account }) {
  const defaults = defaultsOf(account);
  const others = Object.entries(defaults).filter(([symbol]) => symbol !== EVERY);
  return (
    <Section
      title="Protection"
      more={
        <span className="quiet">
          for an entry from flat that does not bring its own; an empty field means none
        </span>
      }
    >
      <dl className={`rows ${styles.rows} ${styles.guards}`}>
        {ROWS.map(({ name, meaning }) => (
          <FieldRow
            key={name}
            account={account}
            name={<code>{name}</code>}
            label={`${name}, by default`}
            long
            stored={defaultText(name, defaults[EVERY]?.[name])}
            placeholder="none"
            meaning={meaning}
            read={(text) => {
              const typed = readDefault(name, text);
              return 'problem' in typed
                ? typed
                : { value: { protection_defaults: withDefault(defaults, EVERY, { [name]: typed.value }) } };
            }}
          />
        ))}
        {others.map(([symbol, of]) => (
          <OwnRow key={symbol} account={account} symbol={symbol} words={defaultsInWords(of)} />
        ))}
        <AddOwn account={account} />
        <Choice
          account={account}
          name="unprotected"
          value={account.unprotected}
          meaning="if the broker refuses a stop for 10 s: a position without the stop you asked for is a risk"
          options={[
            ['close', 'close the position'],
            ['alert', 'keep it, tell me, keep trying'],
          ]}
        />
        <Choice
          account={account}
          name="trigger_by"
          value={account.trigger_by}
          meaning="which price triggers a stop: the last trade’s is what the chart shows"
          options={[
            ['last', 'the last price'],
            ['mark', 'the mark price'],
          ]}
        />
      </dl>
    </Section>
  );
}

interface OwnRowProps {
  readonly account: Account;
  readonly symbol: string;
  readonly words: string;
}

function OwnRow({ account, symbol, words }: OwnRowProps) {
  const change = useChange(account);
  const { [symbol]: _, ...others } = defaultsOf(account);
  return (
    <Row
      name={symbol}
      meaning={words}
      fault={change.error}
      does={
        <button
          type="button"
          className="link"
          disabled={change.isPending}
          onClick={() =>
            change.mutate({ protection_defaults: Object.keys(others).length > 0 ? others : null })
          }
        >
          Remove<span className="unseen"> what {symbol} has</span>
        </button>
      }
    >
      its own
    </Row>
  );
}

/** A symbol with a stop and a target of its own, in place of those above. */
function AddOwn({ account }: { readonly account: Account }) {
  const change = useChange(account);
  const [fields, setFields] = useState({ symbol: '', stop_loss: '', take_profit: '' });
  const [problem, setProblem] = useState<string | null>(null);
  const symbol = fields.symbol.trim();
  const add = (event: FormEvent) => {
    event.preventDefault();
    const stop = readDefault('stop_loss', fields.stop_loss);
    const target = readDefault('take_profit', fields.take_profit);
    if ('problem' in stop) return setProblem(stop.problem);
    if ('problem' in target) return setProblem(target.problem);
    if (stop.value === null && target.value === null)
      return setProblem('Write its stop or its target, or none to decline the one above.');
    const changed = { stop_loss: stop.value, take_profit: target.value };
    change.mutate(
      { protection_defaults: withDefault(defaultsOf(account), symbol, changed) },
      { onSuccess: () => setFields({ symbol: '', stop_loss: '', take_profit: '' }) },
    );
  };
  const field = (name: keyof typeof fields, label: string, placeholder: string) => (
    <input
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={fields[name]}
      onChange={({ target }) => {
        setFields({ ...fields, [name]: target.value });
        setProblem(null);
      }}
    />
  );
  return (
    <Row name="for one symbol" fault={change.error} does={<Saved when={change.isSuccess} />}>
      <form className={styles.own} onSubmit={add}>
        {field('symbol', 'Symbol with its own protection', 'BTCUSDT.P')}
        {field('stop_loss', 'Its stop', 'stop 3%')}
        {field('take_profit', 'Its target', 'target 6%')}
        <button type="submit" className="button" disabled={symbol === '' || change.isPending}>
          Add
        </button>
      </form>
      {problem !== null && (
        <small className="act" role="status">
          {problem}
        </small>
      )}
    </Row>
  );
}

interface ChoiceProps {
  readonly account: Account;
  readonly name: 'unprotected' | 'trigger_by';
  readonly value: string;
  readonly meaning: string;
  readonly options: readonly (readonly [string, string])[];
}

function Choice({ account, name, value, meaning, options }: ChoiceProps) {
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
        value={String((change.isPending ? change.variables[name] : null) ?? value)}
        onChange={({ target }) => change.mutate({ [name]: target.value } as Change)}
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
