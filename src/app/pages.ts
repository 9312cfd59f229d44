// Lists are ordered by id; the last one of a page is the cursor of the next.

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
): Page<Shown> {
  const items: Shown[] = [];
  let characters = 0;
  for (const item of found.slice(0, limit)) {
    const shown = show(item);
    characters += JSON.stringify(shown).length;
    if (characters > MOST_CHARACTERS && items.length > 0) break;
    items.push(shown);
  }
  const last = found[items.length - 1];
  return { items, next_cursor: found.length > items.length && last ? last.id : null };
}
