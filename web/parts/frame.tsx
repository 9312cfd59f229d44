// The frame of every page inside: the masthead, what holds for all of them below it, and on a phone the thumb's row. Halt is
// in reach everywhere.

import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { publicConfig } from '../api/queries.ts';
import { Live } from '../live/live.tsx';
import styles from './frame.module.css';
import { Keys } from './keys.tsx';
import { Ahead } from './later.tsx';
import { Masthead, ThumbRow } from './masthead.tsx';
import { OverPages } from './over-pages.tsx';
import { useRooms } from './rooms.ts';
import { Unconfirmed } from './unconfirmed.tsx';

/** Around the page of the path, or around what is given where there is none. */
export function Frame({ children = <Outlet /> }: { readonly children?: ReactNode }) {
  const [isSeeking, seek] = useState(false);
  const openSearch = useCallback(() => seek(true), []);
  const main = useRef<HTMLElement>(null);
  useRooms(main);
  return (
    <Live>
      <OverPages>
        <a className={styles.skip} href="#content">
          Skip to content
        </a>
        <Masthead isSeeking={isSeeking} seek={seek} />
        <Demo />
        <Unconfirmed className={styles.banner} />
        <main id="content" ref={main} className={styles.main} tabIndex={-1}>
          {children}
        </main>
        <ThumbRow />
        <Keys openSearch={openSearch} />
        <Ahead />
      </OverPages>
    </Live>
  );
}

function Demo() {
  const { data: isDemo = false } = useQuery({ ...publicConfig, select: ({ demo }) => demo !== null });
  if (!isDemo) return null;
  return (
    <div className={`${styles.banner} ${styles.demo}`}>
      <span className="unreal">demo</span>
      <span>No real money: paper accounts, made-up strategies and attackers.</span>
      <Link to="/register">Make your own account</Link>
    </div>
  );
}
