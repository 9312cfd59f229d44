// SinoPac's Shioaji server: the keys as a bearer, doubles for numbers, and HTTP 200 for refused orders too. It takes no id of
// its client: what came with an order is a word of six letters, which it does not give back. An order is answered before it is
// filled.
//
// Of an account here, `hedged` holds both sides of a contract, and `classic` is not signed for the API.

import {
  type Answer,
  type Dialect,
  isResting,
  type Listed,
  type Office,
  type Refs,
  type RefusalCode,
  type SeenOrder,
  type SeenPosition,
  type Taken,
  turnedAway,
  type Visit,
  type WireRequest,
} from '../../chaos/exchange-dialect.ts';
import type { Holder } from '../../chaos/exchange-standing.ts';
import { absolute, decimal, sign, subtract, ZERO } from '../../src/domain/decimal.ts';
import { FOR_EVER, header, mayComeFrom, openly, quantityOf, visit } from './wire.ts';

interface Contract extends Listed {
  readonly name: string;
  readonly exchange: 'TAIFEX' | 'TSE' | 'OTC';
  /** Of futures. */
  readonly month?: string;
  readonly multiplier?: number;
}

/** A step of what is behind it is a lot, or a contract: what is filled in part is whole. */
const listed = (symbol: string, name: string, of: string): Contract => ({
  symbol,
  name,
  of,
  exchange: 'TSE',
  contractSize: decimal(1),
  step: decimal(1),
  min: decimal(1),
  minValue: ZERO,
  tick: decimal(1),
  isSuspended: false,
});

/** Behind them is what trades around the clock. */
const month = (symbol: string, name: string, of: string, delivery: string, multiplier: number): Contract => ({
  ...listed(symbol, `${name} ${delivery}`, of),
  exchange: 'TAIFEX',
  month: delivery,
  multiplier,
});

const CONTRACTS: readonly Contract[] = [
  month('TXFL6', '臺股期貨', 'TXF1!', '202612', 200),
  month('TXFA7', '臺股期貨', 'ES1!', '202701', 200),
  month('MXFL6', '小型臺指期貨', 'MES1!', '202612', 50),
  listed('2330', '台積電', 'DOGEUSDT'),
  { ...listed('6488', '環球晶', 'ADAUSDT'), exchange: 'OTC' },
  { ...month('CDFL6', '台積電期貨', 'TXF1!', '202612', 2000), isSuspended: true },
];

/** What the continuous months stand for. */
const CONTINUOUS: Readonly<Record<string, string>> = { TXFR1: 'TXFL6', TXFR2: 'TXFA7', MXFR1: 'MXFL6' };

const REFS: Refs = {
  tell: (digest) => digest.slice(0, 8),
  read: (ref) => (/^[\da-f]{8}$/.test(ref) ? ref : null),
};

const said = (body: object): Answer => ({ status: 200, body });
const fault = (status: number, message: string): Answer => ({
  status,
  body: { code: status, message, details: null },
});
const BAD_KEY = fault(401, 'Invalid API credentials');
const busy = (ms: number): Answer => ({
  ...fault(429, 'Too many requests'),
  headers: { 'retry-after': `${Math.ceil(ms / 1000)}` },
});

/** With HTTP 200, in the order's own status; an Answer: not even that. */
const REFUSALS: Record<RefusalCode, string | Answer> = {
  insufficient_margin: '圈存失敗，餘額不足',
  market_closed: '非委託時間',
  invalid_symbol: '無此商品代碼',
  below_minimum: fault(422, '委託數量有錯'),
  off_step: fault(422, '委託數量有錯'),
  invalid_quantity: '委託數量超過上限',
  broker_rate_limited: busy(2_000),
  // Nobody is asked for a side there.
  position_mode_mismatch: '交易條件值有錯',
  no_position: '平倉口數不足',
  expired: '委託已失效',
  duplicate: '系統有誤,請洽客服人員',
  // Nothing waits for a price there.
  would_trigger: '交易條件值有錯',
};

