// How other services have their alerts written, and what each asks for in our words. Their formats are public; what one of
// them leaves to settings that only it knows (a size above all) is never guessed.

import { parseDecimal, toNumber } from '../decimal.ts';
import { QUANTITY_TYPES } from '../orders/sizing.ts';
import {
  ACTION,
  amount,
  counted,
  type ForeignFields,
  type ForeignService,
  isPlaceholder,
  jsonFields,
  MARKET,
  NO_SIDE,
  NO_SIZE,
  NOW,
  ORDER_ID,
  type OwnFields,
  ofStrategy,
  pairFields,
  plain,
  SIDE,
  sideOf,
  type Turning,
  unclear,
  WAITS,
  without,
} from './foreign-fields.ts';
import { isUnclear, pricesIn } from './foreign-prices.ts';
import { ofCrossTrade, ofPineConnector, ofThreeCommas, ofTradersPost } from './foreign-protection.ts';

const NO_ORDER = 'it asks for nothing that is traded here. Send "action": buy, sell or close.';
const PART_OF_WHICH =
  'it does not say of which side a part is to be closed. Send buy or sell with "order_type": "exit"; a share of what is held is "quantity_type": "percent_of_position".';
const WHOLE = 'it closes the whole position here.';

/** Closing a side takes all of it; the number that the field must have changes nothing. */
const closing = (side: 'long' | 'short', rest: OwnFields): Turning => ({
  fields: { ...rest, action: `close_${side}`, quantity: 1 },
});

/** When the message was made; a bar's time is no such time. */
function timestamp(name: string, said: string | null, lost: string[]): OwnFields {
  if (said === null || said === NOW || !isPlaceholder(said)) return { timestamp: said ?? NOW };
  lost.push(without(name, `it is not the time at which the alert is made: ${NOW} takes its place.`));
  return { timestamp: NOW };
}

const priced = (said: string | null): OwnFields => {
  const price = amount(said);
  return price === null ? {} : { price };
};

const STANCES: Readonly<Record<string, string>> = {
  bullish: 'long',
  long: 'long',
  bearish: 'short',
  short: 'short',
  flat: 'flat',
  [SIDE]: SIDE,
};
const stanceOf = (text: string | null): string | null =>
  Object.hasOwn(STANCES, plain(text)) ? (STANCES[plain(text)] ?? null) : null;

const TAKEN_BACK = 'what rests in the symbol is taken back first here, but for entries of another "id".';

const TRADERS_POST_PRICES = {
  kind: 'orderType',
  limit: 'limitPrice',
  stop: 'stopPrice',
  timeInForce: 'timeInForce',
} as const;

