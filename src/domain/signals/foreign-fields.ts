// The fields of a message that was written for another service: what is taken is dealt with, what is left over is named.

import { parseDecimal, sign, toNumber } from '../decimal.ts';
import { type QuantityType, quantityTypeOf } from '../orders/sizing.ts';
import { type JsonObject, type JsonValue, NumberText, readJson } from './json.ts';
import { insteadOf } from './refused-fields.ts';

/** Our own webhook fields, without the secret. */
export type OwnFields = Readonly<Record<string, unknown>>;

/** Our fields, or why they cannot be had without a guess. */
export type Turning = { readonly fields: OwnFields } | { readonly unclear: string };

export interface ForeignService {
  readonly name: string;
  /** The message's fields where it was written for this service. */
  readonly read: (text: string) => ForeignFields | null;
  /** Adds to `lost` what it has to leave out and knows a word for. */
  readonly turn: (said: ForeignFields, lost: string[]) => Turning;
  /** What the message asks for about protection, beside `order`; null: that could not be turned. */
  readonly protect?: (said: ForeignFields, lost: string[], order: OwnFields | null) => OwnFields;
}

export const unclear = (name: string, what: string): Turning => ({ unclear: without(name, what) });
export const NO_SIZE =
  'how much to trade is not in the message. Send "quantity" in units of the symbol, or with "quantity_type" what else it counts.';
export const NO_SIDE = 'it does not say for certain which side to take. Send "action": buy, sell or close.';
export const MARKET = 'it would be at the market here.';
/** Of an order that a price sets off: what is made of it would trade at once. */
export const WAITS =
  'what this order waits for is not in our words, and at the market it would trade at once. ' +
  'An entry that waits has "limit_price", "stop_price" or both; where it protects a position, send "action": "protect" with "stop_loss".';

export const ACTION = '{{strategy.order.action}}';
export const CONTRACTS = '{{strategy.order.contracts}}';
export const ORDER_ID = '{{strategy.order.id}}';
export const SIDE = '{{strategy.market_position}}';
const SIZE = '{{strategy.market_position_size}}';
/** The same with a sign. */
export const SIGNED_SIZE = '{{strategy.position_size}}';
export const NOW = '{{timenow}}';

export const isPlaceholder = (text: string): boolean => /^\{\{[^{}]*\}\}$/.test(text);

/** As one compares it; a placeholder stays as it stands. */
export const plain = (text: string | null): string =>
  text === null ? '' : isPlaceholder(text) ? text : text.toLowerCase();

/** Where the strategy itself says side and amount, it also says its size: with it the position is moved to the strategy's. */
export const ofStrategy = (side: string | null, quantity: unknown): OwnFields =>
  side === SIDE && quantity === CONTRACTS
    ? {
        market_position_size: SIZE,
        prev_market_position: '{{strategy.prev_market_position}}',
        prev_market_position_size: '{{strategy.prev_market_position_size}}',
        id: ORDER_ID,
      }
    : {};

