// Reading what an exchange said, row by row. A row without what it must have is no row: `undefined`, and nothing is
// believed of it.

import Big from 'big.js';
import { type Decimal, decimal, parseDecimal, rounded } from '../../domain/decimal.ts';
import { NumberText } from '../../domain/signals/json.ts';

export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

/** Each of them, or nothing at all. */
export function each<T>(value: unknown, read: (row: Row) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const list: T[] = [];
  for (const row of value) {
    const item = isRow(row) ? read(row) : undefined;
    if (item === undefined) return undefined;
    list.push(item);
  }
  return list;
}

/** A row that cannot be read, of a list in which every row counts. */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
}

/** For `each`: one that cannot be read throws UnreadableRow, and is named by what stands under the key. */
export const counted =
  <T>(key: string, read: (row: Row) => T | undefined) =>
  (row: Row): T => {
    const item = read(row);
    if (item === undefined)
      throw new UnreadableRow(`its row of ${word(row, key) ?? 'no name'} cannot be read`);
    return item;
  };

/** For `each`: one that cannot be read and is certainly another's is passed over, as null. */
export const unless =
  <T>(isAnothers: (row: Row) => boolean, read: (row: Row) => T | undefined) =>
  (row: Row): T | null | undefined => {
    const item = read(row);
    return item === undefined && isAnothers(row) ? null : item;
  };

export const present = <T>(rows: readonly (T | null)[] | undefined): T[] | undefined =>
  rows?.filter((row) => row !== null);

/** For `each`: a row is one that has this. */
export const named =
  (key: string) =>
  (row: Row): Row | undefined =>
    text(row, key) === undefined ? undefined : row;

/** What a path of keys leads to. */
export const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null
        ? (found as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );

/** A text that is not empty. */
export function text(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** A text or a number, as it was written: of codes and ids, which are either. */
export function word(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return found instanceof NumberText ? found.text : text(found);
}

/** Exactly as it was written; undefined where it is no number that we carry. Amounts are texts on all five exchanges. */
export function exact(value: unknown, ...path: readonly (string | number)[]): Decimal | undefined {
  const found = text(value, ...path);
  return (found === undefined ? null : parseDecimal(found)) ?? undefined;
}

/** Whole contracts, which Gate writes as numbers. */
export function count(value: unknown, ...path: readonly (string | number)[]): Decimal | undefined {
  const found = word(value, ...path);
  return (found === undefined ? null : parseDecimal(found)) ?? undefined;
}

/** Of prices and amounts of money, which some exchanges write with more digits than a double carries. */
export function amount(value: unknown, ...path: readonly (string | number)[]): Decimal | undefined {
  const found = text(value, ...path);
  if (found === undefined || found.length > 64 || !/^-?\d*\.?\d+(?:[eE][+-]?\d{1,2})?$/.test(found))
    return undefined;
  return rounded(decimal(new Big(found)));
}

export const oneOf = <Word extends string>(
  words: Readonly<Record<string, Word>>,
  value: string | undefined,
): Word | undefined => (value !== undefined && Object.hasOwn(words, value) ? words[value] : undefined);
