// Answers that come late move nothing. Each part of a page, its heading and each of its sections, keeps the room that it had when
// the page was last here in a window of this width, until all that the page asks for has come; from then on it is as large as
// what it shows. On a first visit a part has the room of its skeleton.

import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type RefObject, useLayoutEffect } from 'react';

/** In the order of the page. */
type Rooms = readonly { readonly kind: string; readonly height: number }[];

const KEPT = 'fillpath.rooms';
const MOST_KEPT = 60;
/** What one answer leads to is asked for within this time. */
const QUIET_MS = 150;
/** Stories differ from each other: that of one says nothing of the next. */
const OF_ONE = /\/[0-9a-f]{8}-/;

export function useRooms(main: RefObject<HTMLElement | null>): void {
  const queries = useQueryClient();
  const { pathname } = useLocation();
  useLayoutEffect(() => {
    const place = main.current;
    if (!place || OF_ONE.test(pathname)) return;
    return keepRooms(place, queries, pathname);
  }, [main, queries, pathname]);
}

function keepRooms(place: HTMLElement, queries: QueryClient, pathname: string): () => void {
  // A window is made wider and narrower while the page is in it: the rooms belong to the width that it has then.
  const name = () => `${pathname} ${innerWidth}`;
  const all = read();
  const cache = queries.getQueryCache();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSettled = false;

  const give = () => {
    const rooms = all[name()] ?? [];
    const nth = new Map<string, number>();
    for (const part of partsOf(place)) {
      const kind = kindOf(part);
      const before = nth.get(kind) ?? 0;
      nth.set(kind, before + 1);
      const height = rooms.filter((room) => room.kind === kind)[before]?.height;
      part.style.minHeight = height === undefined ? '' : `${height}px`;
    }
  };
  const note = () => isSettled && keep(name(), measured(place));
  const letGo = () => {
    clearTimeout(timer);
    observer.disconnect();
    unsubscribe();
    removeEventListener('resize', give);
  };
  const settle = () => {
    isSettled = true;
    letGo();
    for (const part of partsOf(place)) part.style.minHeight = '';
    note();
  };
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const isAwaited = cache.getAll().some((query) => query.isActive() && query.state.status === 'pending');
      if (!isAwaited) settle();
    }, QUIET_MS);
  };

  const observer = new MutationObserver(give);
  const unsubscribe = cache.subscribe(look);
  observer.observe(place, { childList: true, subtree: true });
  addEventListener('resize', give);
  addEventListener('pagehide', note);
  give();
  look();
  return () => {
    letGo();
    removeEventListener('pagehide', note);
  };
}

const partsOf = (place: HTMLElement): HTMLElement[] => [
  ...place.querySelectorAll<HTMLElement>('.top, .section'),
];
const kindOf = (part: HTMLElement): string => (part.classList.contains('top') ? 'top' : 'section');

const measured = (place: HTMLElement): Rooms =>
  partsOf(place).map((part) => ({ kind: kindOf(part), height: part.offsetHeight }));

function read(): Readonly<Record<string, Rooms>> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? '{}');
  } catch {
    return {};
  }
}

function keep(name: string, rooms: Rooms): void {
  const { [name]: _, ...others } = read();
  const kept = Object.fromEntries(Object.entries(others).slice(1 - MOST_KEPT));
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept, [name]: rooms }));
  } catch {
    // Storage is forbidden or full: then the skeletons' own size is all that there is.
  }
}
