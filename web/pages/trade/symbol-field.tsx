// The symbol, typed or chosen: a combobox after the pattern of the ARIA authoring practices. What is typed counts, also where
// the broker's list does not answer; the plan says whether there is such a thing.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import { positions, symbols } from '../../api/broker-reads.ts';
import { api, read, type Schemas } from '../../api/client.ts';
import drawer from '../../parts/drawer.module.css';
import { spelled } from '../../parts/symbol.ts';
import { useSettled } from '../../parts/use-settled.ts';
import { offered } from './offered.ts';
import styles from './trade-drawer.module.css';

type Instrument = Schemas['Instrument'];

/** The instrument of exactly this name; null: not known (yet). */
export function useInstrument(
  accountId: string,
  symbol: string,
  broker: string | undefined,
): Instrument | null {
  const wanted = useSettled(symbol.trim());
  const { data } = useQuery({ ...symbols(accountId, wanted), enabled: accountId !== '' && wanted !== '' });
  return data?.items.find((item) => item.symbol === spelled(wanted, broker)) ?? null;
}

/** What the account holds, and then what its last orders were for. */
function useKnown(accountId: string, broker: string | undefined, isOpen: boolean): readonly string[] {
  const enabled = isOpen && accountId !== '';
  const held = useQuery({ ...positions(accountId), enabled });
  const traded = useQuery({ ...lastTraded(accountId), enabled });
  const all = [...(held.data?.items.filter(({ tradable }) => tradable) ?? []), ...(traded.data ?? [])];
  return [...new Set(all.map(({ symbol }) => spelled(symbol, broker)))];
}

const lastTraded = (id: string) =>
  queryOptions({
    queryKey: ['orders', 'traded', id],
    queryFn: async () =>
      (
        await read(api.GET('/trading/orders', { params: { query: { trading_account_id: id, limit: 50 } } }))
      ).items.filter(({ symbol }) => symbol !== '*'),
    staleTime: 60_000,
  });

interface SymbolFieldProps {
  readonly id: string;
  readonly accountId: string;
  readonly broker: string | undefined;
  readonly value: string;
  readonly describedBy: string;
  readonly onChange: (symbol: string) => void;
}

export function SymbolField({ id, accountId, broker, value, describedBy, onChange }: SymbolFieldProps) {
  const list = useId();
  const [isOpen, setOpen] = useState(false);
  const [marked, setMarked] = useState(-1);
  const wanted = useSettled(value.trim());
  const { data, error } = useQuery({ ...symbols(accountId, wanted), enabled: isOpen && accountId !== '' });
  const known = useKnown(accountId, broker, isOpen);
  const items = isOpen ? offered(data?.items ?? [], value.trim(), wanted, known) : [];
  const current = items[marked];

  const open = () => {
    setOpen(true);
    setMarked(-1);
  };
  const choose = (item: Pick<Instrument, 'symbol'>) => {
    onChange(item.symbol);
    setOpen(false);
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      if (!isOpen) open();
      else if (items.length > 0)
        // Past either end is the field itself, without a mark.
        setMarked((at) => ((at + 1 + step + items.length + 1) % (items.length + 1)) - 1);
    } else if (event.key === 'Enter' && current) choose(current);
    else if (event.key === 'Escape' && isOpen) {
      // It closes the list, and not yet the drawer.
      event.stopPropagation();
      setOpen(false);
    } else return;
    event.preventDefault();
  };

  return (
    <div className={styles.combobox}>
      <input
        id={id}
        role="combobox"
        aria-expanded={items.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={current ? `${list}-${marked}` : undefined}
        aria-describedby={describedBy}
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        placeholder="BTCUSDT.P, ES1!, AAPL"
        data-first={value === '' ? true : undefined}
        value={value}
        onChange={({ target }) => {
          onChange(target.value);
          open();
        }}
        onClick={open}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <div id={list} role="listbox" aria-label="Symbols" hidden={items.length === 0}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, which keeps the focus
          <div
            key={item.symbol}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === marked}
            tabIndex={-1}
            // Before the field loses the focus, and with it the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(item)}
          >
            {item.symbol} <small>{item.description}</small>
          </div>
        ))}
      </div>
      {isOpen && error !== null && items.length === 0 && (
        <p className={drawer.remark}>
          The broker’s list of symbols cannot be read; what you type is used as it is.
        </p>
      )}
    </div>
  );
}
