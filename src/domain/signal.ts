// A webhook's body → a Signal, or why it is none; a signal's action → what to do (the spec's mapping tables).

import { type Decimal, parseDecimal, sign } from './decimal.ts';
import { type JsonObject, type JsonValue, NumberText, readJson } from './json.ts';
import { ACTIONS, type Action, ORDER_TYPES, type OrderIntent, type OrderType } from './order.ts';
import { isSymbol } from './symbol.ts';

export interface Signal {
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  /** Epoch milliseconds; null only in simulation. */
  readonly timestamp: number | null;
  readonly secret: string | null;
  /** What the replay fingerprint is made of. */
  readonly asReceived: {
    readonly action: string;
    readonly symbol: string;
    readonly timestamp: string;
    readonly secret: string;
  };
}

export type SignalReading = { readonly signal: Signal } | { readonly problem: string };

/** A webhook's body, as far as it can be read without knowing what it should say. */
export type BodyReading = { readonly fields: JsonObject } | { readonly problem: string };

export function readBody(body: Uint8Array): BodyReading {
  const json = readJson(body);
  if ('problem' in json) return json;
  return isObject(json.value) ? { fields: json.value } : { problem: 'The body must be a JSON object.' };
}

/** What shows that a request is the owner's, whatever else is right or wrong with it. */
export interface Proof {
  /** Epoch milliseconds. */
  readonly timestamp: number | null;
  readonly secret: string | null;
}

export function proofIn(reading: BodyReading): Proof {
  if ('problem' in reading) return { timestamp: null, secret: null };
  const secret = field(reading.fields, 'secret');
  return {
    timestamp: readTimestamp(field(reading.fields, 'timestamp')),
    secret: typeof secret === 'string' ? secret : null,
  };
}

/** Real trading needs `timestamp` and `secret`; in simulation they may be absent but not malformed. */
export function readSignal(reading: BodyReading, { simulation }: { simulation: boolean }): SignalReading {
  if ('problem' in reading) return reading;
  const { fields } = reading;

  const actionText = field(fields, 'action');
  if (typeof actionText !== 'string') return missing('action', `one of ${ACTIONS.join(', ')}`);
  const action = ACTIONS.find((known) => known === actionText.trim().toLowerCase());
  if (!action) return { problem: `"action" must be one of ${ACTIONS.join(', ')}.` };

  const symbol = field(fields, 'symbol');
  if (typeof symbol !== 'string') return missing('symbol', 'the instrument, as a string');
  if (!isSymbol(symbol)) return { problem: '"symbol" must be 1 to 64 characters without white space.' };

  const quantityField = field(fields, 'quantity');
  if (quantityField === null) return missing('quantity', 'a number above zero');
  const quantity = readQuantity(quantityField);
  if (quantity === null)
    return { problem: '"quantity" must be a number above zero with at most 15 significant digits.' };

  const orderTypeField = field(fields, 'order_type');
  const orderType = ORDER_TYPES.find((known) => known === orderTypeField) ?? null;
  if (orderTypeField !== null && orderType === null)
    return { problem: '"order_type" must be "entry" or "exit".' };
  const mapped = mapAction(action, orderType);
  if ('problem' in mapped) return mapped;

  // Said in the wrong place, it would be an order in earnest.
  const says = field(fields, 'simulation');
  if (says !== null && says !== simulation)
    return {
      problem: '"simulation" contradicts the URL: say ?simulation=true there, and nothing in the body.',
    };

  const timestampField = field(fields, 'timestamp');
  const timestamp = readTimestamp(timestampField);
  if (timestampField !== null && timestamp === null)
    return {
      problem: '"timestamp" must be ISO 8601 in UTC or with an offset, or epoch seconds or milliseconds.',
    };
  if (timestamp === null && !simulation) return missing('timestamp', 'the time at which the alert was made');

  const secret = field(fields, 'secret');
  if (secret !== null && typeof secret !== 'string') return { problem: '"secret" must be a string.' };
  if (secret === null && !simulation) return missing('secret', "the account's webhook secret");

  return {
    signal: {
      action,
      ...mapped,
      symbol,
      quantity,
      timestamp,
      secret,
      asReceived: { action: actionText, symbol, timestamp: sourceText(timestampField), secret: secret ?? '' },
    },
  };
}

type Mapping = { readonly intent: OrderIntent; readonly orderType: OrderType | null };

/** The webhook action mapping and the supported signals. A signal that says two things is refused, never guessed. */
export function mapAction(
  action: Action,
  orderType: OrderType | null,
): Mapping | { readonly problem: string } {
  switch (action) {
    case 'buy':
    case 'sell':
      return orderType === 'exit'
        ? exit(action === 'buy' ? 'short' : 'long')
        : { intent: { operation: 'PLACE_ENTRY_ORDER', side: action }, orderType: 'entry' };
    case 'close_long':
    case 'close_short':
      return {
        intent: { operation: 'CLOSE_POSITION', direction: action === 'close_long' ? 'long' : 'short' },
        orderType: null,
      };
    case 'long_entry':
    case 'short_entry':
      if (orderType === 'exit') return { problem: `"order_type" exit contradicts the action ${action}.` };
      return {
        intent: { operation: 'PLACE_ENTRY_ORDER', side: action === 'long_entry' ? 'buy' : 'sell' },
        orderType: 'entry',
      };
    case 'long_exit':
    case 'short_exit':
      if (orderType === 'entry') return { problem: `"order_type" entry contradicts the action ${action}.` };
      return exit(action === 'long_exit' ? 'long' : 'short');
  }
}

const exit = (direction: 'long' | 'short'): Mapping => ({
  intent: { operation: 'PLACE_EXIT_ORDER', direction },
  orderType: 'exit',
});

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

/** Own fields only; null and absent are the same. */
const field = (fields: JsonObject, name: string): JsonValue =>
  Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;

const missing = (name: string, what: string) => ({ problem: `"${name}" is missing: ${what}.` });

const sourceText = (value: JsonValue): string =>
  value instanceof NumberText ? value.text : typeof value === 'string' ? value : '';

function readQuantity(value: JsonValue): Decimal | null {
  const text = value instanceof NumberText ? value.text : typeof value === 'string' ? value.trim() : '';
  const quantity = parseDecimal(text);
  return quantity !== null && sign(quantity) > 0 ? quantity : null;
}

const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;
const EPOCH = /^\d{9,14}(?:\.\d{1,9})?$/;
/** Epoch seconds stay below this until the year 5138; epoch milliseconds passed it in 1973. */
const FIRST_MILLISECONDS = 1e11;

/** Epoch milliseconds, or null where the value is no point in time. */
export function readTimestamp(value: JsonValue): number | null {
  const text = sourceText(value).trim();
  if (EPOCH.test(text)) {
    const epoch = Number(text);
    return Math.trunc(epoch < FIRST_MILLISECONDS ? epoch * 1000 : epoch);
  }
  const zone = ISO.exec(text)?.[1];
  if (typeof value !== 'string' || !ISO.test(text)) return null;
  const local = text
    .slice(0, zone ? -zone.length : undefined)
    .replace(' ', 'T')
    .replace('t', 'T')
    .replace(',', '.');
  const asUtc = Date.parse(`${local}Z`);
  // The parser rolls the 30th of February over into March; such a day is no day.
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 10) !== local.slice(0, 10)) return null;
  const offset = zone ? offsetMinutes(zone) : 0;
  return offset === null ? null : asUtc - offset * 60_000;
}

function offsetMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 14 || minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}
