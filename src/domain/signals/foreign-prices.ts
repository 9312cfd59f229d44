// Orders with a price, as other services write them, in our words.

import { TIMES_IN_FORCE } from '../capabilities.ts';
import {
  amount,
  type ForeignFields,
  type OwnFields,
  plain,
  type Turning,
  unclear,
  without,
} from './foreign-fields.ts';

interface Names {
  /** Of the kind of order. */
  readonly kind: string;
  readonly limit: string;
  readonly stop: string;
  readonly timeInForce?: string;
}

const KINDS: ReadonlyMap<string, readonly ('limit' | 'stop')[]> = new Map([
  ['', []],
  ['market', []],
  ['limit', ['limit']],
  ['stop', ['stop']],
  ['stop_market', ['stop']],
  ['stop_limit', ['limit', 'stop']],
  ['stoplimit', ['limit', 'stop']],
  ['stopmarket', ['stop']],
]);

/** The prices that an entry waits for; none of one at the market. What is no such kind of order is not guessed. */
export function pricesIn(
  said: ForeignFields,
  names: Names,
  lost: string[],
): OwnFields | Extract<Turning, { unclear: string }> {
  const kind = KINDS.get(plain(said.take(names.kind)));
  const force = names.timeInForce === undefined ? null : said.take(names.timeInForce);
  if (!kind) return unclear(names.kind, NO_KIND) as Extract<Turning, { unclear: string }>;
  if (kind.length === 0) return {};
  const fields: Record<string, unknown> = {};
  for (const price of kind) {
    const value = amount(said.take(names[price]));
    if (value === null) return unclear(names[price], NO_PRICE) as Extract<Turning, { unclear: string }>;
    fields[`${price}_price`] = value;
  }
  const known = TIMES_IN_FORCE.find((each) => each === plain(force));
  if (known) fields.time_in_force = known;
  else if (force !== null)
    lost.push(
      without(
        names.timeInForce ?? '',
        `it rests until it is taken back: ${TIMES_IN_FORCE.join(', ')} are known here.`,
      ),
    );
  return fields;
}

export const isUnclear = (turned: OwnFields): turned is Extract<Turning, { unclear: string }> =>
  typeof (turned as { unclear?: unknown }).unclear === 'string';

const NO_KIND =
  'this kind of order is not made here: send "limit_price", "stop_price" or both, or none of them. ' +
  'Where it protects a position, send "action": "protect" with "stop_loss".';
const NO_PRICE = 'at which price it waits is not in the message. Send "limit_price" or "stop_price".';
