// Above a story: the list that it is of, and which of it this is.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './path.module.css';

interface PathProps {
  readonly to: string;
  readonly name: string;
  readonly children?: ReactNode;
}

export const Path = ({ to, name, children }: PathProps) => (
  <nav className={styles.path} aria-label="Where this is">
    <Link to={to as never}>{name}</Link>
    {children}
  </nav>
);
