// The keyboard: what is pressed anywhere but in a field. `g` waits for a second key.

import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { useOver } from './over.tsx';
import { usePlaces } from './use-places.ts';

/** How long `g` waits. */
const SECOND_KEY_MS = 1_500;

const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** It stands in the masthead or at the thumb, by the width of the window. */
const haltButton = (): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>('#halt, #thumb-halt')].find((button) =>
    button.checkVisibility(),
  );

/** A page's own keys, while it is there: pressed alone, in no field, with nothing lying over the page. */
export function useKeys(does: Readonly<Record<string, () => void>>): void {
  const latest = useRef(does);
  latest.current = does;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      latest.current[event.key]?.();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

export function Keys({ openSearch }: { readonly openSearch: () => void }) {
  const navigate = useNavigate();
  const { openTrade } = useOver();
  const [isShown, setShown] = useState(false);
  const places = usePlaces();

  useEffect(() => {
    let goesUntil = 0;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      // By when it was pressed: a page that is busy hears of it later.
      const { key, timeStamp } = event;
      const goes = timeStamp < goesUntil;
      goesUntil = 0;
      const place = goes && places.find((one) => one.key === key);
      if (goes && key === 'h') haltButton()?.focus();
      else if (place) void navigate({ to: place.to });
      else if (key === 'g') goesUntil = timeStamp + SECOND_KEY_MS;
      else if (key === '/') openSearch();
      else if (key === 't') openTrade();
      else if (key === '?') setShown(true);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, openSearch, openTrade, places]);

  if (!isShown) return null;
  const keys: [string, string][] = [
    ['/', 'search by symbol, order id, broker reference or client id'],
    ...places.map(({ key, name }): [string, string] => [`g ${key}`, `go to ${name}`]),
    ['g h', 'go to Halt, which asks before it acts'],
    ['j k', 'older and newer, in lists and stories'],
    ['enter', 'open'],
    ['t', 'trade'],
    ['esc', 'close'],
    ['?', 'all keys'],
  ];
  return (
    <Dialog title="Keys" onClose={() => setShown(false)}>
      <table className="table dense listed">
        <tbody>
          {keys.map(([key, does]) => (
            <tr key={key}>
              <td>
                <kbd>{key}</kbd>
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
