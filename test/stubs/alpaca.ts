// Alpaca's trading API, and the latest quote of its market data, at one address: a key and its secret in headers, texts for
// numbers, `{code, message}` for refusals. An order is answered before it is filled. Ids of the client are unique for ever.

import {
  type Answer,
  type Dialect,
  type Listed,
  type Office,
  type SeenPosition,
  turnedAway,
  UUIDS,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import type { Holder } from '../../chaos/exchange-standing.ts';
import {
  absolute,
  add,
  type Decimal,
  decimal,
  multiply,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { type Book, type Entry, entryOf, isOpenEntry, openBook, tellEntry, uuidOf } from './alpaca-orders.ts';
import { busy, keepers, keptBy, noOrder, placing, replacing, said, unfit } from './alpaca-requests.ts';
import { alpacaStream } from './streams.ts';
import { header, mayComeFrom, visit } from './wire.ts';

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
  // Of a whole order whole shares are traded.
  part: decimal(1),
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

const NOT_ALLOWED: Answer = { status: 403, body: { message: 'forbidden.' } };

const iso = (ms: number) => new Date(ms).toISOString();

/** `kept`: what orders that rest would sell of it, or buy back. */
const tellPosition = (
  { symbol, quantity, averagePrice, lastPrice, openProfit }: SeenPosition,
  kept: Decimal,
) => ({
  asset_id: uuidOf(symbol),
  symbol,
  exchange: 'NASDAQ',
  asset_class: SHARES.some((share) => share.symbol === symbol) ? 'us_equity' : 'crypto',
  asset_marginable: true,
  qty: quantity,
  qty_available: sign(quantity) < 0 ? add(quantity, kept) : subtract(quantity, kept),
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
  id: uuidOf(symbol),
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
    id: uuidOf(account),
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

/** With its legs where it is asked for so: of those that were replaced, the first. */
const rolledUp = (entry: Entry, entries: readonly Entry[], query: URLSearchParams) =>
  tellEntry(
    entry,
    query.get('nested') === 'true'
      ? entries.filter(({ parent, replaces }) => parent === entry.id && replaces === null)
      : null,
  );

function listOf(entries: readonly Entry[], query: URLSearchParams): object[] {
  const symbols = query.get('symbols')?.split(',');
  const rows = entries
    // What waits beside a target is not listed as open.
    .filter((entry) => isOpenEntry(entry) && entry.status !== 'held')
    .filter(({ symbol }) => symbols === undefined || symbols.includes(symbol))
    .map((entry) => rolledUp(entry, entries, query));
  const inOrder = query.get('direction') === 'asc' ? rows : rows.toReversed();
  return inOrder.slice(0, Number(query.get('limit') ?? 50));
}

async function answerTo(
  { office, book, holder, isOpen }: { office: Office; book: Book; holder: Holder; isOpen: boolean },
  request: WireRequest,
): Promise<Visit> {
  const { method, path, query } = request;
  const { account, standing } = holder;
  const [, room = '', name = '', ...rest] = path.split('/').slice(1).map(decodeURIComponent);
  const call = { holder };
  const entries = () => book.entries(account);
  const desk = { office, book, holder };
  switch (`${method} ${room}${name ? '/' : ''}`) {
    case 'GET account':
      return visit('other', call, async () => said(await tellAccount(office, holder)));
    case 'GET clock':
      return visit('other', call, () => said(tellClock(office.now(), isOpen)));
    case 'GET assets':
      return visit('other', call, () => said(SHARES.map(tellAsset)));
    case 'GET positions':
      return visit('positions', call, async () => {
        const [held, resting] = [await office.positions(account), await entries()];
        return said(
          held.map((position) => {
            const closing = sign(position.quantity) < 0 ? 'buy' : 'sell';
            return tellPosition(position, keptBy(keepers(resting, position.symbol, closing)));
          }),
        );
      });
    case 'POST orders':
      return standing.permissions.includes('trade') ? placing(desk, request) : turnedAway(NOT_ALLOWED);
    case 'PATCH orders/':
      return standing.permissions.includes('trade')
        ? replacing(desk, name, request)
        : turnedAway(NOT_ALLOWED);
    case 'GET orders':
      return visit('look_up', call, async () => said(listOf(await entries(), query)));
    case 'GET orders:by_client_order_id': {
      const id = query.get('client_order_id') ?? '';
      return visit('look_up', call, async () => {
        const known = (await entries()).find(({ clientOrderId }) => clientOrderId === id);
        // Who looks for an order is written down.
        const order = known?.stop && !known.waits ? null : await office.find(account, id);
        if (known) return said(tellEntry(known));
        return order ? said(tellEntry(entryOf(order))) : noOrder(id);
      });
    }
    case 'GET orders/':
      return visit('look_up', call, async () => {
        const all = await entries();
        const known = all.find(({ id }) => id === name);
        if (known) return said(rolledUp(known, all, query));
        const order = await office.findByRef(account, name);
        return order ? said(tellEntry(entryOf(order))) : noOrder(name);
      });
    case 'DELETE orders/':
      return visit('cancel', call, async () => {
        const all = await entries();
        const known = all.find(({ id }) => id === name);
        if (!known) return noOrder(name);
        if (!isOpenEntry(known)) return unfit(`order is already in "${known.status}" state`);
        // One leg ends the other.
        const ended =
          known.parent === null && known.stop !== null && !known.waits
            ? await office.removeStop(account, known.ref)
            : await office.cancel(account, known.parent ?? known.ref);
        return ended ? { status: 204, body: {} } : unfit('order is not cancelable');
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
  // A stop outlives its position, and is taken where there is none: it would be a short sale that waits.
  manners: () => ({ reserves: true, endsWithPosition: false, stopsNeedPosition: false }),
  stream: alpacaStream((order) => tellEntry(entryOf(order))),
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
  open(office, desk) {
    // Alpaca takes what comes while the market is closed: only its clock tells.
    const isOpenAt = (account: AccountId) => {
      const { paper } = desk.registered(account);
      return (paper as { reject?: unknown } | undefined)?.reject !== 'market_closed';
    };
    const book = openBook(office, isOpenAt);
    return (request) => {
      const holder = office.holderOf(header(request, 'apca-api-key-id'));
      const isRight = holder?.standing.apiSecret === header(request, 'apca-api-secret-key');
      if (!holder || !isRight || !mayComeFrom(holder, request.address)) return turnedAway(NOT_ALLOWED);
      return answerTo({ office, book, holder, isOpen: isOpenAt(holder.account) }, request);
    };
  },
};
