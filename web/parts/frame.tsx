// The frame of every page inside: the masthead, and on a phone the thumb's row. Halt is in reach everywhere.

import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { accounts, overview, ownSession, publicConfig } from '../api/queries.ts';
import { Live, useLiveness } from '../live/live.tsx';
import styles from './frame.module.css';
import { Keys, openSearch } from './keys.tsx';
import { Mark } from './marks.tsx';
import { OverPages, useOver } from './over.tsx';
import { Unconfirmed } from './unconfirmed.tsx';
import { clockTime } from './when.tsx';

const PAGES = [
  { to: '/', name: 'Today' },
  { to: '/signals', name: 'Signals' },
  { to: '/positions', name: 'Positions' },
  { to: '/performance', name: 'Performance' },
  { to: '/accounts', name: 'Accounts' },
  { to: '/groups', name: 'Groups' },
  { to: '/check', name: 'Check' },
  { to: '/security', name: 'Security' },
  { to: '/notifications', name: 'Notifications' },
] as const;
const OPERATION = { to: '/operation', name: 'Operation' } as const;
type Place = (typeof PAGES)[number] | typeof OPERATION;
/** How many stand in the thumb's row; the rest is under More. */
const AT_THE_THUMB = 3;
/** The same in a masthead that is too narrow for all of them: they must not push Halt out of the window. */
const IN_A_NARROW_MASTHEAD = 5;

/** Around the page of the path, or around what is given where there is none. */
export function Frame({ children = <Outlet /> }: { readonly children?: ReactNode }) {
  return (
    <Live>
      <OverPages>
        <a className={styles.skip} href="#content">
          Skip to content
        </a>
        <Masthead />
        <Banner />
        <Unconfirmed className={styles.banner} />
        <main id="content" className={styles.main} tabIndex={-1}>
          {children}
        </main>
        <ThumbRow />
        <Keys />
      </OverPages>
    </Live>
  );
}

function usePages(): readonly Place[] {
  const { data: session } = useQuery(ownSession);
  return session?.user.is_admin ? [...PAGES, OPERATION] : PAGES;
}

/** An order's story is one of Signals, though its address is its own. */
function useMarked(): (to: string) => { readonly 'aria-current'?: 'page' } {
  const isOrder = useLocation({ select: ({ pathname }) => pathname.startsWith('/orders/') });
  return (to) => (isOrder && to === '/signals' ? { 'aria-current': 'page' } : {});
}

const toDo = ({ in_order, todo, todo_more }: Schemas['Overview']) => ({
  count: in_order ? 0 : todo.length + todo_more,
  worst: todo[0]?.severity ?? 'act',
});

/** How many things are to be done, in the colour of the worst. */
function ToDo() {
  // Of all that it says only this: the frame is drawn anew when this changes, and not with every question.
  const { data } = useQuery({ ...overview, select: toDo });
  if (!data || data.count === 0) return null;
  const { count, worst } = data;
  return (
    <b className={worst}>
      {count}
      <span className="unseen"> {count === 1 ? 'thing' : 'things'} to do</span>
    </b>
  );
}

function Masthead() {
  const { openTrade } = useOver();
  const { data: session } = useQuery(ownSession);
  const pages = usePages();
  const marked = useMarked();
  return (
    <header className={styles.masthead}>
      <Link to="/" className={styles.brand}>
        Fillpath
      </Link>
      <nav className={styles.pages} aria-label="Pages">
        {pages.map(({ to, name }, place) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === '/' }}
            {...(place < IN_A_NARROW_MASTHEAD ? {} : { className: styles.last })}
            {...marked(to)}
          >
            {name}
            {to === '/' && <ToDo />}
          </Link>
        ))}
        <button type="button" className={styles.rest} popoverTarget="more-pages">
          More
        </button>
        <Menu id="more-pages" pages={pages.slice(IN_A_NARROW_MASTHEAD)} className={styles.below}>
          <SearchButton className={styles.findBelow} />
        </Menu>
      </nav>
      <Search />
      <Pulse />
      <SearchButton className={styles.find} />
      <button type="button" className="button" onClick={() => openTrade()}>
        Trade
      </button>
      <HaltButton id="halt" />
      <Link to="/security" className={styles.who} title={session?.user.email} activeProps={{}}>
        Account
      </Link>
    </header>
  );
}

