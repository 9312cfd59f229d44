// Alpaca's trading API, and the latest quote of its market data, at one address: a key and its secret in headers, texts for
// numbers, `{code, message}` for refusals. An order is answered before it is filled. Ids of the client are unique for ever.

import { createHash } from 'node:crypto';
import {
  type Answer,
  type Dialect,
  type Holder,
  isResting,
  type Listed,
  type Office,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  type Taken,
  turnedAway,
  UUIDS,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import { absolute, decimal, multiply, sign, ZERO } from '../../src/domain/decimal.ts';
import { alpacaStream } from './streams.ts';
import { FOR_EVER, header, mayComeFrom, quantityOf, visit } from './wire.ts';

interface Share extends Listed {
  readonly name: string;
  readonly isFractionable: boolean;
}

/** Behind them is what trades around the clock: tests are run on Sundays too. */
const share = (symbol: string, name: string, of: string, step = 0.001): Share => ({
  symbol,
  name,
  of,
  contractSize: decimal(1),
  step: decimal(step),
  min: decimal(step),
  minValue: ZERO,
  tick: decimal('0.01'),
  isSuspended: false,
  isFractionable: step < 1,
});

const SHARES: readonly Share[] = [
  share('AAPL', 'Apple Inc. Common Stock', 'SOLUSDT'),
  share('AMZN', 'Amazon.com, Inc. Common Stock', 'LTCUSDT'),
  share('BRK.B', 'Berkshire Hathaway Inc. Class B', 'BNBUSDT'),
  share('GME', 'GameStop Corporation', 'LINKUSDT', 1),
  share('MSFT', 'Microsoft Corporation Common Stock', 'ETHUSDT'),
  share('SPY', 'State Street SPDR S&P 500 ETF Trust', 'AVAXUSDT', 0.01),
  { ...share('TWTR', 'Twitter, Inc.', 'ADAUSDT', 1), isSuspended: true },
];

const said = (body: object): Answer => ({ status: 200, body });
const refused = (status: number, code: number, message: string, more: object = {}): Answer => ({
  status,
  body: { code, message, ...more },
});
const NOT_ALLOWED: Answer = { status: 403, body: { message: 'forbidden.' } };
const noOrder = (id: string) => refused(404, 40410000, `order not found for ${id}`);

const busy = (ms: number): Answer => ({
  status: 429,
  body: { message: 'too many requests.' },
  headers: {
    'x-ratelimit-limit': '200',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': `${Math.ceil((Date.now() + ms) / 1000)}`,
  },
});

const REFUSALS: Record<RefusalCode, (symbol: string) => Answer> = {
  insufficient_margin: () =>
    refused(403, 40310000, 'insufficient buying power', { buying_power: '0', cost_basis: '1000' }),
  market_closed: (symbol) => refused(422, 42210000, `asset ${symbol} is not active`),
  invalid_symbol: (symbol) => refused(422, 42210000, `asset "${symbol}" not found`),
  below_minimum: () => refused(403, 40310000, 'cost basis must be >= minimal amount of order 1'),
  off_step: () => refused(422, 40010001, 'qty must be integer'),
  invalid_quantity: () => refused(422, 42210000, 'qty must be > 0'),
  broker_rate_limited: () => busy(2_000),
  // Nobody is hedged there.
  position_mode_mismatch: () =>
    refused(403, 40310000, 'position intent mismatch, inferred: sell_to_open, specified: sell_to_close'),
  no_position: () =>
    refused(403, 40310000, 'insufficient qty available for order (requested: 1, available: 0)'),
  expired: () => refused(422, 42210000, 'the order is too old'),
  duplicate: () => refused(422, 40010001, 'client_order_id must be unique'),
};

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'new',
  partially_filled: 'partially_filled',
  filled: 'filled',
  cancelled: 'canceled',
  failed: 'rejected',
};

const iso = (ms: number) => new Date(ms).toISOString();
const assetId = (symbol: string) =>
  UUIDS.tell(createHash('sha256').update(symbol).digest('hex').slice(0, 32));

