// The frame of the pages outside: nothing of anybody's session is loaded or asked for.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './outside.module.css';

export function Outside({ links, children }: { readonly links: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <header className={styles.masthead}>
        <Link to="/welcome" className={styles.brand}>
          Fillpath
        </Link>
        <nav className={styles.links} aria-label="Outside">
          {links}
        </nav>
      </header>
      <main className={styles.main}>{children}</main>
    </>
  );
}
