// Messages that are orders of a broker's own interface, or a script's own exits beside our fields, in our words.

import { parseDecimal, toNumber } from '../decimal.ts';
import { PROTECTION_FIELDS } from '../protection/wish.ts';
import {
  amount,
  type ForeignFields,
  type ForeignService,
  isPlaceholder,
  jsonFields,
  MARKET,
  NO_SIDE,
  NO_SIZE,
  NOW,
  type OwnFields,
  plain,
  sideOf,
  type Turning,
  unclear,
  without,
} from './foreign-fields.ts';
import { AT_THE_MARKET, ofPine, oneLevel, placed } from './foreign-protection.ts';

const WHOLE = 'the whole position is protected here, and nothing is opened.';

/** An order as POST /v2/orders takes it, which needs these four. */
const alpaca: ForeignService = {
  name: 'Alpaca',
  read(text) {
    const said = jsonFields(text);
    const isOrder = ['symbol', 'side', 'type', 'time_in_force'].every((name) => said?.has(name));
    return said && isOrder && !said.has('action') ? said : null;
  },
  turn(said, lost) {
    said.drop('time_in_force');
    const symbol = said.take('symbol');
    const side = sideOf(said.take('side'));
    const type = plain(said.take('type'));
    const kind = plain(said.take('order_class'));
    const text = said.take('qty');
    const rest = { symbol, timestamp: NOW };
    if (type === 'trailing_stop' || kind === 'oco') {
      // Each of them closes what is held.
      if (text !== null) lost.push(without('qty', WHOLE));
      return { fields: { ...rest, action: 'protect' } };
    }
    if (said.take('notional') !== null) return unclear('notional', NO_SIZE);
    const quantity = amount(text);
    if (quantity === null) return unclear('qty', NO_SIZE);
    if (side === null) return unclear('side', NO_SIDE);
    // There, a sell closes what is held and a buy covers; here, either would turn the position.
    if (kind !== 'bracket' && kind !== 'oto') return unclear('side', OPENS_OR_CLOSES);
    if (type !== 'market') lost.push(without('type', MARKET));
    return { fields: { ...rest, action: side, quantity } };
  },
  protect(said, lost, order) {
    if (order === null) return {};
    const stop = said.takeFields('stop_loss');
    const target = said.takeFields('take_profit');
    if (stop.take('limit_price') !== null) lost.push(without('stop_loss', AT_THE_MARKET));
    const trail = oneLevel(said, { trail_percent: 'percent', trail_price: 'points' });
    const fields = {
      ...placed('stop_loss', oneLevel(stop, { stop_price: 'price' }), { name: 'stop_loss', lost }),
      ...placed('take_profit', oneLevel(target, { limit_price: 'price' }), { name: 'take_profit', lost }),
      ...placed('trailing_stop', trail, { name: 'trail_percent', lost }),
    };
    lost.push(...stop.left(), ...target.left());
    return fields;
  },
};

const OPENS_OR_CLOSES =
  'it does not say whether it opens or closes. Send "action": buy or sell, with "order_type": "entry" or "exit".';

const OF_PINE = ['loss', 'profit', 'trail_points', 'trail_price', 'trail_offset'];
const NUMBERS = ['quantity', 'market_position_size', 'prev_market_position_size', 'price'];
const OURS = [
  ...['action', 'symbol', 'order_type', 'market_position', 'prev_market_position', 'id', 'timestamp'],
  ...NUMBERS,
  ...PROTECTION_FIELDS,
];

/** A message of our own that asks for protection as a script does. */
const pine: ForeignService = {
  name: 'Pine',
  read(text) {
    const said = jsonFields(text);
    const isOurs = said?.has('action') && said.has('symbol');
    return said && isOurs && OF_PINE.some((name) => said.has(name)) ? said : null;
  },
  turn(said): Turning {
    said.drop('secret');
    const fields = OURS.map((name) => [name, ourValue(said, name)] as const);
    return {
      fields: { timestamp: NOW, ...Object.fromEntries(fields.filter(([, value]) => value !== null)) },
    };
  },
  protect: ofPine,
};

/** As it stands: what is wrong with it, the reader of our own messages says. */
function ourValue(said: ForeignFields, name: string): OwnFields[string] {
  const text = said.take(name);
  if (text === null || !NUMBERS.includes(name) || isPlaceholder(text)) return text;
  const number = parseDecimal(text);
  return number === null ? text : toNumber(number);
}

export const FOREIGN_ORDERS: readonly ForeignService[] = [alpaca, pine];
