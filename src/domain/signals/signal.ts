// A webhook's body → a Signal, or why it is not one.

import { type Decimal, sign, ZERO } from '../decimal.ts';
import { ACTIONS, type Action, ORDER_TYPES, type OrderIntent, type OrderType } from '../orders/order.ts';
import type { AskedPrice } from '../orders/priced.ts';
import type { QuantityType } from '../orders/sizing.ts';
import { isProtectionField, PROTECTION_FIELDS, type Wish } from '../protection/wish.ts';
import { type JsonObject, type JsonValue, readJson } from './json.ts';
import { mapAction, mapStance } from './mapping.ts';
import { CANCEL_ID, cancelling, isPricedField, readCancelId, readPrice } from './priced-fields.ts';
import { readProtection } from './protective-fields.ts';
import { readQuantityType, whyNoRisk } from './quantity-type.ts';
import { insteadOf } from './refused-fields.ts';
import { digestOf } from './secret-digest.ts';
import { STANCE_SIDES, type Stance } from './strategy.ts';
import { isSymbol } from './symbol.ts';
import { readTimestamp, sourceText } from './time.ts';
import { isUnfilled, notFilledIn, unfilledIn } from './unfilled.ts';
import { field, inexact, isObject, isProblem, missing, optional, readNumber, shown } from './values.ts';

export interface Signal {
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  /** What that counts. */
  readonly quantityType: QuantityType;
  /** Epoch milliseconds; null only in simulation. */
  readonly timestamp: number | null;
  readonly secret: string | null;
  /** The strategy's position before and after it; null: not said. */
  readonly before: Stance | null;
  readonly after: Stance | null;
  /** The sender's, to compare with. */
  readonly price: Decimal | null;
  /** What an entry or a `protect` asks for; null: nothing. */
  readonly protection: Wish | null;
  /** What an entry waits for; null: it is at the market. */
  readonly priced: AskedPrice | null;
  /** Names of fields that nobody knows, or that are not used with this action. */
  readonly ignored: readonly string[];
  /** What the replay fingerprint is made of. */
  readonly asReceived: {
    readonly action: string;
    readonly symbol: string;
    readonly timestamp: string;
    readonly secret: string;
    /** What tells apart several alerts in one second; null: nothing was sent for it. */
    readonly apart: { readonly id: string; readonly side: string; readonly size: string } | null;
    /** What a `protect` or a `cancel` asks for, in one form: two moves in one second are two. null: it is neither. */
    readonly moves: string | null;
  };
}

const FIELDS = [
  'action',
  'symbol',
  'quantity',
  'quantity_type',
  'order_type',
  'timestamp',
  'id',
  'market_position',
  'market_position_size',
  'prev_market_position',
  'prev_market_position_size',
  'price',
  'simulation',
  'secret',
];
/** A `protect` is about all that is held, a `cancel` about what rests. */
const FIELDS_TO_PROTECT = FIELDS.filter((name) => name !== 'quantity' && name !== 'quantity_type');
const FIELDS_TO_CANCEL = [...FIELDS_TO_PROTECT, CANCEL_ID];
const MOST_IGNORED = 20;

export type SignalReading = { readonly signal: Signal } | { readonly problem: string };

/** A webhook's body, as far as it can be read without knowing what it should say. */
export type BodyReading = { readonly text: string; readonly proof: Proof } & (
  | { readonly fields: JsonObject }
  | { readonly problem: string }
);

const NO_PROOF: Proof = { timestamp: null, digest: null };

export function readBody(body: Uint8Array): BodyReading {
  const json = readJson(body);
  const { text } = json;
  if ('problem' in json) return { text, problem: unfilledIn(text, json.at) ?? json.problem, proof: NO_PROOF };
  if (!isObject(json.value)) return { text, problem: 'The body must be a JSON object.', proof: NO_PROOF };
  return { text, fields: json.value, proof: proofIn(json.value) };
}

