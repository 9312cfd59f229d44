// The stops of a unified account at Bitget (v3): strategy orders of the type tpsl, of the whole position (`full`, one for a symbol,
// whoever set it) or of a quantity (`partial`). One that triggers has a sub-order. Assumed until it is tried: posSide is asked
// for in one-way mode too; a quantity is refused with `full`, must be sent to modify, and is not shown of one for the whole
// position; a stop beyond the average price of entry is refused. Targets are not kept.

import {
  type Answer,
  type AskedStop,
  type Office,
  type SeenStop,
  type StopRefusalCode,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { absolute, add, compare, type Decimal, sign, ZERO } from '../../src/domain/decimal.ts';
import { busy, isListed, isPrice, REFUSALS, refused, said } from './bitget-words.ts';
import { type Call, type Params, quantityOf, type Routes, visit } from './wire.ts';

const WRONG_SIDE: Record<SeenStop['side'], Record<SeenStop['triggerBy'], () => Answer>> = {
  sell: {
    last: () =>
      refused(
        25586,
        'For long position TP/SL (close long), the stop-loss trigger price must be less than the latest price',
      ),
    mark: () =>
      refused(
        25590,
        'For long position TP/SL (close long), the stop-loss trigger price must be less than the mark price',
      ),
  },
  buy: {
    last: () =>
      refused(
        25588,
        'For short position TP/SL (close short), the stop-loss trigger price must be greater than the latest price',
      ),
    mark: () =>
      refused(
        25592,
        'For short position TP/SL (close short), the stop-loss trigger price must be greater than the mark price',
      ),
  },
};
const BEYOND_ENTRY: Record<SeenStop['side'], () => Answer> = {
  sell: () =>
    refused(
      25580,
      'For long position TP/SL (close long), the stop-loss trigger price must be less than the average entry price',
    ),
  buy: () =>
    refused(
      25582,
      'For short position TP/SL (close short), the stop-loss trigger price must be greater than the average entry price',
    ),
};
const OFF_TICK = () => refused(25607, 'Stop-loss trigger price does not meet precision requirements');
const GONE = () => refused(25597, 'Strategy does not exist or has already been stopped');

const STOP_REFUSALS: Record<Exclude<StopRefusalCode, 'would_trigger'>, () => Answer> = {
  no_position: () => refused(25601, 'Position does not exist; cannot set TP/SL'),
  reserved: () => refused(25225, 'Insufficient available quantity in position'),
  second: () => refused(25594, 'Only one TP/SL can be set for all positions of the current symbol'),
  invalid_symbol: () => refused(25100, 'Trading pair does not exist'),
  off_tick: OFF_TICK,
  off_step: () => refused(25610, 'Order amount does not meet precision requirements'),
  market_closed: REFUSALS.market_closed,
  broker_rate_limited: busy,
  duplicate: () => refused(25212, 'Duplicate clientOid'),
  not_found: GONE,
  refused: () =>
    refused(25599, 'Maximum number of active TP/SL orders for this symbol is 20; cannot add more'),
};

const STATES: Record<SeenStop['status'], string> = {
  standing: 'pending',
  triggered: 'success',
  cancelled: 'cancelled',
  expired: 'cancelled',
  rejected: 'failed',
};

const tellStop = (stop: SeenStop) => ({
  orderId: stop.ref,
  clientOid: stop.clientOrderId,
  category: 'USDT-FUTURES',
  symbol: stop.symbol,
  qty: stop.quantity ?? '',
  posSide: stop.side === 'sell' ? 'long' : 'short',
  status: STATES[stop.status],
  tpTriggerBy: 'market',
  slTriggerBy: stop.triggerBy === 'mark' ? 'mark' : 'market',
  takeProfit: '',
  stopLoss: stop.price,
  tpOrderType: 'market',
  slOrderType: 'market',
  tpLimitPrice: '',
  slLimitPrice: '',
  createdTime: `${stop.acceptedAt}`,
  updatedTime: `${stop.updatedAt}`,
});

const invalid = (name: string): Answer => refused(25200, `${name} validation error`);

/** What is wrong with it, whatever stands there. */
function fault({ params }: Call): Answer | null {
  const { symbol = '', type = 'tpsl', tpslMode = 'full', qty, posSide, clientOid = 'a' } = params;
  if (params.category?.toUpperCase() !== 'USDT-FUTURES') return invalid('category');
  if (!isListed(symbol)) return STOP_REFUSALS.invalid_symbol();
  // The exchange has others; this stub keeps stops, of the position or of a part of it.
  if (type !== 'tpsl') return invalid('type');
  if (tpslMode !== 'full' && tpslMode !== 'partial') return invalid('tpslMode');
  if (posSide !== 'long' && posSide !== 'short') return invalid('posSide');
  if ((tpslMode === 'partial') !== (qty !== undefined && qty !== '')) return invalid('qty');
  if (tpslMode === 'partial' && !(Number(qty) > 0)) return invalid('qty');
  if (params.takeProfit) return invalid('takeProfit');
  return faultOfStop(params, symbol) ?? (isClientId(clientOid) ? null : invalid('clientOid'));
}

function faultOfStop({ stopLoss, slTriggerBy = 'market', slOrderType = 'market' }: Params, symbol: string) {
  if (!(Number(stopLoss) > 0)) return refused(25603, 'Stop-loss trigger price must be greater than 0');
  if (!isPrice(stopLoss, symbol)) return OFF_TICK();
  if (slTriggerBy !== 'market' && slTriggerBy !== 'mark') return invalid('slTriggerBy');
  return slOrderType === 'market' ? null : invalid('slOrderType');
}

const isClientId = (id: string): boolean => /^[.A-Z:/a-z0-9_-]{1,32}$/.test(id);

type Moved = AskedStop & { readonly moves: string };

/** As it is to be from now on: of the whole position its quantity says nothing. */
const movedBy = ({ qty, stopLoss, slTriggerBy }: Params, stop: SeenStop): Moved => ({
  ...{ clientOrderId: stop.clientOrderId, symbol: stop.symbol, side: stop.side, moves: stop.ref },
  quantity: stop.quantity === null ? null : quantityOf(qty),
  price: stopLoss === undefined ? stop.price : quantityOf(stopLoss),
  triggerBy: slTriggerBy === undefined ? stop.triggerBy : slTriggerBy === 'mark' ? 'mark' : 'last',
});

const isSame = (moved: AskedStop, stop: SeenStop): boolean =>
  compare(moved.price, stop.price) === 0 &&
  compare(moved.quantity ?? ZERO, stop.quantity ?? ZERO) === 0 &&
  moved.triggerBy === stop.triggerBy;

export function unifiedStops(office: Office): Pick<Routes, 'asked' | 'trading'> {
  /** What stands there, or is held, forbids it. */
  async function hindrance({ holder }: Call, stop: AskedStop & { moves?: string }): Promise<Answer | null> {
    const { symbol, side, quantity, price } = stop;
    const stops = (await office.stops(holder.account)).filter(
      (each) => each.status === 'standing' && each.symbol === symbol && each.ref !== stop.moves,
    );
    const held = (await office.positions(holder.account)).find((position) => position.symbol === symbol);
    if (!held) return null;
    const parts = stops.reduce<Decimal>((sum, each) => add(sum, each.quantity ?? ZERO), quantity ?? ZERO);
    if (quantity !== null && compare(parts, absolute(held.quantity)) > 0)
      return refused(25595, 'The total TP/SL quantity for partial positions exceeds the position amount');
    // What would trigger at once is refused for that.
    const isReached = compare(price, office.quote(symbol).bid) * (side === 'sell' ? 1 : -1) >= 0;
    const isBeyond = !isReached && compare(price, held.averagePrice) * (side === 'sell' ? 1 : -1) > 0;
    return isBeyond && sign(held.quantity) > 0 === (side === 'sell') ? BEYOND_ENTRY[side]() : null;
  }

  const tell = (stop: AskedStop, taken: Parameters<Extract<Visit, { what: 'stop' }>['tell']>[0]): Answer => {
    if (taken.outcome === 'accepted')
      return said({ orderId: taken.stop.ref, clientOid: taken.stop.clientOrderId });
    return taken.code === 'would_trigger'
      ? WRONG_SIDE[stop.side][stop.triggerBy]()
      : STOP_REFUSALS[taken.code]();
  };

  function place(call: Call): Visit {
    const { holder, params } = call;
    const wrong = fault(call);
    if (wrong) return turnedAway(wrong);
    const stop: AskedStop = {
      clientOrderId: params.clientOid ?? crypto.randomUUID().replaceAll('-', ''),
      symbol: params.symbol ?? '',
      side: params.posSide === 'long' ? 'sell' : 'buy',
      quantity: params.tpslMode === 'partial' ? quantityOf(params.qty) : null,
      price: quantityOf(params.stopLoss),
      triggerBy: params.slTriggerBy === 'mark' ? 'mark' : 'last',
    };
    return {
      what: 'stop',
      account: holder.account,
      stop,
      refuses: () => hindrance(call, stop),
      tell: (taken) => tell(stop, taken),
    };
  }

  /** By the exchange's id where there is one. */
  async function find({ holder, params }: Call): Promise<SeenStop | null> {
    const { orderId, clientOid } = params;
    const stops = await office.stops(holder.account);
    return stops.find((stop) => (orderId ? stop.ref === orderId : stop.clientOrderId === clientOid)) ?? null;
  }

  async function modify(call: Call): Promise<Visit> {
    const { holder, params } = call;
    const { orderId, clientOid, qty, stopLoss } = params;
    const not = (answer: Answer) => visit('other', call, () => answer);
    if (!orderId && !clientOid) return not(invalid('orderId'));
    if (!(Number(qty) > 0)) return not(invalid('qty'));
    if (params.takeProfit) return not(invalid('takeProfit'));
    const stop = await find(call);
    if (stop?.status === 'triggered' || stop?.status === 'rejected')
      return not(refused(25596, 'Cannot modify strategy in triggered or error state'));
    if (stop?.status !== 'standing') return not(GONE());
    const wrong = stopLoss === undefined ? null : faultOfStop(params, stop.symbol);
    if (wrong) return not(wrong);
    const moved = movedBy(params, stop);
    if (isSame(moved, stop))
      return not(refused(25600, 'No changes made to the TP/SL order; please modify before submitting'));
    return {
      what: 'stop',
      account: holder.account,
      stop: moved,
      refuses: () => hindrance(call, moved),
      tell: (taken) => tell(moved, taken),
    };
  }

  const inFutures = (call: Call, answer: (stops: readonly SeenStop[]) => Answer): Visit =>
    call.params.category?.toUpperCase() === 'USDT-FUTURES'
      ? visit('look_up', call, async () => {
          const isAsked = (call.params.type ?? 'tpsl') === 'tpsl';
          return answer(isAsked ? await office.stops(call.holder.account) : []);
        })
      : turnedAway(invalid('category'));

  return {
    asked: {
      'POST /api/v3/trade/place-strategy-order': place,
      'POST /api/v3/trade/modify-strategy-order': modify,
      'POST /api/v3/trade/cancel-strategy-order': (call) => {
        if (!call.params.orderId && !call.params.clientOid) return turnedAway(invalid('orderId'));
        return visit('look_up', call, async () => {
          const stop = await find(call);
          return stop && (await office.removeStop(call.holder.account, stop.ref)) ? said(null) : GONE();
        });
      },
      'GET /api/v3/trade/unfilled-strategy-orders': (call) =>
        inFutures(call, (stops) => said(stops.filter(({ status }) => status === 'standing').map(tellStop))),
      'GET /api/v3/trade/history-strategy-orders': (call) =>
        inFutures(call, (stops) => {
          const ended = stops.filter(({ status }) => status !== 'standing');
          const list = ended.map((stop) => ({ ...tellStop(stop), triggerType: 'stopLoss' }));
          return said({ list, cursor: null });
        }),
      'GET /api/v3/trade/strategy-sub-orders': (call) => {
        if (!call.params.orderId) return turnedAway(invalid('orderId'));
        return visit('look_up', call, async () => {
          const order = (await find(call))?.order;
          if (!order) return said({ list: [], cursor: null });
          const sub = {
            subOrderId: order.ref,
            subClientOid: order.clientOrderId,
            category: 'USDT-FUTURES',
            symbol: order.symbol,
            price: '0',
            qty: order.quantity,
            cumExecQty: order.fillQuantity,
            avgPrice: order.fillPrice ?? '0',
            side: order.side,
            posSide: order.side === 'sell' ? 'long' : 'short',
            status: order.status === 'filled' ? 'filled' : 'cancelled',
            createdTime: `${order.acceptedAt}`,
            updatedTime: `${order.updatedAt}`,
          };
          return said({ list: [sub], cursor: null });
        });
      },
    },
    trading: [
      'POST /api/v3/trade/place-strategy-order',
      'POST /api/v3/trade/modify-strategy-order',
      'POST /api/v3/trade/cancel-strategy-order',
    ],
  };
}
