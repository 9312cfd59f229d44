// What an attack is here: something that was done, what it got, and what it gets now.

import type { Desk } from './desk.ts';
import type { Figures } from './figures.ts';
import type { Mode } from './product.ts';

export interface Outcome {
  /** What the attacker got, in words. */
  readonly got: string;
  readonly isClosed: boolean;
  readonly figures?: readonly Figures[];
  /** Where figures say more in columns of their own. */
  readonly table?: string;
}

export interface Attack {
  /** Of the list of what an attack found. */
  readonly item: number;
  readonly title: string;
  /** What it got at first. */
  readonly before: string;
  /** Where it makes a difference. */
  readonly modes: readonly Mode[];
  run(desk: Desk): Promise<Outcome>;
}

export const EVERYWHERE: readonly Mode[] = ['default', 'production', 'servers'];
export const WITHOUT_SERVERS: readonly Mode[] = ['default', 'production'];

/** "403 session_required" */
export const told = ({
  status,
  body,
}: {
  status: number;
  body: { code?: string; status?: unknown };
}): string => `${status} ${body.code ?? (typeof body.status === 'string' ? body.status : '')}`.trim();
