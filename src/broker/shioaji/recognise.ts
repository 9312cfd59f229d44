// Which of the broker's orders is ours. It takes no id of ours, so an order whose answer was lost is known by what it is: the
// contract, the side, the quantity, the kind of order and the time. A word of our own goes with each order, and not every
// version of the server gives it back. Where two could be meant, nobody is: to take another's fill for ours is worse than not
// to know.

import { createHash } from 'node:crypto';
import { compare } from '../../domain/decimal.ts';
import { type ClientOrderId, millis } from '../../domain/ids.ts';
import type { SentOrder } from '../broker.ts';
import { type OddTrade, quantityOf, sideOf, type Trade } from './answers.ts';

/** What the server keeps with an order for its client: six letters and digits. */
export const wordOf = (id: ClientOrderId): string =>
  BigInt(`0x${createHash('sha256').update(id).digest('hex')}`)
    .toString(36)
    .slice(-6);

/** Their clock and ours differ, and a request may lie in a buffer. */
const BEFORE_MS = 60_000;
const AFTER_MS = 90_000;
/** What is known by its looks alone has to be nearer: the longer after, the likelier it was placed by hand. */
const ALIKE_AFTER_MS = 60_000;

export type Recognition =
  | { readonly trade: Trade }
  | { readonly none: true }
  /** In words, and how many could be meant. */
  | { readonly doubt: string };

/** `others`: what else was sent to this broker around that time, by anybody here. */
export function recognise(
  sent: SentOrder,
  trades: readonly Trade[],
  others: readonly SentOrder[],
): Recognition {
  const word = wordOf(sent.clientOrderId);
  const same = trades.filter((trade) => isAlike(sent, trade));
  const named = same.filter((trade) => wordWith(trade) === word);
  if (named.length > 0) return only(named, 'carry its word');

  const rivals = others.filter((other) => other.clientOrderId !== sent.clientOrderId);
  // This server gives words back, so that one without is nobody's here: it was placed by hand.
  const words = new Set([word, ...rivals.map(({ clientOrderId }) => wordOf(clientOrderId))]);
  if (trades.some((trade) => words.has(wordWith(trade)))) return { none: true };

  const taken = new Set(rivals.flatMap(({ brokerRef }) => brokerRef ?? []));
  // One with another's word is another's.
  const candidates = same.filter(
    (trade) => wordWith(trade) === '' && !taken.has(trade.order.id) && isNear(sent, trade, ALIKE_AFTER_MS),
  );
  const [first] = candidates;
  if (!first) return { none: true };
  const unsure = rivals.filter(
    (rival) =>
      rival.brokerRef === null && candidates.some((trade) => isAlike(rival, trade) && isNear(rival, trade)),
  );
  if (unsure.length > 0)
    return {
      doubt: `${candidates.length} of the broker's orders could be this one or ${unsure.length} other of ours`,
    };
  if (timeOf(first) === null)
    return { doubt: 'the broker does not say when the order that looks like it was sent' };
  return only(candidates, 'look like it');
}

const wordWith = ({ order }: Trade): string => order.custom_field?.trim() ?? '';

const only = (trades: readonly Trade[], how: string): Recognition => {
  const [trade, ...more] = trades;
  if (!trade) return { none: true };
  return more.length === 0 ? { trade } : { doubt: `${trades.length} of the broker's orders ${how}` };
};

/** Everything but the time. What we send is bought at the market, now or not at all. */
function isAlike({ symbol, side, quantity }: SentOrder, trade: Trade): boolean {
  const { price_type, order_type } = trade.order;
  return (
    trade.contract.code === symbol &&
    sideOf(trade) === side &&
    compare(quantityOf(trade), quantity) === 0 &&
    (price_type ?? 'MKT') === 'MKT' &&
    (order_type ?? 'IOC') === 'IOC'
  );
}

/** Of one that cannot be read: nothing that can be says that it is another's. */
export const mayBe = ({ symbol, side, quantity }: SentOrder, odd: OddTrade): boolean =>
  (odd.code ?? symbol) === symbol &&
  (odd.action === null || odd.action === (side === 'buy' ? 'Buy' : 'Sell')) &&
  (odd.quantity === null || odd.quantity === Number(quantity));

/** The order that it named, and not one of another day under the same name. */
export const isNamed = (sent: SentOrder, trade: Trade): boolean =>
  trade.order.id === sent.brokerRef && isAlike(sent, trade) && isNear(sent, trade);

function isNear({ sentAt }: SentOrder, trade: Trade, afterMs = AFTER_MS): boolean {
  const time = timeOf(trade);
  if (time === null) return true;
  const later = time - millis(sentAt);
  return later >= -BEFORE_MS && later <= afterMs;
}

const DIGITS = [
  { below: 1e11, ms: 1e3 },
  { below: 1e14, ms: 1 },
  { below: 1e17, ms: 1e-3 },
  { below: 1e20, ms: 1e-6 },
];

/** In ms; null: it does not say. In seconds, or finer, or as a text by Taipei's clock. */
function timeOf({ status }: Trade): number | null {
  const { order_ts, order_datetime } = status;
  if (typeof order_ts === 'number' && order_ts > 1e8) {
    const unit = DIGITS.find(({ below }) => order_ts < below);
    return unit ? order_ts * unit.ms : null;
  }
  if (!order_datetime) return null;
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/.test(order_datetime);
  const time = Date.parse(isZoned ? order_datetime : `${order_datetime.replace(' ', 'T')}+08:00`);
  return Number.isFinite(time) ? time : null;
}
