// Which instruments are meant by what somebody types, the likeliest first: symbol before name, beginning before middle, the
// shorter first. Of a pair only the base is looked at by itself: "ETH" is not Tether, and "USDT" is not every pair.

interface Named {
  readonly symbol: string;
  readonly description: string;
}

export interface InstrumentSearch {
  readonly query: string;
  /** The last symbol of the page before; null: from the first. */
  readonly after: string | null;
  readonly limit: number;
}

interface Found<T> {
  readonly item: T;
  readonly rank: number;
}

/** `listed` is in the order of its symbols, and stays in it where nothing is typed. */
export function searchInstruments<T extends Named>(
  listed: readonly T[],
  { query, after, limit }: InstrumentSearch,
): readonly T[] {
  const wanted = spelt(query.trim());
  if (wanted === '') return listed.filter(({ symbol }) => after === null || symbol > after).slice(0, limit);
  const found = listed.flatMap((item): Found<T>[] => {
    const rank = rankOf(item, wanted);
    return rank === null ? [] : [{ item, rank }];
  });
  const last = after === null ? null : placeOf(listed, after, wanted);
  return found
    .filter((each) => last === null || inOrder(each, last) > 0)
    .sort(inOrder)
    .slice(0, limit)
    .map(({ item }) => item);
}

/** As alerts spell it, the exchange in front and the mark of a perpetual say nothing that the rest does not say. */
const spelt = (text: string): string =>
  text
    .toUpperCase()
    .replace(/^[^:]*:/, '')
    .replace(/\.P$/, '');

const SYMBOL_BEGINS = 0;
const IN_SYMBOL = 1;
const NAME_BEGINS = 2;
const IN_NAME = 3;

/** Smaller is likelier; null: it is not meant. */
function rankOf({ symbol, description }: Named, wanted: string): number | null {
  const spelling = spelt(symbol);
  const base = baseOf(spelling, description);
  const inSymbol = spelling.indexOf(wanted);
  if (inSymbol === 0) return SYMBOL_BEGINS;
  if (inSymbol > 0 && inSymbol < base.symbol.length) return IN_SYMBOL;
  const inName = base.name.toUpperCase().indexOf(wanted);
  if (inName < 0) return null;
  return inName === 0 ? NAME_BEGINS : IN_NAME;
}

const PAIR = ' / ';
/** What pairs are quoted in. */
const QUOTE = /(?<=.)(?:USDT|USDC|USD)$/;

function baseOf(spelling: string, description: string): { readonly symbol: string; readonly name: string } {
  const stroke = description.indexOf(PAIR);
  const quote = stroke < 0 ? -1 : spelling.search(QUOTE);
  // A share's symbol may end in such letters, and its name may have a stroke in it: a pair has both.
  return quote < 0
    ? { symbol: spelling, name: description }
    : { symbol: spelling.slice(0, quote), name: description.slice(0, stroke) };
}

function inOrder(a: Found<Named>, b: Found<Named>): number {
  const [one, other] = [a.item.symbol, b.item.symbol];
  return a.rank - b.rank || one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);
}

/** Also of one that is not listed any more: the page after it begins where it stood. */
function placeOf(listed: readonly Named[], symbol: string, wanted: string): Found<Named> {
  const item = listed.find((each) => each.symbol === symbol) ?? { symbol, description: '' };
  return { item, rank: rankOf(item, wanted) ?? IN_NAME };
}
