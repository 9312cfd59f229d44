// The symbols that an account takes, chosen from what its broker has.

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useDeferredValue, useId, useState } from 'react';
import { symbols } from '../../api/broker-reads.ts';
import { brokers } from '../../api/queries.ts';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useChange } from './change.ts';
import { type Account, MOST_SYMBOLS, readSymbols, symbolsInWords } from './words.ts';

export function AllowedSymbols({ account }: { readonly account: Account }) {
  const [isOpen, setOpen] = useState(false);
  const change = useChange(account);
  return (
    <Row
      name="Symbols allowed"
      fault={change.error}
      does={
        <>
          <Saved when={change.isSuccess} />
          <button type="button" className="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Done' : 'Change'}
            <span className="unseen"> the symbols allowed</span>
          </button>
        </>
      }
    >
      {isOpen ? (
        <Choose account={account} save={(allowed) => change.mutate({ allowed_symbols: [...allowed] })} />
      ) : (
        symbolsInWords(account.allowed_symbols)
      )}
    </Row>
  );
}

interface ChooseProps {
  readonly account: Account;
  readonly save: (allowed: readonly string[]) => void;
}

function Choose({ account, save }: ChooseProps) {
  const [text, setText] = useState('');
  const field = useId();
  const { data: described } = useQuery(brokers);
  const help = described?.items.find(({ name }) => name === account.broker)?.symbols_help;
  const allowed = account.allowed_symbols;
  const add = (more: readonly string[]) => save([...new Set([...allowed, ...more])].slice(0, MOST_SYMBOLS));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const typed = readSymbols(text);
    if (typed.length === 0) return;
    add(typed);
    setText('');
  };
  return (
    <div className={styles.choosing}>
      {allowed.length > 0 && (
        <ul className={styles.chosen} aria-label="Symbols allowed">
          {allowed.map((symbol) => (
            <li key={symbol}>
              {symbol}{' '}
              <button
                type="button"
                className="link"
                aria-label={`Take ${symbol} off the list`}
                onClick={() => save(allowed.filter((each) => each !== symbol))}
              >
                remove
              </button>
            </li>
          ))}
        </ul>
      )}
      <form onSubmit={submit}>
        <label htmlFor={field} className="unseen">
          Add symbols
        </label>
        <input
          id={field}
          value={text}
          autoComplete="off"
          spellCheck={false}
          placeholder="Search, or paste several"
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="button" disabled={text.trim() === ''}>
          Add
        </button>
      </form>
      <Found account={account} text={text.trim()} add={(symbol) => add([symbol])} />
      <small>
        {allowed.length === 0 ? 'Without a list, every symbol that the broker has is accepted. ' : ''}
        {help}
      </small>
    </div>
  );
}

const MOST_FOUND = 8;

function Found({
  account,
  text,
  add,
}: {
  readonly account: Account;
  readonly text: string;
  readonly add: (symbol: string) => void;
}) {
  const q = useDeferredValue(text);
  const search = useQuery({
    ...symbols(account.id, q),
    enabled: q !== '' && !/[\s,;]/.test(q) && account.broker_credentials_verified,
  });
  if (q === '') return null;
  if (search.error) return <ProblemNote fault={search.error} />;
  const items =
    search.data?.items
      .filter(({ symbol }) => !account.allowed_symbols.includes(symbol))
      .slice(0, MOST_FOUND) ?? [];
  return (
    <ul className={styles.found} aria-label="Symbols of the broker">
      {items.map(({ symbol, description }) => (
        <li key={symbol}>
          <button type="button" className="link" onClick={() => add(symbol)}>
            <span className="unseen">Add </span>
            {symbol}
          </button>{' '}
          <small>{description}</small>
        </li>
      ))}
    </ul>
  );
}