const STATES: Record<SeenOrder['status'], string> = {
  placed: 'Submitted',
  partially_filled: 'PartFilled',
  filled: 'Filled',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

const contractOf = (symbol: string): Contract | undefined => CONTRACTS.find((each) => each.symbol === symbol);

const tellContract = ({ symbol, name, exchange, month: delivery }: Contract) => ({
  security_type: delivery ? 'FUT' : 'STK',
  region: 'TW',
  exchange,
  code: symbol,
  target_code: null,
  name,
});

const tellContinuous = (code: string) => ({
  ...tellContract(contractOf(CONTINUOUS[code] ?? '') as Contract),
  code,
  target_code: CONTINUOUS[code],
});

/** By the clock on the wall there, without a zone. */
const taipeiTime = (now: number): string => new Date(now + 8 * 3_600_000).toISOString().slice(0, 19);

const tellMonth = (contract: Contract) => ({
  ...tellContract(contract),
  root: contract.symbol.slice(0, 3),
  delivery_month: contract.month,
  multiplier: contract.multiplier,
  contract_size: contract.multiplier,
  tick: 1,
  reference: 22_000,
});

interface Told {
  readonly symbol: string;
  readonly side: 'buy' | 'sell';
  readonly quantity: string;
}

const tellOf = ({ symbol, side, quantity }: Told, id: string) => {
  const { security_type = 'FUT', exchange = 'TAIFEX' } = tellContract(contractOf(symbol) as Contract) ?? {};
  return {
    contract: { security_type, exchange, code: symbol, target_code: null },
    order: {
      id,
      seqno: id.slice(0, 6),
      ordno: id.slice(2),
      action: side === 'buy' ? 'Buy' : 'Sell',
      price: 0,
      quantity: Number(quantity),
      price_type: 'MKT',
      order_type: 'IOC',
    },
  };
};

const tellTrade = (order: SeenOrder) => ({
  ...tellOf(order, order.ref),
  status: {
    id: order.ref,
    status: STATES[order.status],
    status_code: '00',
    order_ts: order.acceptedAt / 1000,
    order_quantity: Number(order.quantity),
    deal_quantity: Number(order.fillQuantity),
    cancel_quantity: order.status === 'cancelled' ? Number(subtract(order.quantity, order.fillQuantity)) : 0,
    modified_price: 0,
    msg: order.status === 'failed' ? (order.reason ?? '') : '',
    deals: order.fillPrice
      ? [
          {
            seq: '000001',
            price: Number(order.fillPrice),
            quantity: Number(order.fillQuantity),
            ts: order.updatedAt / 1000,
          },
        ]
      : [],
  },
});

/** It is passed on; what comes of it is for later. */
const tellPending = (order: SeenOrder) => {
  const trade = tellTrade(order);
  const nothing = { deal_quantity: 0, cancel_quantity: 0, deals: [], msg: '' };
  return { ...trade, status: { ...trade.status, ...nothing, status: 'PendingSubmit' } };
};

function tellRefused(order: Told, msg: string, now: number) {
  const status = { id: '00000000', status: 'Failed', status_code: '99', order_ts: now / 1000, msg };
  const nothing = { order_quantity: 0, deal_quantity: 0, cancel_quantity: 0, modified_price: 0, deals: [] };
  return { ...tellOf(order, '00000000'), status: { ...status, ...nothing } };
}

const tellPosition = (
  { symbol, quantity, averagePrice, lastPrice, openProfit }: SeenPosition,
  id: number,
) => ({
  id,
  code: symbol,
  direction: sign(quantity) < 0 ? 'Sell' : 'Buy',
  quantity: Number(absolute(quantity)),
  price: Number(averagePrice),
  last_price: Number(lastPrice),
  pnl: Number(openProfit),
  ...(contractOf(symbol)?.month ? {} : { yd_quantity: 0, cond: 'Cash' }),
});

const BOTH_SIDES = ['Buy', 'Sell'].map((direction, id) => ({
  id,
  code: 'TXFL6',
  direction,
  quantity: 1,
  price: 22_000,
  last_price: 22_000,
  pnl: 0,
}));

interface Placing {
  readonly contract?: { readonly security_type?: string; readonly exchange?: string; readonly code?: string };
  readonly futures_order?: Terms;
  readonly stock_order?: Terms;
}

interface Terms {
  readonly action?: string;
  readonly price?: number;
  readonly quantity?: number;
  readonly price_type?: string;
  readonly order_type?: string;
  readonly octype?: string;
  readonly custom_field?: string;
}

const jsonOf = (body: string): Record<string, unknown> => {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return {};
  }
};

