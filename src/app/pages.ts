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

export function pageOf<Item extends { readonly id: string }, Shown>(
  found: readonly Item[],
  { limit }: PageRequest,
  show: (item: Item) => Shown,
): Page<Shown> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(show), next_cursor: found.length > limit && last ? last.id : null };
}