/** What shows that a request is the owner's, whatever else is right or wrong with it. */
export interface Proof {
  /** Epoch milliseconds. */
  readonly timestamp: number | null;
  /** Of the secret that was given: it is compared more than once. */
  readonly digest: Uint8Array | null;
}

function proofIn(fields: JsonObject): Proof {
  const secret = field(fields, 'secret');
  return {
    timestamp: readTimestamp(field(fields, 'timestamp')),
    digest: typeof secret === 'string' ? digestOf(secret) : null,
  };
}

interface ReadingOptions {
  readonly simulation: boolean;
  /** The account's setting: what the strategy holds and the account does not is opened, whatever the action. */
  readonly follow?: boolean;
  /** An entry's wish with what the account fills in from flat. */
  readonly filledIn?: (wish: Wish, symbol: string) => Wish;
}

/** Real trading needs `timestamp` and `secret`; in simulation they may be absent but not malformed. */
export function readSignal(
  reading: BodyReading,
  { simulation, follow = false, filledIn = (wish) => wish }: ReadingOptions,
): SignalReading {
  if ('problem' in reading) return reading;
  const { fields, proof } = reading;
  const actionText = field(fields, 'action');
  const said = typeof actionText === 'string' ? actionText.trim().toLowerCase() : null;
  const action = ACTIONS.find((known) => known === said);
  const ours = action === 'protect' ? FIELDS_TO_PROTECT : action === 'cancel' ? FIELDS_TO_CANCEL : FIELDS;
  const wrongField = unfilledOrRefused(fields, ours);
  if (wrongField) return wrongField;
  if (typeof actionText !== 'string') return missing('action', `one of ${ACTIONS.join(', ')}`);
  if (!action) return { problem: `"action" must be one of ${ACTIONS.join(', ')}.` };

  const symbol = field(fields, 'symbol');
  if (typeof symbol !== 'string') return missing('symbol', 'the instrument, as a string');
  if (!isSymbol(symbol)) return { problem: '"symbol" must be 1 to 64 characters without white space.' };

  const quantity = quantityFor(action, field(fields, 'quantity'));
  if (typeof quantity === 'object') return quantity;

  const orderTypeField = field(fields, 'order_type');
  const orderType = ORDER_TYPES.find((known) => known === orderTypeField) ?? null;
  if (orderTypeField !== null && orderType === null)
    return { problem: '"order_type" must be "entry" or "exit".' };

  const before = readStance(fields, 'prev_market_position');
  if (before && 'problem' in before) return before;
  const after = readStance(fields, 'market_position');
  if (after && 'problem' in after) return after;
  const isSized = optional(fields, 'market_position_size') !== null;
  const mapped = after
    ? mapStance(action, orderType, after, { follow, isSized })
    : mapAction(action, orderType);
  if ('problem' in mapped) return mapped;
  const row = { action, intent: mapped.intent, before, symbol, filledIn };
  const protects = readProtection(fields, row);
  if ('problem' in protects) return protects;
  const counts = readQuantityType(optional(fields, 'quantity_type'), { intent: mapped.intent, quantity });
  if ('problem' in counts) return counts;
  const noRisk = whyNoRisk(counts.type, () => filledIn(protects.wish ?? {}, symbol));
  if (noRisk !== null) return { problem: noRisk };
  const known = counts.isUsed ? ours : ours.filter((name) => name !== 'quantity_type');
  const id = optional(fields, 'id');
  if (id !== null && (typeof id !== 'string' || id.length > 64))
    return { problem: '"id" must be a string of 1 to 64 characters.' };
  const pricing = readPrice(fields, { ...row, id });
  if ('problem' in pricing) return pricing;
  const cancelId = action === 'cancel' ? readCancelId(fields) : null;
  if (isProblem(cancelId)) return cancelId;
  const used: readonly string[] = [...known, ...(protects.isUsed ? PROTECTION_FIELDS : []), ...pricing.used];

  // Said in the wrong place, it would be an order in earnest.
  const says = field(fields, 'simulation');
  if (says !== null && says !== simulation)
    return {
      problem: '"simulation" contradicts the URL: say ?simulation=true there, and nothing in the body.',
    };

  const priceField = optional(fields, 'price');
  const price = priceField === null ? null : readNumber(priceField);
  if (priceField !== null && (price === null || sign(price) <= 0))
    return (
      inexact('price', priceField) ?? {
        problem: '"price" must be a number above zero: the price that the signal saw.',
      }
    );

  const timestampField = field(fields, 'timestamp');
  const { timestamp } = proof;
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
      ...(action === 'cancel' && { intent: cancelling(cancelId) }),
      symbol,
      quantity,
      quantityType: counts.type,
      timestamp,
      secret,
      before,
      after,
      price,
      protection: protects.wish,
      priced: pricing.price,
      ignored: Object.keys(fields)
        .filter((name) => !used.includes(name))
        .slice(0, MOST_IGNORED),
      asReceived: {
        action: actionText,
        symbol,
        timestamp: sourceText(timestampField),
        secret: secret ?? '',
        apart:
          id === null && after === null
            ? null
            : {
                id: id ?? '',
                side: sourceText(optional(fields, 'market_position')),
                size: optional(fields, 'market_position_size') === null ? '' : (after?.size ?? ''),
              },
        moves: action === 'cancel' ? JSON.stringify({ cancel_id: cancelId }) : protects.moves,
      },
    },
  };
}

