// Makes what a broker said fit to be sent to others: without keys, signatures, names and numbers of accounts and people. What is taken out
// is replaced by something of the same kind, and the same by the same: a connector reads it as it read the other.

interface Mask {
  /** A text of JSON, or any other. */
  text(text: string): string;
  /** From now on this is a secret, or somebody's name. */
  learn(value: string): void;
}

/** Shorter values are words, and would be found everywhere. */
const LEAST_CHARACTERS = 6;

/** Of whom an answer is, under whatever name. */
const PERSONAL =
  /^(?:(?:parent|inviter|user|person|account|sub|main|master|broker|member|client)_?(?:uid|id|no|number|alias|name)|uid|user|username|email|ips?|ip_?white_?list|api_?key|key|secret|token|sign|signature|listen_?key|passphrase|note|remark)$/i;
/** Of a question: what proves who asks. */
const PROOFS = /([?&](?:signature|sign|api_?key|key|listen_?key|access_?key)=)[^&]*/gi;
/** Without a stroke: a path is none. */
const LONG = /[A-Za-z0-9+_-]{40,}={0,2}/g;
const ADDRESS = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const MAIL = /[\w.+-]+@[\w-]+\.[\w.]+/g;

/** Not yet among the compiler's own. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/** Numbers as they were written: a double would lose digits of an id. */
const asWritten = (text: string): unknown =>
  JSON.parse(text, (_key, part, context?: { source?: string }) =>
    typeof part === 'number' ? rawJSON(context?.source ?? String(part)) : part,
  );

export function createMask(secrets: readonly string[]): Mask {
  const known = new Map<string, string>();
  let made = 0;

  function standIn(value: string): string {
    const before = known.get(value);
    if (before !== undefined) return before;
    const nth = ++made;
    const made_up = /^\d+$/.test(value)
      ? `9${String(nth).padStart(Math.max(1, Math.min(value.length, 15) - 1), '0')}`
      : `masked-${nth}`;
    known.set(value, made_up);
    return made_up;
  }

  const given = new Set<string>();
  /** Wherever it stands. Of what stands under somebody's name a mere word may stand elsewhere, and mean nothing. */
  const isTelling = (value: string) =>
    value.length >= LEAST_CHARACTERS && (given.has(value) || /\d/.test(value));

  function learn(value: string): void {
    given.add(value);
    standIn(value);
  }
  for (const secret of secrets) learn(secret);

  /** The longest first: one may be a part of another. */
  function plain(text: string): string {
    const all = [...known]
      .filter(([value]) => isTelling(value))
      .toSorted((a, b) => b[0].length - a[0].length);
    return all
      .reduce(
        (said, [value, made_up]) =>
          said.replaceAll(value, made_up).replaceAll(encodeURIComponent(value), made_up),
        text,
      )
      .replace(PROOFS, '$1masked')
      .replace(LONG, 'masked')
      .replace(ADDRESS, '192.0.2.1')
      .replace(MAIL, 'masked@example.com');
  }

  function personal(value: unknown): unknown {
    if (typeof value === 'string') return /\w/.test(value) ? standIn(value) : value;
    if (isRaw(value)) return rawJSON(standIn(value.rawJSON.replace(/\D/g, '') || '0'));
    if (Array.isArray(value)) return value.map(personal);
    return walk(value);
  }

  function walk(value: unknown): unknown {
    if (typeof value === 'string') return plain(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    if (isRaw(value)) return known.has(value.rawJSON) ? rawJSON(known.get(value.rawJSON) ?? '0') : value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        plain(name),
        PERSONAL.test(name) ? personal(part) : walk(part),
      ]),
    );
  }

  return {
    learn,
    text(text) {
      let parsed: unknown;
      try {
        parsed = asWritten(text);
      } catch {
        return plain(text);
      }
      return typeof parsed === 'object' && parsed !== null && !isRaw(parsed)
        ? JSON.stringify(walk(parsed))
        : plain(text);
    },
  };
}

const isRaw = (value: unknown): value is { readonly rawJSON: string } => isRawJSON(value);

/** Of longer lists so many rows are kept, and those of what is traded. */
const MOST_ROWS = 20;
const FIRST_ROWS = 3;

/** Without the rows of lists of markets that nobody asked for: an exchange has thousands. */
export function thinned(text: string, symbol: string): string {
  if (text.length < 20_000) return text;
  const wanted = onlyLetters(symbol.replace(/^.*:/, '').replace(/\.P$|\d*!$/, ''));
  const thin = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const kept =
        value.length <= MOST_ROWS
          ? value
          : value.filter((row, at) => at < FIRST_ROWS || onlyLetters(JSON.stringify(row)).includes(wanted));
      return kept.map(thin);
    }
    if (typeof value !== 'object' || value === null || isRaw(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, thin(part)]));
  };
  try {
    return JSON.stringify(thin(asWritten(text)));
  } catch {
    return text;
  }
}

const onlyLetters = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');