const tradersPost: ForeignService = {
  name: 'TradersPost',
  read(text) {
    const said = jsonFields(text);
    return said?.has('ticker') && said.has('action') && !said.has('symbol') ? said : null;
  },
  turn(said, lost) {
    const action = said.take('action');
    const symbol = said.take('ticker');
    const sentiment = said.take('sentiment');
    const quantity = said.take('quantity');
    const counts = counted(said.take('quantityType'), QUANTITY_TYPES);
    for (const name of ['optionType', 'intrinsicValue', 'expiration', 'strikePrice', 'strikesAway'])
      if (said.take(name) !== null)
        return unclear(name, 'the message asks for an option: send its own symbol.');
    const saw = said.take('signalPrice');
    const price = said.take('price');
    const isEntry = sideOf(action) !== null && stanceOf(sentiment) !== 'flat';
    const waits = isEntry ? pricesIn(said, TRADERS_POST_PRICES, lost) : {};
    if (isUnclear(waits)) return waits;
    const isPriced = Object.keys(waits).length > 0;
    const type = plain(said.take('orderType'));
    said.drop('timeInForce');
    if (type !== '' && type !== 'market') lost.push(without('orderType', MARKET));
    else if (saw === null && price !== null && !isPriced)
      lost.push(without('price', 'no limit order is made of it; it only says which price the signal saw.'));
    said.drop('interval', 'extras');
    if (said.take('cancel') === 'false') lost.push(without('cancel', TAKEN_BACK));
    const rest = {
      symbol,
      ...priced(saw ?? price),
      ...timestamp('time', said.take('time'), lost),
    };

    const isWaiting = ['stop', 'stop_limit', 'trailing_stop'].includes(type);
    if (isWaiting) return unclear('orderType', WAITS);
    if (plain(action) === 'exit') {
      if (sentiment !== null) return unclear('sentiment', `with exit ${NO_SIDE}`);
      return quantity === null
        ? { fields: { ...rest, action: 'close' } }
        : unclear('quantity', PART_OF_WHICH);
    }
    if (plain(action) === 'cancel') return { fields: { ...rest, action: 'cancel' } };
    const side = sideOf(action);
    if (side === null) return unclear('action', plain(action) === 'add' ? NO_ORDER : NO_SIDE);
    const stance = stanceOf(sentiment);
    if (sentiment !== null && stance === null) return unclear('sentiment', NO_SIDE);
    if (quantity === null && stance === 'flat' && side !== ACTION)
      return closing(side === 'sell' ? 'long' : 'short', rest);
    if (counts === null) return unclear('quantityType', NO_SIZE);
    const units = amount(quantity);
    if (units === null) return unclear('quantity', NO_SIZE);
    const order = { ...rest, action: side, quantity: units, ...counts };
    const isOfUnits = counts.quantity_type === undefined;
    if (stance === 'flat') return { fields: { ...order, order_type: 'exit' } };
    if (stance !== SIDE)
      lost.push(
        without(
          'action',
          'where the position is held already, TradersPost does nothing; here it is added to.',
        ),
      );
    return {
      fields: {
        ...order,
        ...waits,
        ...(stance && { market_position: stance }),
        // Where the strategy stands counts units; and what waits for its price is of a quantity, and is not moved to a size.
        ...(isOfUnits && !isPriced ? ofStrategy(stance, units) : {}),
      },
    };
  },
  protect: ofTradersPost,
};

const threeCommas: ForeignService = {
  name: '3Commas',
  read(text) {
    const said = jsonFields(text);
    return said?.has('bot_uuid') || (said?.has('bot_id') && said.has('email_token')) ? said : null;
  },
  turn(said, lost) {
    said.drop('secret', 'email_token', 'tv_exchange');
    const isDca = said.has('bot_id');
    said.drop('bot_uuid', 'bot_id', 'message_type');
    if (said.take('max_lag') !== null)
      lost.push(without('max_lag', 'how old a signal may be is a setting of the account here.'));
    return isDca ? fromDcaBot(said, lost) : fromSignalBot(said, lost);
  },
  protect: ofThreeCommas,
};

const CASH = { quantity_type: 'cash' } as const;
const PART = { quantity_type: 'percent_of_position' } as const;

const OF_UNITS = 'it counts units, and the order counts money: the side alone would be sent.';

function fromSignalBot(said: ForeignFields, lost: string[]): Turning {
  const action = said.take('action');
  const order = said.takeFields('order');
  const unit = plain(order.take('currency_type'));
  const size = order.take('amount');
  const type = plain(order.take('order_type'));
  if (type !== '' && type !== 'market') lost.push(without('order_type', MARKET));
  lost.push(...order.left());
  const rest = {
    symbol: said.take('tv_instrument'),
    ...priced(said.take('trigger_price')),
    ...timestamp('timestamp', said.take('timestamp'), lost),
  };
  const isPart = unit === 'position_percent';
  const counts = isPart ? PART : unit === 'quote' ? CASH : {};
  const units = unit === 'base' || unit === 'quote' || isPart ? amount(size) : null;

  const [, does, direction] = /^(enter|exit)_(long|short)$/.exec(plain(action)) ?? [];
  if (does === 'exit' && (direction === 'long' || direction === 'short')) {
    if (isPart && size !== null && parseDecimal(size) === '100') return closing(direction, rest);
    return units === null
      ? unclear('order', `how much to close is not in the message. Send "action": "close_${direction}".`)
      : { fields: { ...rest, action: `${direction}_exit`, quantity: units, ...counts } };
  }
  if ((units === null || isPart) && (does === 'enter' || sideOf(action) !== null))
    return unclear(unit === '' ? 'order' : 'currency_type', NO_SIZE);
  if (does === 'enter')
    return { fields: { ...rest, action: `${direction}_entry`, quantity: units, ...counts } };
  const side = sideOf(action);
  if (side === null) return unclear('action', NO_ORDER);
  const info = said.takeFields('strategy_info');
  const fields: Record<string, unknown> = { ...rest, action: side, quantity: units, ...counts };
  // Their names of where the strategy stands are ours.
  for (const name of ['market_position', 'prev_market_position']) {
    const stance = info.take(name);
    if (stance === null) continue;
    fields[name] = stance;
    const held = info.take(`${name}_size`);
    if (held === null) continue;
    if (counts === CASH) lost.push(without(`${name}_size`, OF_UNITS));
    else fields[`${name}_size`] = isPlaceholder(held) ? held : numberIn(held);
  }
  if (fields.market_position === undefined) return unclear('strategy_info', NO_SIDE);
  lost.push(...info.left());
  return { fields: { ...fields, ...(side === ACTION && { id: ORDER_ID }) } };
}

