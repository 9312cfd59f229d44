// Messages written for other services, in our words. Nothing is guessed: what comes out would be accepted by our own reader
// however the platform fills the placeholders in, or nothing comes out, and `lost` says why.

import { isProtectionField, PROTECTION_FIELDS } from '../protection/wish.ts';
import { type ForeignFields, NOW, type OwnFields, without } from './foreign-fields.ts';
import { FOREIGN_ORDERS } from './foreign-orders.ts';
import { FOREIGN_SERVICES } from './foreign-services.ts';
import { PRICED_FIELDS } from './priced-fields.ts';
import { asksForProtection } from './refused-fields.ts';
import { readBody, readSignal } from './signal.ts';

export interface ForeignReading {
  readonly service: string;
  /** Ours, without the secret, with the platform's placeholders as they stand; none where the message cannot be turned. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** What the message asks for and we would not do, and what kept it from being turned; each names its field. */
  readonly lost: readonly string[];
}

/** Longer than any alert that we would take. */
const MAX_LENGTH = 16_384;

/** null: it was written for none of them. */
export function recogniseForeign(text: string): ForeignReading | null {
  if (text.length > MAX_LENGTH) return null;
  for (const { name, read, turn, protect } of [...FOREIGN_SERVICES, ...FOREIGN_ORDERS]) {
    const said = read(text);
    if (said === null) continue;
    const lost: string[] = [];
    const turned = turn(said, lost);
    const order = 'fields' in turned ? turned.fields : null;
    if (order && isExit(order)) lost.push(...unused(said));
    const protection = protect?.(said, lost, order);
    const fields = order && { ...order, ...protection };
    const left = [...lost, ...said.left()];
    const why =
      said.odd !== null
        ? `"${said.odd}" is not as ${name} writes it.`
        : 'unclear' in turned
          ? turned.unclear
          : problemWith(fields ?? {});
    return why === null && fields !== null
      ? { service: name, fields: inOrder(fields), lost: left }
      : { service: name, fields: {}, lost: [why ?? '', ...left] };
  }
  return null;
}

/** Whatever the platform fills in, nothing is opened. */
const isExit = ({ action, order_type, market_position }: OwnFields): boolean =>
  order_type === 'exit' || market_position === 'flat' || /close|_exit$/.test(String(action));

/** Of an exit. */
const unused = (said: ForeignFields): readonly string[] =>
  said
    .dropWhere(asksForProtection)
    .map((name) => without(name, 'an exit is not protected: it would be left out.'));

const NUMBERS = [
  ...['quantity', 'market_position_size', 'prev_market_position_size', 'price', 'limit_price', 'stop_price'],
];
const ORDER = [
  'action',
  'symbol',
  'quantity',
  'quantity_type',
  'order_type',
  'market_position',
  'market_position_size',
  'prev_market_position',
  'prev_market_position_size',
  'id',
  'price',
  ...PRICED_FIELDS,
  ...PROTECTION_FIELDS,
  'timestamp',
];
const SECRET = '<your webhook secret>';

const inOrder = (fields: OwnFields): OwnFields =>
  Object.fromEntries(ORDER.filter((name) => name in fields).map((name) => [name, fields[name]]));

/** The text to paste into an alert: a placeholder of a number stands without quotes. null: there is nothing to paste. */
export function renderMessage(fields: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries({ ...fields, secret: SECRET });
  if (entries.length === 1) return null;
  return `{ ${entries.map(([name, value]) => `"${name}": ${rendered(name, value)}`).join(', ')} }`;
}

function rendered(name: string, value: unknown): string {
  if (NUMBERS.includes(name) && typeof value === 'string' && value.startsWith('{{')) return value;
  const json = JSON.stringify(value);
  if (!isProtectionField(name)) return json;
  // The platform knows {{plot("SL")}} only as it writes it; what it fills in has no quotes.
  return json.replaceAll(/\{\{[^{}]*\}\}/g, (placeholder) => placeholder.replaceAll('\\"', '"'));
}

/** What the platform may put in the placeholders' places: a side, and where the strategy stood and stands. */
const CASES = [
  { action: 'buy', before: 0, after: 1 },
  { action: 'sell', before: 1, after: 0 },
  { action: 'sell', before: 1, after: -2 },
  { action: 'buy', before: -2, after: -1 },
];
type Case = (typeof CASES)[number];

/** null: our own reader takes it, whatever stands in the placeholders' places. */
function problemWith(fields: OwnFields): string | null {
  const message = renderMessage(fields) ?? '';
  for (const example of CASES) {
    const body = new TextEncoder().encode(filledIn(message, example));
    const reading = readSignal(readBody(body), { simulation: false });
    if ('problem' in reading) return reading.problem;
  }
  return null;
}

/** Those that stand for a number above zero. */
const ABOVE_ZERO =
  /^\{\{(?:open|high|low|close|volume|plot_\d{1,2}|plot\("[^"]*"\)|strategy\.order\.(?:contracts|price))\}\}$/;

function filledIn(message: string, { action, before, after }: Case): string {
  const side = (held: number) => (held === 0 ? 'flat' : held > 0 ? 'long' : 'short');
  const values: Readonly<Record<string, string>> = {
    '{{strategy.order.action}}': action,
    '{{strategy.market_position}}': side(after),
    '{{strategy.market_position_size}}': String(Math.abs(after)),
    '{{strategy.position_size}}': String(after),
    '{{strategy.prev_market_position}}': side(before),
    '{{strategy.prev_market_position_size}}': String(Math.abs(before)),
    [NOW]: '2026-01-01T00:00:00Z',
  };
  return message.replaceAll(
    /\{\{[^{}]*\}\}/g,
    (placeholder) => values[placeholder] ?? (ABOVE_ZERO.test(placeholder) ? '1' : 'text'),
  );
}
