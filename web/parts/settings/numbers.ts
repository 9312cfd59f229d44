// Numbers as they are typed. A comma is refused and never guessed: to one half of the world it is the decimal point.

export type Typed<Value> = { readonly value: Value } | { readonly problem: string };

const DECIMAL = /^\d+(?:\.\d+)?$/;
/** So many a double carries exactly. */
const MOST_DIGITS = 15;

export interface Bounds {
  readonly least: number;
  readonly most: number;
  /** The least itself is too little. */
  readonly above?: boolean;
  readonly whole?: boolean;
}

export function readNumber(
  text: string,
  { least, most, above = false, whole = false }: Bounds,
): Typed<number> {
  const typed = text.trim();
  if (typed.includes(',')) return { problem: 'Write the number without a comma: 1000, or 0.5.' };
  if (!DECIMAL.test(typed)) return { problem: 'Write a number, such as 10 or 0.5.' };
  const digits = typed.replace('.', '').replace(/^0+/, '');
  if (digits.length > MOST_DIGITS)
    return { problem: `Write at most ${MOST_DIGITS} digits: more cannot be kept exactly.` };
  const value = Number(typed);
  if (whole && !Number.isInteger(value)) return { problem: 'Write a whole number.' };
  const isEnough = above ? value > least : value >= least;
  if (isEnough && value <= most) return { value };
  return { problem: `Write a number ${above ? 'above' : 'from'} ${plain(least)} up to ${plain(most)}.` };
}

/** Nothing typed is nothing set. */
export const readOptional = (text: string, bounds: Bounds): Typed<number | null> =>
  text.trim() === '' ? { value: null } : readNumber(text, bounds);

/** As it is typed: digits and a point, never an exponent, never groups. */
export const plain = (value: number): string =>
  new Intl.NumberFormat('en', { maximumFractionDigits: 20, useGrouping: false }).format(value);