/** 0 too; what is none is left for the reader of our own messages to refuse. */
function numberIn(text: string): number | string {
  const value = parseDecimal(text);
  return value === null ? text : toNumber(value);
}

function fromDcaBot(said: ForeignFields, lost: string[]): Turning {
  const action = said.take('action');
  const pair = said.take('pair');
  const delay = said.take('delay_seconds');
  if (delay !== null && delay !== '0') lost.push(without('delay_seconds', 'an order is sent at once here.'));
  if (plain(action) !== 'close_at_market_price')
    return unclear(
      action === null ? 'bot_id' : 'action',
      action === null
        ? 'what a deal trades is in the settings of the bot. Send "action", "symbol" and "quantity".'
        : NO_ORDER,
    );
  // USDT_BTC is BTCUSDT. A pair whose second half has the first in it is a contract of which we cannot tell the kind.
  const [, quote, base] = /^([A-Z0-9]{2,10})_([A-Z0-9]{1,20})$/.exec(pair ?? '') ?? [];
  if (quote === undefined || base === undefined || base.includes(quote))
    return unclear('pair', 'it does not say for certain which symbol. Send "symbol" as the chart shows it.');
  lost.push(without('bot_id', 'here the whole position in the symbol is closed, not one deal.'));
  return { fields: { action: 'close', symbol: `${base}${quote}`, timestamp: NOW } };
}

/** Several accounts of one message are a group here, which has an address of its own. */
function groupOf(accounts: string): string {
  const names = accounts
    .split(',')
    .map((name) => name.trim().slice(0, 32))
    .filter((name) => name !== '');
  const named = names.slice(0, 20).join(', ');
  return `several accounts are a group here: make one of ${named} on the page Groups (or by POST /trading/groups), and send this to its address. No account stands in the message.`;
}

const CROSS_TRADE_PRICES = {
  kind: 'order_type',
  limit: 'limit_price',
  stop: 'stop_price',
  timeInForce: 'tif',
} as const;

