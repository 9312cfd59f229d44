// Messages that are orders of another interface (OpenAlgo's, a broker's own), or a script's own exits beside our fields, in our words.

import { parseDecimal, sign, toNumber } from '../decimal.ts';
import { PROTECTION_FIELDS } from '../protection/wish.ts';
import {
  ACTION,
  amount,
  CONTRACTS,
  type ForeignFields,
  type ForeignService,
  isPlaceholder,
  jsonFields,
  MARKET,
  NO_SIDE,
  NO_SIZE,
  NOW,
  type OwnFields,
  ofStrategy,
  plain,
  SIDE,
  SIGNED_SIZE,
  sideOf,
  type Turning,
  unclear,
  WAITS,
  without,
} from './foreign-fields.ts';
import { isUnclear, pricesIn } from './foreign-prices.ts';
import { AT_THE_MARKET, ofOpenAlgo, ofPine, oneLevel, placed, WHOLE } from './foreign-protection.ts';
import { PRICED_FIELDS } from './priced-fields.ts';

const openAlgo: ForeignService = {
  name: 'OpenAlgo',
  read(text) {
    const said = jsonFields(text);
    return said?.has('apikey') && said.has('symbol') && said.has('action') ? said : null;
  },
  turn(said, lost) {
    said.drop('apikey', 'strategy', 'exchange');
    if (said.has('trigger_type')) {
      said.drop('symbol', 'action', 'quantity', 'product', 'pricetype', 'trigger_type');
      return unclear('trigger_type', WAITS);
    }
    const type = plain(said.take('pricetype'));
    if (type === 'sl' || type === 'sl-m') return asStop(said, lost);
    const side = sideOf(said.take('action'));
    const limit = type === 'limit' ? amount(said.take('price')) : null;
    if (type === 'limit' && limit === null) return unclear('price', NO_SIZE);
    if (type !== '' && type !== 'market' && type !== 'limit') lost.push(without('pricetype', MARKET));
    const waits = limit === null ? {} : { limit_price: limit };
    for (const name of ['price', 'trigger_price', 'disclosed_quantity']) {
      const value = said.take(name);
      if (value !== null && parseDecimal(value) !== '0') lost.push(without(name, MARKET));
    }
    if (said.take('product') !== null)
      lost.push(without('product', 'how a position is financed is a matter of the account here.'));
    const held = said.take('position_size');
    const text = said.take('quantity');
    const rest = { symbol: said.take('symbol'), timestamp: NOW };
    if (side === null) return unclear('action', NO_SIDE);
    const quantity = amount(text);
    const target = held === null || isPlaceholder(held) ? null : parseDecimal(held);
    if (target !== null && sign(target) === 0)
      // With an amount it opens one where nothing is held.
      return text !== null && parseDecimal(text) === '0'
        ? { fields: { ...rest, action: 'close' } }
        : unclear(
            'position_size',
            '0 closes, or opens where nothing is held. Send "action": close, or buy or sell.',
          );
    if (quantity === null) return unclear('quantity', NO_SIZE);
    const order = { ...rest, action: side, quantity, ...waits };
    if (held !== null && limit !== null)
      return unclear('position_size', 'an order with a limit is of a quantity. Leave it out.');
    if (held === null) return { fields: order };
    if (held === SIGNED_SIZE && quantity === CONTRACTS)
      return { fields: { ...order, market_position: SIDE, ...ofStrategy(SIDE, quantity) } };
    if (target === null) return unclear('position_size', NO_SIDE);
    const long = sign(target) > 0;
    return {
      fields: {
        ...order,
        market_position: long ? 'long' : 'short',
        market_position_size: Math.abs(toNumber(target)),
      },
    };
  },
  protect: ofOpenAlgo,
};

/** An order of the kind stop-loss. Whatever it would do there, of what is held it is the stop; nothing else is made of it. */
function asStop(said: ForeignFields, lost: string[]): Turning {
  if (said.take('position_size') !== null) {
    said.drop('symbol', 'action', 'quantity', 'product', 'trigger_price');
    return unclear('pricetype', WAITS);
  }
  lost.push(without('pricetype', `it is taken for the stop of what is held: ${WHOLE}`));
  said.drop('action', 'quantity', 'product', 'disclosed_quantity');
  return { fields: { action: 'protect', symbol: said.take('symbol'), timestamp: NOW } };
}

const ALPACA_PRICES = {
  ...{ kind: 'type', limit: 'limit_price', stop: 'stop_price', timeInForce: 'time_in_force' },
} as const;

/** An order as POST /v2/orders takes it, which needs these four. */
const alpaca: ForeignService = {
  name: 'Alpaca',
  read(text) {
    const said = jsonFields(text);
    const isOrder = ['symbol', 'side', 'type', 'time_in_force'].every((name) => said?.has(name));
    return said && isOrder && !said.has('action') ? said : null;
  },
  turn(said, lost) {
    const symbol = said.take('symbol');
    const side = sideOf(said.take('side'));
    const kind = plain(said.take('order_class'));
    const text = said.take('qty');
    const rest = { symbol, timestamp: NOW };
    if (said.says('type', 'trailing_stop') || kind === 'oco') {
      // Each of them closes what is held.
      said.drop('type', 'time_in_force');
      if (text !== null) lost.push(without('qty', WHOLE));
      return { fields: { ...rest, action: 'protect' } };
    }
    const notional = said.take('notional');
    const quantity = amount(notional ?? text);
    const isEither = notional !== null && text !== null;
    const isSized = quantity !== null && !isEither;
    // There, a sell closes what is held and a buy covers; here, either would turn the position.
    const isClear = notional !== null ? side !== ACTION : kind === 'bracket' || kind === 'oto';
    if (!isSized || side === null || !isClear) {
      said.drop('type', 'time_in_force');
      if (!isSized) return unclear(notional === null ? 'qty' : 'notional', NO_SIZE);
      return unclear('side', side === null ? NO_SIDE : OPENS_OR_CLOSES);
    }
    if (notional !== null && side === 'sell') return soldForCash(said, { ...rest, quantity }, lost);
    const waits = pricesIn(said, ALPACA_PRICES, lost);
    if (isUnclear(waits)) return waits;
    const order = { ...rest, quantity, ...waits };
    if (notional === null) return { fields: { ...order, action: side } };
    lost.push(without('side', 'where a short position is held, it is closed first here.'));
    return { fields: { ...order, ...CASH, action: 'long_entry' } };
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

const CASH = { quantity_type: 'cash' } as const;

/** For money nothing is sold short there: who sells leaves, here at the market. */
function soldForCash(said: ForeignFields, order: OwnFields, lost: string[]): Turning {
  if (!said.says('type', 'market')) lost.push(without('type', MARKET));
  said.drop('type', 'time_in_force');
  return { fields: { ...order, ...CASH, action: 'long_exit' } };
}

const OPENS_OR_CLOSES =
  'it does not say whether it opens or closes. Send "action": buy or sell, with "order_type": "entry" or "exit".';

const OF_PINE = ['loss', 'profit', 'trail_points', 'trail_price', 'trail_offset'];
const NUMBERS = [
  ...['quantity', 'market_position_size', 'prev_market_position_size', 'price'],
  ...['limit_price', 'stop_price', 'expires_in'],
];
const OURS = [
  ...[
    'action',
    'symbol',
    'quantity_type',
    'order_type',
    'market_position',
    'prev_market_position',
    'id',
    'timestamp',
  ],
  ...NUMBERS,
  ...PRICED_FIELDS,
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

export const FOREIGN_ORDERS: readonly ForeignService[] = [openAlgo, alpaca, pine];
