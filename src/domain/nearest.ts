// "Did you mean": the names that are nearest to one that nobody has.

/** How many letters must be put in, taken out, exchanged or swapped with their neighbour; more than `most` is not counted. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? most + 1;
}

/** Which letters are in it, as bits: some share one. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let index = 0; index < text.length; index++) letters |= 1 << (text.charCodeAt(index) & 31);
  return letters;
}

function bitsIn(number: number): number {
  let bits = 0;
  for (let left = number; left !== 0; left &= left - 1) bits++;
  return bits;
}

const FAR = 2;
const COUNT = 3;

/** At most three, the nearest first; all in the names' own spelling. */
export function nearest(wanted: string, names: Iterable<string>): readonly string[] {
  const target = wanted.toUpperCase();
  const letters = lettersOf(target);
  const found: { readonly name: string; readonly far: number }[] = [];
  for (const name of names) {
    const spelling = name.toUpperCase();
    // One change brings a letter and takes one away: of thousands of names most are too far by that alone.
    const mayBeNear = bitsIn(letters ^ lettersOf(spelling)) <= 2 * FAR;
    const far = Math.min(
      mayBeNear ? distance(target, spelling, FAR) : FAR + 1,
      target.length >= 2 && spelling.startsWith(target) ? FAR : FAR + 1,
    );
    if (far <= FAR && far < Math.max(target.length, 2)) found.push({ name, far });
  }
  return found
    .sort((a, b) => a.far - b.far || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
    .slice(0, COUNT)
    .map(({ name }) => name);
}

/** To be put behind a sentence; empty where nothing is near. */
export function didYouMean(names: readonly string[]): string {
  const last = names.at(-1);
  if (last === undefined) return '';
  return ` Did you mean ${names.length > 1 ? `${names.slice(0, -1).join(', ')} or ` : ''}${last}?`;
}
