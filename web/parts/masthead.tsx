// The masthead: one line, at every width. The pages as far as there is room, the search, one word on how things stand, Trade
// and Halt, which never move, shrink or hide. What has no room is under More; below 760 px the pages and Halt are at the thumb.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Schemas } from '../api/client.ts';
import { accounts, overview, ownSession } from '../api/queries.ts';
import { useLiveness } from '../live/live.tsx';
import { Mark } from './marks.tsx';
import styles from './masthead.module.css';
import { MoreButton, MorePages } from './more-pages.tsx';
import { useOver } from './over.tsx';
import type { Place } from './places.ts';
import { Search, type Seeking } from './search.tsx';
import { usePlaces, useWhere } from './use-places.ts';
import { clockTime } from './when.tsx';

/** As words at every width above a phone's; the next one from 1,024 px on, all from 1,700 px on. The rest is under More. */
const ALWAYS = 4;
/** In the thumb's row. */
const AT_THE_THUMB = 3;

export function Masthead(seeking: Seeking) {
  const { openTrade } = useOver();
  const { data: session } = useQuery(ownSession);
  const places = usePlaces();
  const where = useWhere(places);
  return (
    <header className={seeking.isSeeking ? `${styles.masthead} ${styles.seeking}` : styles.masthead}>
      <Link to="/" className={styles.brand}>
        Fillpath
      </Link>
      <nav className={styles.pages} aria-label="Pages">
        {places.map((place, index) => (
          <PlaceLink key={place.to} place={place} isHere={index === where} className={roomFor(index)} />
        ))}
        {where === ALWAYS && (
          <MoreButton opens="more-pages" className={styles.isFifth} here={places[where]} />
        )}
        <MoreButton
          opens="more-pages"
          className={where === ALWAYS ? styles.notFifth : undefined}
          here={where > ALWAYS ? places[where] : undefined}
        />
        <MorePages id="more-pages" places={places.slice(ALWAYS)} className={styles.menu} />
      </nav>
      <Search {...seeking} />
      <Slot />
      <button type="button" className={`button ${styles.trade}`} onClick={() => openTrade()}>
        Trade
      </button>
      <HaltButton id="halt" className={`button ${styles.halt}`} />
      <Link to="/security" className={styles.who} title={session?.user.email} activeProps={{}}>
        Account
      </Link>
    </header>
  );
}

const roomFor = (index: number): string | undefined =>
  index < ALWAYS ? undefined : index === ALWAYS ? styles.fifth : styles.wide;

interface PlaceLinkProps {
  readonly place: Place;
  readonly isHere: boolean;
  readonly className?: string | undefined;
}

const PlaceLink = ({ place: { to, name }, isHere, className }: PlaceLinkProps) => (
  <Link
    to={to}
    activeOptions={{ exact: to === '/' }}
    {...(className && { className })}
    {...(isHere && { 'aria-current': 'page' })}
  >
    <span data-name={name}>{name}</span>
    {to === '/' && <ToDo />}
  </Link>
);

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

/** A first connection has this long before its absence is worth a word. */
const FIRST_WORD_MS = 3_000;

/** The one word on how things stand, the worst of them: not live, halted, live. */
function Slot() {
  const { openHalt } = useOver();
  const { isLive, since } = useLiveness();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), FIRST_WORD_MS);
    return () => clearTimeout(timer);
  }, []);
  const { data: all = [] } = useQuery(accounts);
  const halted = all.filter((account) => account.halted).length;
  const at = clockTime(new Date(since));
  return (
    <span className={styles.slot} role="status">
      {!isLive && isLate ? (
        <span className={styles.off} title="What is shown may be out of date. Trying again.">
          <Mark name="placed" />
          not live<span className={styles.since}> since {at}</span>
        </span>
      ) : halted > 0 ? (
        <button type="button" onClick={() => openHalt()}>
          {halted} of {all.length} halted
        </button>
      ) : (
        // Until it is known it has its room, so that nothing moves then.
        <span className={isLive ? styles.live : styles.notYet} title={`Live since ${at}`}>
          <Mark name="dot" />
          live
        </span>
      )}
    </span>
  );
}

function HaltButton({ id, className }: { readonly id: string; readonly className: string | undefined }) {
  const { openHalt } = useOver();
  return (
    <button type="button" id={id} className={className} onClick={() => openHalt()}>
      <Mark name="stop" />
      Halt
    </button>
  );
}

/** On a phone: the pages that are looked at most, and Halt, where the thumb is. */
export function ThumbRow() {
  const places = usePlaces();
  const where = useWhere(places);
  const here = where >= AT_THE_THUMB ? places[where] : undefined;
  return (
    <nav className={styles.thumb} aria-label="Pages, within reach">
      {places.slice(0, AT_THE_THUMB).map((place, index) => (
        <PlaceLink key={place.to} place={place} isHere={index === where} />
      ))}
      <MoreButton opens="more" here={here} />
      <MorePages id="more" places={places.slice(AT_THE_THUMB)} className={styles.sheet} />
      <HaltButton id="thumb-halt" className={styles.thumbHalt} />
    </nav>
  );
}
