// The pages for which there is no room, under More: a menu in the masthead, a sheet above the thumb's row. On one of them its
// name stands for More. The browser closes it, by escape and by a press beside it.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ToggleEvent, useRef } from 'react';
import { ownSession } from '../api/queries.ts';
import styles from './masthead.module.css';
import type { Place } from './places.ts';

interface MoreButtonProps {
  /** The id of what it opens. */
  readonly opens: string;
  readonly className?: string | undefined;
  /** The page under More that one is at. */
  readonly here: Place | undefined;
}

export const MoreButton = ({ opens, className = '', here }: MoreButtonProps) => (
  <button type="button" className={here ? `${className} ${styles.here}` : className} popoverTarget={opens}>
    <span>{here?.name ?? 'More'}</span>
    <span className="unseen">{here ? ', more pages' : ' pages'}</span>
  </button>
);

interface MorePagesProps {
  readonly id: string;
  readonly places: readonly Place[];
  readonly className: string | undefined;
}

/** It goes away with the choice. */
export function MorePages({ id, places, className }: MorePagesProps) {
  const menu = useRef<HTMLDivElement>(null);
  const { data: session } = useQuery(ownSession);
  const close = () => menu.current?.hidePopover();
  return (
    <div ref={menu} id={id} popover="auto" className={className} onBeforeToggle={standBelow}>
      {places.map(({ to, name, key, isForAdmins }, index) => (
        <Link
          key={to}
          to={to}
          {...(isForAdmins ? { className: styles.apart } : index === 0 ? { className: styles.fifth } : {})}
          onClick={close}
        >
          {name} <kbd>g {key}</kbd>
        </Link>
      ))}
      <Link to="/security" className={`${styles.own} ${styles.apart}`} activeProps={{}} onClick={close}>
        <span>{session?.user.email}</span> <small>sessions, log out</small>
      </Link>
    </div>
  );
}

/** What lies over the page has no place in it: where its button stands is asked each time. */
function standBelow({ currentTarget: menu, newState }: ToggleEvent<HTMLElement>): void {
  if (newState !== 'open') return;
  const button = [...document.querySelectorAll(`[popovertarget="${menu.id}"]`)].find((one) =>
    one.checkVisibility(),
  );
  menu.style.setProperty('--below', `${button?.getBoundingClientRect().left ?? 0}px`);
}
