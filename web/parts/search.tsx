// The masthead's search. From 1,216 px on it is a field, below that a word; opened, it lies over the pages, never over Halt.

import { useNavigate } from '@tanstack/react-router';
import {
  type FocusEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import styles from './masthead.module.css';
import { Suggestions, useSuggestions, useTake } from './suggestions.tsx';

export interface Seeking {
  readonly isSeeking: boolean;
  seek(yes: boolean): void;
}

export function Search({ isSeeking, seek }: Seeking) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  const [marked, mark] = useState(0);
  const items = useSuggestions(text, isSeeking);
  const before = useRef<Element | null>(null);
  useEffect(() => {
    if (!isSeeking) return;
    before.current = document.activeElement;
    if (before.current !== field.current) field.current?.select();
  }, [isSeeking]);

  /** The pages are back, and the focus is where it was. */
  const leave = () => {
    flushSync(() => seek(false));
    field.current?.blur();
    if (before.current instanceof HTMLElement && before.current !== field.current) before.current.focus();
  };
  const take = useTake(leave);
  const giveUp = () => {
    setText('');
    leave();
  };
  const search = (event: FormEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (!wanted) return;
    const chosen = items[marked];
    if (chosen) return take(chosen);
    leave();
    void navigate({ to: '/signals', search: { search: wanted } as never });
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && items.length > 0) mark((at) => (at + step + items.length) % items.length);
    else if (event.key === 'Escape') giveUp();
    else return;
    // The browser would move the caret, or empty the field, which is typing.
    event.preventDefault();
  };
  /** Not with the window: who looks up a reference in another one comes back to it. */
  const gone = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (document.hasFocus() && !currentTarget.contains(relatedTarget)) seek(false);
  };
  return (
    <>
      <search className={styles.search} onBlur={gone}>
        <form onSubmit={search}>
          <label>
            <span className="unseen">Search</span>
            <input
              ref={field}
              type="search"
              autoComplete="off"
              spellCheck={false}
              placeholder="Symbol, order, reference"
              value={text}
              onClick={() => seek(true)}
              onChange={({ target }) => {
                seek(true);
                setText(target.value);
                mark(0);
              }}
              aria-autocomplete="list"
              aria-controls={list}
              aria-activedescendant={items[marked] ? `${list}-${marked}` : undefined}
              onKeyDown={press}
            />
          </label>
          <kbd>/</kbd>
          <button type="button" className={`link quiet ${styles.close}`} onClick={giveUp}>
            Close <kbd>esc</kbd>
          </button>
          <Suggestions id={list} items={items} marked={marked} onTake={take} />
        </form>
      </search>
      <button type="button" className={`link ${styles.find}`} onClick={() => seek(true)}>
        Search
      </button>
    </>
  );
}