let nameless = 0;

function readOrder(office: Office, holder: Holder, asked: Placing): Visit {
  const { contract = {}, futures_order, stock_order } = asked;
  const isFuture = contract.security_type === 'FUT';
  const terms = isFuture ? futures_order : stock_order;
  const { action, price_type, order_type, quantity, custom_field } = terms ?? {};
  if (!terms || typeof quantity !== 'number' || (action !== 'Buy' && action !== 'Sell'))
    return turnedAway(fault(422, 'field required'));
  if (price_type !== 'MKT' || order_type !== 'IOC' || typeof terms.price !== 'number')
    return turnedAway(fault(400, 'this stub takes market orders, immediate or cancelled'));
  if (isFuture && terms.octype !== 'Auto' && terms.octype !== 'Cover')
    return turnedAway(fault(422, 'Invalid FuturesOCType'));
  const symbol = contract.code ?? '';
  if (contractOf(symbol)?.exchange !== contract.exchange) return turnedAway(fault(404, 'Contract not found'));
  const order = { symbol, side: action === 'Buy' ? 'buy' : 'sell', quantity: `${quantity}` } as const;
  return {
    what: 'order',
    account: holder.account,
    order: {
      ...order,
      quantity: quantityOf(order.quantity),
      // Nobody keeps it apart but this stub.
      clientOrderId: custom_field ?? `nameless${++nameless}`,
      reduceOnly: terms.octype === 'Cover',
      sendBefore: FOR_EVER,
    },
    tell(taken: Taken) {
      if (taken.outcome === 'accepted') return said(tellPending(taken.order));
      const refusal = REFUSALS[taken.code];
      return typeof refusal === 'string' ? said(tellRefused(order, refusal, office.now())) : refusal;
    },
  };
}

function answerTo(office: Office, holder: Holder, request: WireRequest): Visit {
  const { method, path, query, body } = request;
  const { account, standing } = holder;
  const call = { holder };
  const [room = '', name = '', code] = path.split('/').slice(3).map(decodeURIComponent);
  const asked = jsonOf(body);
  // Options too are in the account for futures.
  const isOf = (symbol: string) =>
    (asked.account_type === 'F') === (contractOf(symbol)?.month !== undefined || symbol.startsWith('TXO'));
  if (`${method} ${room}/${name}` === 'GET data/contracts')
    return visit('other', call, () => contracts(query, code));
  switch (`${method} ${room}/${name}`) {
    case 'GET auth/accounts':
      return visit('other', call, () =>
        said(
          ['F', 'S'].map((account_type) => ({
            account_type,
            person_id: 'A100000000',
            broker_id: account_type === 'F' ? 'F002000' : '9A95',
            account_id: '1234567',
            signed: standing.accountType !== 'classic',
            username: 'somebody',
          })),
        ),
      );
    case 'POST data/snapshots': {
      const [{ code: wanted = '' } = {}] = (asked.contracts ?? []) as { code?: string }[];
      return visit('other', call, () => {
        if (!contractOf(wanted)) return said([]);
        const { bid, ask } = office.quote(wanted);
        const close = Number(bid);
        return said([
          {
            datetime: taipeiTime(office.now()),
            code: wanted,
            close,
            buy_price: close,
            sell_price: Number(ask),
          },
        ]);
      });
    }
    case 'POST order/place_order':
      return standing.permissions.includes('trade')
        ? readOrder(office, holder, asked as Placing)
        : turnedAway(fault(401, "Token doesn't have permission"));
    case 'POST order/trades':
      return visit('look_up', call, async () =>
        said((await office.orders(account)).filter(({ symbol }) => isOf(symbol)).map(tellTrade)),
      );
    case 'POST order/cancel_order':
      return visit('other', call, async () => {
        const ref = String(asked.trade_id);
        const isCancelled = await office.cancel(account, ref);
        const order = await office.findByRef(account, ref);
        if (!order) return fault(404, `Trade ${ref} not found in cache`);
        return isCancelled || isResting(order)
          ? said(tellTrade(order))
          : fault(400, '該委託書已完全成交，不可刪單/改單或改價');
      });
    case 'POST portfolio/position_unit':
      return visit('positions', call, async () => {
        if (standing.positionMode === 'hedged' && asked.account_type === 'F') return said(BOTH_SIDES);
        const held = await office.positions(account);
        return said(held.filter(({ symbol }) => isOf(symbol)).map(tellPosition));
      });
    case 'POST portfolio/margin':
      return visit('other', call, async () => {
        const { equity, cash, available } = await office.balance(account);
        return said({
          yesterday_balance: Number(cash),
          today_balance: Number(cash),
          equity: Number(equity),
          available_margin: Number(available),
        });
      });
    default:
      return turnedAway(fault(404, `there is no ${method} ${path} in this stub`));
  }
}

