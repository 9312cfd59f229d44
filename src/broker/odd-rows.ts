// Of a list that is not as agreed: which of its rows is to blame. Where every row counts, nobody is told that the list is wrong
// without being told where.

interface Reading {
  isRow(row: unknown): boolean;
  /** Under which it has a name of its own. */
  readonly key: string;
}

/** In words, to be put behind what is wrong; nothing where it is no list at all, or one without an odd row. */
export function oddRowIn(body: unknown, { isRow, key }: Reading): string {
  if (!Array.isArray(body)) return '';
  const odd = body.find((row) => !isRow(row));
  return odd === undefined ? '' : `: its row of ${textIn(odd, key) ?? 'no name'} cannot be read`;
}

/** What stands there, where it is a text that is not empty; null: nothing of the kind. */
export function textIn(row: unknown, ...path: readonly string[]): string | null {
  const found = path.reduce<unknown>(
    (part, key) =>
      typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[key] : null,
    row,
  );
  return typeof found === 'string' && found !== '' ? found.slice(0, 64) : null;
}