const tellOrder = (order: SeenOrder) => ({
  id: order.ref,
  client_order_id: order.clientOrderId,
  created_at: iso(order.acceptedAt),
  updated_at: iso(order.updatedAt),
  submitted_at: iso(order.acceptedAt),
  filled_at: order.status === 'filled' ? iso(order.updatedAt) : null,
  expired_at: null,
  canceled_at: order.status === 'cancelled' ? iso(order.updatedAt) : null,
  failed_at: order.status === 'failed' ? iso(order.updatedAt) : null,
  replaced_at: null,
  replaced_by: null,
  replaces: null,
  asset_id: assetId(order.symbol),
  symbol: order.symbol,
  asset_class: 'us_equity',
  notional: null,
  qty: order.quantity,
  filled_qty: order.fillQuantity,
  filled_avg_price: order.fillPrice,
  order_class: '',
  order_type: 'market',
  type: 'market',
  side: order.side,
  position_intent: order.side === 'buy' ? 'buy_to_open' : 'sell_to_open',
  time_in_force: 'day',
  limit_price: null,
  stop_price: null,
  status: STATES[order.status],
  extended_hours: false,
  legs: null,
  trail_percent: null,
  trail_price: null,
  hwm: null,
});

/** It is taken; what comes of it is for later. */
const tellPending = (order: SeenOrder) => ({
  ...tellOrder(order),
  status: 'pending_new',
  filled_qty: '0',
  filled_avg_price: null,
  filled_at: null,
  canceled_at: null,
  failed_at: null,
});

const tellPosition = ({ symbol, quantity, averagePrice, lastPrice, openProfit }: SeenPosition) => ({
  asset_id: assetId(symbol),
  symbol,
  exchange: 'NASDAQ',
  asset_class: SHARES.some((share) => share.symbol === symbol) ? 'us_equity' : 'crypto',
  asset_marginable: true,
  qty: quantity,
  qty_available: quantity,
  avg_entry_price: averagePrice,
  side: sign(quantity) < 0 ? 'short' : 'long',
  market_value: multiply(quantity, lastPrice),
  cost_basis: multiply(quantity, averagePrice),
  unrealized_pl: openProfit,
  unrealized_plpc: '0',
  unrealized_intraday_pl: openProfit,
  unrealized_intraday_plpc: '0',
  current_price: lastPrice,
  lastday_price: lastPrice,
  change_today: '0',
});

const tellAsset = ({ symbol, name, isFractionable }: Share) => ({
  id: assetId(symbol),
  class: 'us_equity',
  exchange: 'NASDAQ',
  symbol,
  name,
  status: 'active',
  tradable: true,
  marginable: true,
  maintenance_margin_requirement: 30,
  margin_requirement_long: '30',
  margin_requirement_short: '30',
  shortable: true,
  easy_to_borrow: true,
  fractionable: isFractionable,
  attributes: [],
});

async function tellAccount(office: Office, { account }: Holder) {
  const { equity, cash, available } = await office.balance(account);
  return {
    id: assetId(account),
    account_number: 'PA0000000001',
    status: 'ACTIVE',
    currency: 'USD',
    cash,
    equity,
    buying_power: available,
    portfolio_value: equity,
    long_market_value: absolute(ZERO),
    short_market_value: '0',
    multiplier: '2',
    account_blocked: false,
    trading_blocked: false,
    transfers_blocked: false,
    trade_suspended_by_user: false,
    shorting_enabled: true,
    created_at: '2024-01-02T15:04:05Z',
  };
}

const HOUR = 3_600_000;
const tellClock = (now: number, isOpen: boolean) => ({
  timestamp: iso(now),
  is_open: isOpen,
  next_open: iso(now + (isOpen ? 20 : 1) * HOUR),
  next_close: iso(now + (isOpen ? 1 : 7) * HOUR),
});

interface Placing {
  readonly symbol?: string;
  readonly qty?: string;
  readonly side?: string;
  readonly type?: string;
  readonly time_in_force?: string;
  readonly client_order_id?: string;
}

