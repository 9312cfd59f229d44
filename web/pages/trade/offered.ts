// Which symbols are offered for what is typed: what the account holds or has traded before the rest, and else as the broker's list
// ranks them. It is asked once somebody pauses; until its answer is there, the list of what was typed before still stands, and
// Enter in it must not choose what has nothing to do with the letters in the field.

interface Named {
  readonly symbol: string;
  readonly description: string;
}

const MOST = 8;

/** `askedFor`: what `items` are the answer to. `known`: what is held, then what was traded. */
export function offered(
  items: readonly Named[],
  typed: string,
  askedFor: string,
  known: readonly string[] = [],
): readonly Named[] {
  const letters = typed.toUpperCase();
  const found = typed === askedFor ? items : items.filter((item) => isMeant(item, letters));
  // The answer is a page: what is known may stand on a later one.
  const unlisted = known
    .filter((symbol) => symbol.startsWith(letters) && found.every((item) => item.symbol !== symbol))
    .map((symbol) => ({ symbol, description: '' }));
  const isKnown = ({ symbol }: Named) => known.includes(symbol);
  return [...found.filter(isKnown), ...unlisted, ...found.filter((item) => !isKnown(item))].slice(0, MOST);
}

/** What a pair is quoted in does not count, as in the broker's own list. */
function isMeant({ symbol, description }: Named, letters: string): boolean {
  const [name = '', quote] = description.split(' / ');
  const base = quote === undefined ? symbol : symbol.replace(/(?<=.)(?:USDT|USDC|USD)(?:\.P)?$/, '');
  return symbol.startsWith(letters) || [base, name].some((text) => text.toUpperCase().includes(letters));
}