/** One field: it stands in the masthead, or, where there is no room for it, lies below it while it is asked for. */
function Search() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const place = useRef<HTMLElement>(null);
  const search = (event: FormEvent) => {
    event.preventDefault();
    const wanted = text.trim();
    if (!wanted) return;
    place.current?.hidePopover();
    void navigate({ to: '/signals', search: { search: wanted } as never });
  };
  return (
    <search ref={place} popover="auto" className={styles.search}>
      <form onSubmit={search}>
        <label>
          <span className="unseen">Search</span>
          <input
            id="search"
            type="search"
            autoComplete="off"
            spellCheck={false}
            placeholder="Symbol, order, reference"
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          />
        </label>
        <kbd>/</kbd>
      </form>
    </search>
  );
}

const SearchButton = ({ className = '' }: { readonly className?: string | undefined }) => (
  <button type="button" className={`link ${className}`} onClick={openSearch}>
    Search
  </button>
);

/** A first connection has this long before its absence is worth a word. */
const FIRST_WORD_MS = 3_000;

function Pulse() {
  const { isLive, since } = useLiveness();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), FIRST_WORD_MS);
    return () => clearTimeout(timer);
  }, []);
  const at = clockTime(new Date(since));
  const words = isLive ? 'live' : isLate ? `not live since ${at}` : 'connecting';
  return (
    <span
      className={isLive ? styles.pulse : `${styles.pulse} ${styles.off}`}
      role="status"
      title={isLive ? `Live since ${at}` : 'What is shown may be out of date. Trying again.'}
    >
      <Mark name={isLive ? 'dot' : 'placed'} />
      {words}
    </span>
  );
}

function HaltButton({
  id,
  className = 'button',
}: {
  readonly id?: string;
  readonly className?: string | undefined;
}) {
  const { openHalt } = useOver();
  const { data: all = [] } = useQuery(accounts);
  const halted = all.filter((account) => account.halted).length;
  return (
    <button type="button" id={id} className={className} onClick={() => openHalt()}>
      <Mark name="stop" />
      {halted === 0 ? 'Halt' : `${halted} of ${all.length} halted`}
    </button>
  );
}

function Banner() {
  const { data } = useQuery(publicConfig);
  const demo = (data as { demo?: unknown } | undefined)?.demo;
  if (!demo) return null;
  return (
    <p className={styles.banner}>
      <span className="unreal">demo</span> Everything here is staged: paper accounts, strategies and
      attackers. No real money is involved.
    </p>
  );
}

interface MenuProps {
  readonly id: string;
  readonly pages: readonly Place[];
  readonly className: string | undefined;
  readonly children?: ReactNode;
}

/** Goes away with the choice. */
function Menu({ id, pages, className, children }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  return (
    <div ref={menu} id={id} popover="auto" className={className}>
      {pages.map(({ to, name }) => (
        <Link key={to} to={to} onClick={() => menu.current?.hidePopover()}>
          {name}
        </Link>
      ))}
      {children}
    </div>
  );
}

function ThumbRow() {
  const pages = usePages();
  const marked = useMarked();
  return (
    <nav className={styles.thumb} aria-label="Pages, within reach">
      {pages.slice(0, AT_THE_THUMB).map(({ to, name }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }} {...marked(to)}>
          {name}
          {to === '/' && <ToDo />}
        </Link>
      ))}
      <button type="button" popoverTarget="more">
        More
      </button>
      <Menu id="more" pages={pages.slice(AT_THE_THUMB)} className={styles.more} />
      <HaltButton id="thumb-halt" className={styles.thumbHalt} />
    </nav>
  );
}