const crossTrade: ForeignService = {
  name: 'CrossTrade',
  read(text) {
    const said = text.includes(';') ? pairFields(text, ';') : null;
    return said?.has('key') && said.has('command') ? said : null;
  },
  turn(said, lost) {
    said.drop('key', 'comment', 'notes');
    const command = plain(said.take('command'));
    const account = said.take('account');
    if (account?.includes(',')) lost.push(without('account', groupOf(account)));
    const symbol = contract(said.take('instrument'), lost);
    const rest = { symbol, timestamp: NOW };
    const units = said.take('qty') ?? said.take('quantity');
    const isPlaced = command === 'place';
    const waits = isPlaced ? pricesIn(said, CROSS_TRADE_PRICES, lost) : {};
    if (isUnclear(waits)) return waits;
    const isPriced = Object.keys(waits).length > 0;
    const type = isPlaced ? '' : plain(said.take('order_type'));
    if (type !== '' && type !== 'market') lost.push(without('order_type', MARKET));
    else said.drop('tif');
    if (type.startsWith('stop')) return unclear('order_type', WAITS);
    if (command === 'cancelallorders' || command === 'cancelorders')
      return { fields: { ...rest, symbol: symbol ?? '*', action: 'cancel' } };

    if (command === 'flatten' || command === 'closeposition') {
      if (symbol === null) return unclear('instrument', 'which symbol to close is not said. Send "symbol".');
      return units === null && !said.has('percent')
        ? { fields: { ...rest, action: 'close' } }
        : unclear(units === null ? 'percent' : 'qty', PART_OF_WHICH);
    }
    const replaces = command === 'flatplace' || command === 'reverseposition';
    if (command !== 'place' && !replaces) return unclear('command', NO_ORDER);
    const flattens = plain(said.take('flatten_first')) === 'true' || replaces;
    const side = sideOf(said.take('action'));
    if (side === null) return unclear('action', NO_SIDE);
    const quantity = amount(units);
    if (quantity === null) return unclear('qty', NO_SIZE);
    const order = { ...rest, action: side, quantity, ...waits };

    const position = said.take('market_position');
    const before = said.take('prev_market_position');
    if (position !== null) {
      said.drop('sync_strategy');
      const stance = stanceOf(position);
      if (stance === null || flattens) return unclear(stance ? 'flatten_first' : 'market_position', NO_SIDE);
      const held = isPriced ? {} : ofStrategy(stance, quantity);
      const began = before === null ? {} : { prev_market_position: before };
      return { fields: { ...order, market_position: stance, ...began, ...held } };
    }
    if (!flattens) return { fields: order };
    if (side === ACTION || isPriced) return unclear('flatten_first', NO_SIDE);
    // Whatever was held, so much is held afterwards.
    const stance = side === 'buy' ? 'long' : 'short';
    return { fields: { ...order, market_position: stance, market_position_size: quantity } };
  },
  protect: ofCrossTrade,
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const MONTH_LETTERS = 'FGHJKMNQUVXZ';

/** "MNQ 06-25" and "MNQ JUN25" are MNQM2025 on the platform; every other name stays as it stands. */
function contract(instrument: string | null, lost: string[]): string | null {
  const [, root, month = '', year] =
    /^([A-Z0-9]{1,8}) (?=\S)(\d{2}-|[A-Z]{3})(\d{2})$/i.exec(instrument ?? '') ?? [];
  if (root === undefined || year === undefined) return instrument;
  const at = month.endsWith('-') ? Number(month.slice(0, 2)) - 1 : MONTHS.indexOf(month.toUpperCase());
  const letter = MONTH_LETTERS[at];
  if (letter === undefined) return instrument;
  const symbol = `${root.toUpperCase()}${letter}20${year}`;
  lost.push(
    without('instrument', `the contract is called ${symbol} on the chart; your broker has to know it.`),
  );
  return symbol;
}

const PINE_COMMAND = /^(?:buy|sell|long|short|bull|bear|close|exit|cancel|newsltp|ea)[a-z]*$/;

const pineConnector: ForeignService = {
  name: 'PineConnector',
  read(text) {
    const [license, command, symbol, ...others] = text.split(',').map((part) => part.trim());
    if (!/^\w{4,64}$/.test(license ?? '') || !command || !symbol || symbol.includes('=')) return null;
    if (!PINE_COMMAND.test(plain(command)) && command !== ACTION) return null;
    return pairFields([`command=${command}`, `symbol=${symbol}`, ...others].join(','), ',');
  },
  turn(said) {
    said.drop('secret');
    const command = plain(said.take('command'));
    const rest = { symbol: said.take('symbol'), timestamp: NOW };
    const [, side] = /^close(long|short)$/.exec(command) ?? [];
    if (side === 'long' || side === 'short')
      return said.has('comment') ? unclear('comment', WHOLE) : closing(side, rest);
    const isEntry = /^(?:buy|sell|long|short|bull(?:ish)?|bear(?:ish)?)$/.test(command) || command === ACTION;
    if (!isEntry) return unclear('command', NO_ORDER);
    said.drop('risk');
    return unclear(
      'risk',
      'whether it is lots, money or a share of the balance is a setting of the terminal. ' +
        'Send "quantity" with "quantity_type": units, cash, percent_of_equity, risk_cash or risk_percent.',
    );
  },
  protect: ofPineConnector,
};

export const FOREIGN_SERVICES: readonly ForeignService[] = [
  threeCommas,
  tradersPost,
  crossTrade,
  pineConnector,
];
