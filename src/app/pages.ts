// Lists are ordered by id; the last one of a page is the cursor of the next.

import { giveWay } from '../data/engine/give-way.ts';
import { type InTurn, inSteps } from '../data/engine/steps.ts';

export type { InTurn };

export interface PageRequest {
  readonly cursor: string | null;
  readonly limit: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** One more than asked for tells whether there is a next page. */
export const onePage = ({ cursor, limit }: PageRequest) => ({ after: cursor, limit: limit + 1 });

/** As JSON. Some items are large, and whoever writes a page's bytes does nothing else meanwhile. */
export const MOST_CHARACTERS = 256 * 1024;

/** As many as are asked for, or fewer where they are large; one at least. */
export function pageOf<Item extends { readonly id: string }, Shown>(
  found: readonly Item[],
  { limit }: PageRequest,
  show: (item: Item) => Shown,
  mostCharacters = MOST_CHARACTERS,
): Page<Shown> {
  const items: Shown[] = [];
  let characters = 0;
  for (const item of found.slice(0, limit)) {
    const shown = show(item);
    characters += JSON.stringify(shown).length;
    if (characters > mostCharacters && items.length > 0) break;
    items.push(shown);
    giveWay();
  }
  const last = found[items.length - 1];
  return { items, next_cursor: found.length > items.length && last ? last.id : null };
}

const LARGEST_PAGE = 200;

/** Every page of a list, from its beginning, each read in a turn of its own. */
export async function* pagesOf<Read extends { readonly next_cursor: string | null }>(
  read: (page: PageRequest) => Promise<Read>,
  inTurn?: InTurn,
  limit = LARGEST_PAGE,
): AsyncGenerator<Read> {
  const next = (last: Read | null) => read({ cursor: last?.next_cursor ?? null, limit });
  for await (const page of inSteps(next, inTurn)) {
    yield page;
    if (page.next_cursor === null) return;
  }
}