function unfilledOrRefused(fields: JsonObject, ours: readonly string[]): { readonly problem: string } | null {
  for (const name of ours) {
    const value = field(fields, name);
    if (name !== 'secret' && typeof value === 'string' && isUnfilled(value.trim()))
      return notFilledIn(name, value.trim());
  }
  for (const name of Object.keys(fields)) {
    const isOurs = FIELDS.includes(name) || isProtectionField(name) || isPricedField(name);
    const instead = isOurs || optional(fields, name) === null ? null : insteadOf(name);
    if (instead !== null) return { problem: `"${name.slice(0, 64)}" is not understood here. ${instead}` };
  }
  return null;
}

/** `close`, `sync`, `protect` and `cancel` are about the whole position, whatever it is. */
function quantityFor(action: Action, value: JsonValue): Decimal | { readonly problem: string } {
  if (action === 'protect' || action === 'cancel') return ZERO;
  if (action === 'close' || action === 'sync') {
    if (value === null || value === '') return ZERO;
    return {
      problem:
        `"quantity" does not go with the action ${action}: leave it out. ` +
        'To close a part, send buy or sell with "order_type": "exit".',
    };
  }
  if (value === null) return missing('quantity', 'a number above zero');
  const quantity = readNumber(value);
  return quantity !== null && sign(quantity) > 0
    ? quantity
    : { problem: '"quantity" must be a number above zero with at most 15 significant digits.' };
}

function readStance(
  fields: JsonObject,
  name: 'market_position' | 'prev_market_position',
): Stance | { readonly problem: string } | null {
  const [sideField, sizeField] = [optional(fields, name), optional(fields, `${name}_size`)];
  if (sideField === null)
    return sizeField === null
      ? null
      : { problem: `"${name}_size" needs "${name}": ${STANCE_SIDES.join(', ')}.` };
  const text = typeof sideField === 'string' ? sideField.trim().toLowerCase() : '';
  const side = STANCE_SIDES.find((known) => known === text);
  if (!side)
    return { problem: `"${name}" is ${shown(sideField)}: it must be one of ${STANCE_SIDES.join(', ')}.` };
  if (sizeField === null) return { side, size: side === 'flat' ? ZERO : null };
  const size = readNumber(sizeField);
  if (size === null || sign(size) < 0)
    return (
      inexact(`${name}_size`, sizeField) ?? {
        problem: `"${name}_size" is ${shown(sizeField)}: it must be a number, 0 or above.`,
      }
    );
  if ((sign(size) === 0) !== (side === 'flat'))
    return {
      problem: `"${name}_size" is ${size} and "${name}" is ${side}: 0 goes with flat, and only with it.`,
    };
  return { side, size };
}
