// Which symbols are offered for what is typed. The broker is asked once somebody pauses; until its answer is there, the list of
// what was typed before still stands, and Enter in it must not choose what has nothing to do with the letters in the field.

interface Named {
  readonly symbol: string;
  readonly description: string;
}

/** `askedFor`: what `items` are the answer to. */
export function offered<T extends Named>(items: readonly T[], typed: string, askedFor: string): readonly T[] {
  if (typed === askedFor) return items;
  const letters = typed.toLowerCase();
  return items.filter(({ symbol, description }) =>
    [symbol, description].some((text) => text.toLowerCase().includes(letters)),
  );
}