export class ForeignFields {
  readonly #fields: Map<string, JsonValue>;
  readonly #odd: string[] = [];
  constructor(fields: Iterable<readonly [string, JsonValue]>) {
    this.#fields = new Map(fields);
  }
  has(name: string): boolean {
    return (this.#fields.get(name) ?? '') !== '';
  }
  /** What is written there, and stays to be taken. */
  says(name: string, word: string): boolean {
    const value = this.#fields.get(name);
    return typeof value === 'string' && plain(value.trim()) === word;
  }
  /** Its text; null where it is absent or empty. */
  take(name: string): string | null {
    const value = this.#fields.get(name) ?? null;
    this.#fields.delete(name);
    if (value === null) return null;
    if (typeof value === 'boolean') return String(value);
    const text = value instanceof NumberText ? value.text : value;
    if (typeof text !== 'string') {
      this.#odd.push(name);
      return null;
    }
    return text.trim() === '' ? null : text.trim();
  }
  /** The fields of a field; without any where it is absent. */
  takeFields(name: string): ForeignFields {
    const value = this.#fields.get(name) ?? null;
    this.#fields.delete(name);
    if (value !== null && !isJsonObject(value)) this.#odd.push(name);
    return new ForeignFields(isJsonObject(value) ? Object.entries(value) : []);
  }
  /** A field's list of fields; without any where it is absent. */
  takeList(name: string): readonly ForeignFields[] {
    const value = this.#fields.get(name) ?? null;
    this.#fields.delete(name);
    const list = Array.isArray(value) ? value : [];
    if (value !== null && (!Array.isArray(value) || !list.every(isJsonObject))) this.#odd.push(name);
    return list.filter(isJsonObject).map((each) => new ForeignFields(Object.entries(each)));
  }
  /** Nothing in it says anything. */
  get isEmpty(): boolean {
    return ![...this.#fields.keys()].some((name) => this.has(name));
  }
  /** What says nothing about the order. */
  drop(...names: readonly string[]): void {
    for (const name of names) this.#fields.delete(name);
  }
  /** Those of them that say something. */
  dropWhere(isMeant: (name: string) => boolean): readonly string[] {
    const names = [...this.#fields.keys()].filter((name) => isMeant(name) && this.has(name));
    this.drop(...names);
    return names;
  }
  /** A field of another kind than its service knows: whatever it means, it was not read. */
  get odd(): string | null {
    return this.#odd[0] ?? null;
  }
  /** What nobody took, in words. */
  left(): string[] {
    return [...this.#fields]
      .filter(([, value]) => value !== null && value !== '' && value !== false)
      .map(([name]) =>
        without(name, insteadOf(name) ?? 'There is nothing like it here: it would be left out.'),
      );
  }
}

export const without = (name: string, what: string): string => `"${name.slice(0, 64)}": ${what}`;

/** Above zero, as a number, or a placeholder that will be one; null: neither. */
export function amount(text: string | null): number | string | null {
  if (text === null) return null;
  if (isPlaceholder(text)) return text;
  const value = parseDecimal(text);
  return value === null || sign(value) <= 0 ? null : toNumber(value);
}

/** What a quantity counts there, in our words, where it is not units; null: nobody can tell. */
export function counted(word: string | null, known: readonly QuantityType[]): OwnFields | null {
  const type = word === null ? 'units' : quantityTypeOf(word);
  if (type === 'units') return {};
  return type !== null && known.includes(type) ? { quantity_type: type } : null;
}

/** "buy" and "sell", and what the platform fills in as one of them; null: no side. */
export function sideOf(text: string | null): 'buy' | 'sell' | typeof ACTION | null {
  const said = plain(text);
  return said === 'buy' || said === 'sell' || said === ACTION ? said : null;
}

const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

/** A text, or a placeholder outside of one. A text that nobody closed is one too: see json.ts. */
const TEXT_OR_PLACEHOLDER = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|\{\{[^{}"]*\}\}/gs;

/** A message in JSON, also where placeholders stand in it without quotes. */
export function jsonFields(text: string): ForeignFields | null {
  const quoted = text.replaceAll(TEXT_OR_PLACEHOLDER, (part) =>
    part.startsWith('"') ? part : JSON.stringify(part),
  );
  const json = readJson(new TextEncoder().encode(quoted));
  return 'value' in json && isJsonObject(json.value) ? new ForeignFields(Object.entries(json.value)) : null;
}

/** `name=value;name=value;`, over any number of lines; a name is read in any case. */
export function pairFields(text: string, separator: string): ForeignFields | null {
  const pairs: [string, string][] = [];
  for (const part of text.split(separator).map((piece) => piece.trim())) {
    if (part === '') continue;
    const [, name, value] = /^(\w{1,64})\s*=(.*)$/s.exec(part) ?? [];
    if (name === undefined || value === undefined) return null;
    const lower = name.toLowerCase();
    if (pairs.some(([known]) => known === lower)) return null;
    pairs.push([lower, value.trim()]);
  }
  return new ForeignFields(pairs);
}
