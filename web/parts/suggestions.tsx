// The list below the search: what is offered while somebody types.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, read, type Schemas } from '../api/client.ts';
import { accounts as allAccounts } from '../api/queries.ts';
import { type Suggestion, suggestedFor } from './suggested.ts';
import styles from './suggestions.module.css';
import { useSettled } from './use-settled.ts';
import { When } from './when.tsx';

const ORDERS = 20;
/** No symbol, id or reference has a space in it. */
const SEARCHABLE = /^[^\s\p{C}]{1,128}$/u;

export function useSuggestions(text: string, isSeeking: boolean): readonly Suggestion[] {
  const queries = useQueryClient();
  const typed = text.trim();
  const wanted = useSettled(typed);
  const { data: accounts = [] } = useQuery({ ...allAccounts, enabled: isSeeking });
  const { data: orders = [] } = useQuery({
    queryKey: ['orders', 'suggested', wanted],
    queryFn: async ({ signal }) =>
      (
        await read(
          api.GET('/trading/orders', { params: { query: { search: wanted, limit: ORDERS } }, signal }),
        )
      ).items,
    enabled: isSeeking && SEARCHABLE.test(wanted),
    staleTime: 10_000,
    retry: false,
  });
  if (!isSeeking || typed === '') return [];
  // Brokers are not asked for a suggestion: what was read of them is enough.
  const held = new Map(
    queries
      .getQueriesData<Schemas['Positions']>({ queryKey: ['positions'] })
      .flatMap(([[, id, book], data]) =>
        book === 'real' && data ? [[String(id), data.items] as const] : [],
      ),
  );
  return suggestedFor(typed, { accounts, held, orders: typed === wanted ? orders : [] });
}

export function useTake(leave: () => void): (suggestion: Suggestion) => void {
  const navigate = useNavigate();
  return ({ to, search = {} }) => {
    leave();
    void navigate({ to, search: search as never });
  };
}

interface SuggestionsProps {
  readonly id: string;
  readonly items: readonly Suggestion[];
  readonly marked: number;
  readonly onTake: (suggestion: Suggestion) => void;
}

export function Suggestions({ id, items, marked, onTake }: SuggestionsProps) {
  return (
    <div id={id} role="listbox" aria-label="Found" className={styles.found} hidden={items.length === 0}>
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's, which keeps the focus
        <div
          key={`${item.to} ${item.kind} ${item.name} ${item.says}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === marked}
          tabIndex={-1}
          // Before the field loses the focus, and with it the list.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(item)}
        >
          <b>{item.name}</b>
          <span className="quiet">{item.says}</span>
          <small>{item.at ? <When at={item.at} /> : item.kind}</small>
        </div>
      ))}
    </div>
  );
}