function readOrder(holder: Holder, { body }: WireRequest): Visit {
  let asked: Placing;
  try {
    asked = JSON.parse(body) as Placing;
  } catch {
    return turnedAway(refused(400, 40010000, 'request body format is invalid'));
  }
  const { symbol = '', qty, side, type, time_in_force, client_order_id } = asked;
  if (side !== 'buy' && side !== 'sell') return turnedAway(refused(422, 40010001, 'invalid side'));
  if (type !== 'market' || time_in_force !== 'day' || typeof qty !== 'string' || !client_order_id)
    return turnedAway(refused(422, 40010001, 'this stub takes market orders for the day, with an id'));
  return {
    what: 'order',
    account: holder.account,
    order: {
      clientOrderId: client_order_id,
      symbol,
      side,
      quantity: quantityOf(qty),
      reduceOnly: false,
      sendBefore: FOR_EVER,
    },
    tell: (taken: Taken) =>
      taken.outcome === 'accepted' ? said(tellPending(taken.order)) : REFUSALS[taken.code](symbol),
  };
}

function answerTo(office: Office, holder: Holder, isOpen: boolean, request: WireRequest): Visit {
  const { method, path, query } = request;
  const { account } = holder;
  const [, room = '', name = '', ...rest] = path.split('/').slice(1).map(decodeURIComponent);
  const call = { holder };
  const found = (order: SeenOrder | null, id: string) => (order ? said(tellOrder(order)) : noOrder(id));
  switch (`${method} ${room}${name ? '/' : ''}`) {
    case 'GET account':
      return visit('other', call, async () => said(await tellAccount(office, holder)));
    case 'GET clock':
      return visit('other', call, () => said(tellClock(office.now(), isOpen)));
    case 'GET assets':
      return visit('other', call, () => said(SHARES.map(tellAsset)));
    case 'GET positions':
      return visit('positions', call, async () => said((await office.positions(account)).map(tellPosition)));
    case 'POST orders':
      return holder.standing.permissions.includes('trade')
        ? readOrder(holder, request)
        : turnedAway(NOT_ALLOWED);
    case 'GET orders':
      return visit('look_up', call, async () =>
        said((await office.orders(account)).filter(isResting).toReversed().map(tellOrder)),
      );
    case 'GET orders:by_client_order_id': {
      const id = query.get('client_order_id') ?? '';
      return visit('look_up', call, async () => found(await office.find(account, id), id));
    }
    case 'GET orders/':
      return visit('look_up', call, async () => found(await office.findByRef(account, name), name));
    case 'DELETE orders/':
      return visit('other', call, async () => {
        if (await office.cancel(account, name)) return { status: 204, body: {} };
        const order = await office.findByRef(account, name);
        return order
          ? refused(422, 42210000, `order is already in "${STATES[order.status]}" state`)
          : noOrder(name);
      });
    case 'GET stocks/':
      return visit('other', call, () => {
        if (rest.join('/') !== 'quotes/latest' || !SHARES.some(({ symbol }) => symbol === name))
          return { status: 404, body: { message: `invalid symbol: ${name}` } };
        const { bid, ask } = office.quote(name);
        const quote = {
          t: iso(office.now()),
          ax: 'V',
          ap: Number(ask),
          as: 1,
          bx: 'V',
          bp: Number(bid),
          bs: 1,
        };
        return said({ symbol: name, quote: { ...quote, z: 'C' } });
      });
    default:
      return turnedAway({ status: 404, body: { message: `there is no ${method} ${path} in this stub` } });
  }
}

export const alpaca: Dialect = {
  roots: ['v2'],
  traits: {
    refusesDuplicates: true,
    reduceOnly: false,
    fillsAfterMs: null,
    forgetsIdsAfterMs: null,
    limits: null,
  },
  stream: alpacaStream(tellOrder),
  markets: SHARES,
  refs: UUIDS,
  idFields: ['id', 'client_order_id'],
  busy,
  down: (message) => ({ status: 503, body: { message } }),
  denied: NOT_ALLOWED,
  sample: said({
    id: 'none',
    client_order_id: 'none',
    symbol: 'AAPL',
    status: 'new',
    qty: '1',
    filled_qty: '0',
  }),
  open: (office, desk) => (request) => {
    const holder = office.holderOf(header(request, 'apca-api-key-id'));
    const isRight = holder?.standing.apiSecret === header(request, 'apca-api-secret-key');
    if (!holder || !isRight || !mayComeFrom(holder, request.address)) return turnedAway(NOT_ALLOWED);
    // Alpaca takes what comes while the market is closed: only its clock tells.
    const { paper } = desk.registered(holder.account);
    const isOpen = (paper as { reject?: unknown } | undefined)?.reject !== 'market_closed';
    return answerTo(office, holder, isOpen, request);
  },
};
