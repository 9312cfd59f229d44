// Now and then a user pulls the kill switch, and lets go of it a moment later.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from './desks.ts';
import type { Owners } from './owners.ts';

export interface Flatten {
  readonly desk: Desk;
  readonly sentAt: number;
  readonly answeredAt: number;
  /** When it was over for certain: from then on entries pass again. */
  resumedAt: number;
  /** null: no answer, or none that says what became of the positions. */
  readonly answer: { readonly flatten_error: { readonly code: string } | null } | null;
}

interface FlattenOptions {
  readonly owners: Owners;
  readonly desks: readonly Desk[];
  readonly apis: readonly { readonly url: string }[];
  readonly random: () => number;
}

const LEAST_PAUSE_MS = 300;
const MOST_PAUSE_MS = 1_500;
const PULLED_AT_PROTECTED = 0.25;

export function startFlattens({ owners, desks, apis, random }: FlattenOptions) {
  const flattens: Flatten[] = [];
  const closing = new AbortController();
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const pause = async () => {
    const ms = LEAST_PAUSE_MS + random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS);
    await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
  };

  async function flatten(desk: Desk): Promise<void> {
    const sentAt = Date.now();
    const answer = await owners.ask(desk, pick(apis), {
      method: 'POST',
      path: 'halt',
      body: { flatten: true },
    });
    const told = answer?.status === 200 ? (answer.body as NonNullable<Flatten['answer']>) : null;
    const flattened: Flatten = {
      desk,
      sentAt,
      answeredAt: Date.now(),
      resumedAt: Number.POSITIVE_INFINITY,
      answer: told,
    };
    flattens.push(flattened);
    await pause();
    // Nobody stops before the account trades again.
    for (;;) {
      const resumed = await owners.ask(desk, pick(apis), { method: 'POST', path: 'resume' });
      if (resumed?.status === 200) break;
      await sleep(300);
    }
    flattened.resumedAt = Date.now();
  }

  async function lane(): Promise<void> {
    while (!closing.signal.aborted) {
      const desk = pick(desks);
      // There is to be something to protect.
      if (!desk.protects || random() < PULLED_AT_PROTECTED) await flatten(desk);
      await pause();
    }
  }

  const lanes = [lane(), lane(), lane()];
  return {
    /** No account is halted any more. */
    async stop(): Promise<readonly Flatten[]> {
      closing.abort();
      await Promise.all(lanes);
      return flattens;
    },
  };
}