function contracts(query: URLSearchParams, code: string | undefined): Answer {
  if (code === 'futures') {
    const months = CONTRACTS.filter(
      ({ symbol, month: delivery }) => delivery && symbol.startsWith(`${query.get('root')}`),
    );
    const continuous = Object.keys(CONTINUOUS).filter((each) => each.startsWith(`${query.get('root')}`));
    return said([
      ...months.map(tellMonth),
      ...continuous.map((each) => ({ ...tellContinuous(each), delivery_month: '', multiplier: 0, tick: 0 })),
    ]);
  }
  if (code !== undefined) {
    if (code in CONTINUOUS) return said(tellContinuous(code));
    const contract = contractOf(code);
    return contract ? said(tellContract(contract)) : fault(404, 'Contract not found');
  }
  const type = query.get('security_type');
  const found = CONTRACTS.map(tellContract).filter(({ security_type }) => security_type === type);
  const continuous = type === 'FUT' ? Object.keys(CONTINUOUS).map(tellContinuous) : [];
  return said({
    contracts: [...found, ...continuous],
    security_type: type,
    region: 'TW',
    total: found.length,
  });
}

export const shioaji: Dialect = {
  roots: ['api'],
  traits: {
    refusesDuplicates: false,
    reduceOnly: false,
    fillsAfterMs: null,
    forgetsIdsAfterMs: null,
    limits: 'shioaji',
  },
  markets: CONTRACTS,
  refs: REFS,
  idFields: ['id', 'seqno', 'ordno'],
  busy,
  down: (problem) => fault(503, problem),
  denied: BAD_KEY,
  sample: said(tellRefused({ symbol: 'TXFL6', side: 'buy', quantity: '1' }, '', 0)),
  open: (office) => (request) => {
    if (request.path === '/api/v1/info')
      return openly(() =>
        said({ name: 'Shioaji API Server', version: '1.7.0', protocols: ['HTTP'], simulation: false }),
      );
    const bearer = header(request, 'authorization');
    if (!bearer) return turnedAway(fault(401, 'Missing Authorization header'));
    const [, key = '', secret = ''] = /^Bearer ([^:]*):(.*)$/.exec(bearer) ?? [];
    const holder = office.holderOf(key);
    if (!holder || holder.standing.apiSecret !== secret) return turnedAway(BAD_KEY);
    if (!mayComeFrom(holder, request.address))
      return turnedAway(fault(401, `ip: ${request.address} not allow.`));
    return answerTo(office, holder, request);
  },
};
