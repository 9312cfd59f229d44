// Where a text stops being JSON, and what was expected there. The platform's parser says it only of long texts, and shows
// a part of them, which may be a secret; here nothing of the text is repeated.

interface Fault {
  /** In characters of the text. */
  readonly at: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
/** Between the quotes: no control characters, such as the end of a line. */
const STRING = /"(?:[ !#-[\]-\u{10ffff}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;

const VALUE = 'a value: a number, true, false, null, or a string in double quotes';
const KEY = 'a name in double quotes';

/** Of a text that is not JSON and is not nested deeply. */
export function jsonFault(text: string): Fault {
  let at = 0;
  const matches = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  const takes = (character: string): boolean => {
    matches(SPACE);
    if (text[at] !== character) return false;
    at++;
    return true;
  };
  const missing = (expected: string): Fault => ({ at, expected });

  function value(): Fault | null {
    matches(SPACE);
    if (takes('{')) return items('}', member);
    if (takes('[')) return items(']', value);
    if (text[at] === '"') return string();
    return matches(SCALAR) ? null : missing(VALUE);
  }
  const string = (): Fault | null =>
    matches(STRING) ? null : missing('a string that ends with a double quote on the same line');
  function member(): Fault | null {
    matches(SPACE);
    if (text[at] !== '"') return missing(KEY);
    return string() ?? (takes(':') ? value() : missing('a colon'));
  }
  function items(end: '}' | ']', item: () => Fault | null): Fault | null {
    if (takes(end)) return null;
    do {
      const fault = item();
      if (fault) return fault;
    } while (takes(','));
    return takes(end) ? null : missing(`a comma or ${end}`);
  }

  const fault = value();
  if (fault) return fault;
  matches(SPACE);
  return missing('the end of the body');
}

/** "line 2, column 14", as an editor counts. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
