// A message in its parts: a line for each top-level field of a JSON text, also where placeholders stand in it without quotes;
// else the lines, pairs or pieces of a text that is no JSON.

export interface MessageLine {
  /** The field that it is about, in the sender's spelling; null: none. */
  readonly name: string | null;
  /** The line in pieces, in their order: what opens it, the field's name, what parts it from the value, the value, what ends it. */
  readonly before: string;
  readonly key: string;
  readonly between: string;
  readonly value: string;
  readonly after: string;
}

/** More than any alert has; what comes after them is one line. */
const MOST_LINES = 60;

export function linesOf(message: string): readonly MessageLine[] {
  const fields = fieldsOf(message);
  if (fields === null) return plainLines(message);
  if (fields.length === 0) return [plainLine('{ }')];
  return fields.map(({ name, value }, place) => ({
    name,
    before: place === 0 ? '{ ' : '  ',
    key: JSON.stringify(name),
    between: ': ',
    value: inOneLine(value),
    after: place === fields.length - 1 ? ' }' : ',',
  }));
}

export interface Field {
  readonly name: string;
  /** As it was written. */
  readonly value: string;
}

/** The top-level fields of a JSON object as they were written; null: it is no such text. */
export function fieldsOf(message: string): readonly Field[] | null {
  const text = message.trim();
  if (!text.startsWith('{') || text.startsWith('{{')) return null;
  const fields: Field[] = [];
  let at = skipBlanks(text, 1);
  if (text[at] === '}') return at === text.length - 1 ? [] : null;
  while (at < text.length) {
    const nameEnd = text[at] === '"' ? endOfText(text, at) : -1;
    const name = nameEnd < 0 ? null : textIn(text.slice(at, nameEnd));
    const colon = skipBlanks(text, nameEnd);
    if (name === null || text[colon] !== ':') return null;
    const begin = skipBlanks(text, colon + 1);
    const end = endOfValue(text, begin);
    const value = text.slice(begin, end).trim();
    if (end < 0 || value === '') return null;
    fields.push({ name, value });
    if (text[end] === '}') return skipBlanks(text, end + 1) === text.length ? fields : null;
    at = skipBlanks(text, end + 1);
  }
  return null;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? '')) at++;
  return at;
}

/** Behind the closing quote; -1: there is none. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

/** At the comma or brace that ends the value; -1: there is none. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfText(text, at);
      if (end < 0) return -1;
      at = end - 1;
    } else if (character === '{' || character === '[') depth++;
    else if (depth > 0 && (character === '}' || character === ']')) depth--;
    else if (depth === 0 && (character === ',' || character === '}')) return at;
  }
  return -1;
}

function textIn(quoted: string): string | null {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return null;
  }
}

const inOneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');

/** What a text says that is no JSON: its pairs (`name=value;`), else the pieces between commas, else its lines. */
function plainLines(message: string): readonly MessageLine[] {
  const text = message.trim();
  if (text === '') return [];
  const parts = text.includes(';')
    ? text.split(/(?<=;)/)
    : text.includes('\n')
      ? text.split('\n')
      : text.split(/(?<=,)/);
  const lines = parts.map((part) => part.trim()).filter((part) => part !== '');
  const rest = lines.slice(MOST_LINES - 1);
  const shown = rest.length > 1 ? [...lines.slice(0, MOST_LINES - 1), rest.join(' ')] : lines;
  return shown.map(plainLine);
}

function plainLine(text: string): MessageLine {
  const [, name, between, value, after] = /^(\w{1,64})(\s*=\s*)(.*?)([;,]?)$/s.exec(text) ?? [];
  if (name === undefined) return { name: null, before: '', key: '', between: '', value: text, after: '' };
  return { name, before: '', key: name, between: between ?? '', value: value ?? '', after: after ?? '' };
}

/** What opens doors: it is shown as points. */
const SECRETS = /^(?:secret|key|api_?key|passphrase|password|token|email_token|license)$/i;
export const isSecretField = (name: string | null): boolean => name !== null && SECRETS.test(name);

/** A value without its quotes, as one compares it. */
export function bare(value: string): string {
  return value.startsWith('"') ? (textIn(value) ?? value) : value;
}
