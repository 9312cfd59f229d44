// OKX's algo orders, of which this stub keeps the one-way stops that reduce (ordType conditional): of the whole position
// (closeFraction 1), one for each position whoever set it, or of a size. They have ids of their own, and one that triggers
// becomes a plain order, named in ordIdList. The refusal of one stands in its row.

import {
  type Answer,
  type AskedStop,
  type Office,
  type SeenStop,
  type StopRefusalCode,
  type StopTaken,
  type Taken,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { hasTriggered } from './conditional.ts';
import {
  algoFault,
  askedTrigger,
  okxTriggers,
  stateOf,
  tellAlgo,
  tellTrigger,
  triggerFault,
  type Words,
  wrong,
} from './okx-triggers.ts';
import {
  answered,
  busy,
  isListed,
  isPrice,
  NO_SYMBOL,
  OFF_TICK,
  REFUSALS,
  refused,
  said,
} from './okx-words.ts';
import { type Call, type Params, quantityOf, type Routes, visit } from './wire.ts';

const WRONG_SIDE: Record<SeenStop['side'], Record<SeenStop['triggerBy'], Words>> = {
  sell: {
    last: [51280, 'SL trigger price cannot be higher than the last price'],
    mark: [51304, 'SL trigger price cannot be higher than the mark price'],
  },
  buy: {
    last: [51278, 'SL trigger price cannot be lower than the last price'],
    mark: [51302, 'SL trigger price cannot be lower than the mark price'],
  },
};

const STOP_REFUSALS: Record<Exclude<StopRefusalCode, 'broker_rate_limited' | 'would_trigger'>, Words> = {
  no_position: [51058, 'No available position for this algo order'],
  reserved: [51112, 'Close order size exceeds available size for this position.'],
  second: [51088, 'You can only place 1 TP/SL order to close an entire position'],
  invalid_symbol: REFUSALS.invalid_symbol,
  off_tick: OFF_TICK,
  off_step: REFUSALS.off_step,
  market_closed: REFUSALS.market_closed,
  duplicate: [51065, 'algoClOrdId already exists.'],
  not_found: [51527, 'Order modification unsuccessful. The stop order does not exist.'],
  refused: [51261, 'Each user can hold up to 500 pending stop orders at the same time.'],
};
const WHOLE_PRICE: Words = [
  51523,
  'Unable to modify the order price of a stop order that closes an entire position. Please modify the trigger price instead.',
];
const WHOLE_SIZE: Words = [
  51524,
  'Unable to modify the order quantity of a stop order that closes an entire position. Please modify the trigger price instead.',
];
const ENDED: Words = [51503, 'Your order has already been filled or canceled.'];

const STATES: Record<SeenStop['status'], string> = {
  standing: 'live',
  triggered: 'effective',
  cancelled: 'canceled',
  expired: 'canceled',
  rejected: 'order_failed',
};

const tellStop = (stop: SeenStop, call: Call) => ({
  ...tellAlgo(stop, call),
  actualPx: '',
  actualSide: stop.status === 'triggered' ? 'sl' : '',
  actualSz: stop.order?.quantity ?? '0',
  closeFraction: stop.quantity === null ? '1' : '',
  failCode: stop.status === 'rejected' ? '51008' : '',
  last: stop.price,
  ordId: stop.order?.ref ?? '',
  ordIdList: stop.order ? [stop.order.ref] : [],
  ordPx: '',
  ordType: 'conditional',
  reduceOnly: 'true',
  slOrdPx: '-1',
  slTriggerPx: stop.price,
  slTriggerPxType: stop.triggerBy,
  state: STATES[stop.status],
  sz: stop.quantity ?? '',
  triggerTime: stop.status === 'triggered' ? `${stop.updatedAt}` : '',
});

const row = ({ algoId = '', algoClOrdId = '' }: Params, [code, text]: Words) => ({
  algoClOrdId,
  algoId,
  clOrdId: '',
  sCode: `${code}`,
  sMsg: text,
  tag: '',
});
const failed = (params: Params, words: Words): Answer =>
  answered(200, '1', 'All operations failed', [row(params, words)]);
const done = ({ ref, clientOrderId }: Pick<SeenStop, 'ref' | 'clientOrderId'>): Answer =>
  said(row({ algoId: ref, algoClOrdId: clientOrderId }, [0, '']));

/** What is wrong with it, whatever stands there. */
function fault(params: Params, call: Call): Words | null {
  const { instId = '', ordType, sz, closeFraction } = params;
  const { slTriggerPx, slOrdPx, slTriggerPxType = 'last' } = params;
  const first = algoFault(call);
  if (first) return first;
  if (ordType !== 'conditional') return wrong('ordType');
  const isHedged = call.holder.standing.positionMode === 'hedged';
  if (isHedged !== (params.posSide === 'long' || params.posSide === 'short')) return wrong('posSide');
  if (!sz && !closeFraction)
    return [51175, 'Parameters sz and closeFraction cannot be empty at the same time'];
  if (sz && closeFraction)
    return [51176, 'Only one parameter can be filled among Parameters sz and closeFraction'];
  if (closeFraction && closeFraction !== '1') return wrong('closeFraction');
  if (closeFraction && params.reduceOnly !== 'true')
    return [51328, 'closeFraction is only available for reduceOnly orders'];
  if (closeFraction && slOrdPx !== '-1')
    return [51330, 'closeFraction is only available for stop market orders'];
  if (sz && !(Number(sz) > 0)) return wrong('sz');
  // The exchange takes them; this stub keeps none that could open, or that rest when they have triggered.
  if (params.reduceOnly !== 'true') return wrong('reduceOnly');
  if (slOrdPx !== '-1') return wrong('slOrdPx');
  if (!slTriggerPx) return wrong('slTriggerPx');
  if (!isPrice(slTriggerPx, instId)) return OFF_TICK;
  return slTriggerPxType === 'last' || slTriggerPxType === 'mark' ? null : wrong('slTriggerPxType');
}

export function okxStops(office: Office): Pick<Routes, 'asked' | 'trading'> {
  const triggers = okxTriggers(office);

  /** An entry that waits for a price. */
  function placeTrigger(call: Call): Visit {
    const { params } = call;
    const words = triggerFault(call);
    if (words) return turnedAway(failed(params, words));
    return {
      ...askedTrigger(call),
      tell(taken: Taken) {
        if (taken.outcome === 'accepted') return done(taken.order);
        if (taken.code === 'broker_rate_limited') return busy();
        // Of an algo order the words are others.
        return failed(params, taken.code === 'duplicate' ? STOP_REFUSALS.duplicate : REFUSALS[taken.code]);
      },
    };
  }

  const told = (params: Params, { side, triggerBy }: AskedStop, taken: StopTaken): Answer => {
    if (taken.outcome === 'accepted') return done(taken.stop);
    if (taken.code === 'broker_rate_limited') return busy();
    return failed(
      params,
      taken.code === 'would_trigger' ? WRONG_SIDE[side][triggerBy] : STOP_REFUSALS[taken.code],
    );
  };

  function place(call: Call): Visit {
    const { holder, params } = call;
    if (params.ordType === 'trigger') return placeTrigger(call);
    const words = fault(params, call);
    if (words) return turnedAway(failed(params, words));
    const stop: AskedStop = {
      clientOrderId: params.algoClOrdId ?? crypto.randomUUID().replaceAll('-', ''),
      symbol: params.instId ?? '',
      side: params.side === 'buy' ? 'buy' : 'sell',
      quantity: params.closeFraction ? null : quantityOf(params.sz),
      price: quantityOf(params.slTriggerPx),
      triggerBy: params.slTriggerPxType === 'mark' ? 'mark' : 'last',
      marginMode: params.tdMode === 'isolated' ? 'isolated' : 'cross',
    };
    return { what: 'stop', account: holder.account, stop, tell: (taken) => told(params, stop, taken) };
  }

  /** By the exchange's id where there is one. */
  async function find({ holder }: Call, { algoId, algoClOrdId }: Params): Promise<SeenStop | null> {
    const stops = await office.stops(holder.account);
    return stops.find((stop) => (algoId ? stop.ref === algoId : stop.clientOrderId === algoClOrdId)) ?? null;
  }

  async function amend(call: Call): Promise<Visit> {
    const { holder, params } = call;
    const { instId = '', algoId, algoClOrdId, newSlTriggerPx, newSlOrdPx, newSz } = params;
    const not = (words: Words) => visit('other', call, () => failed(params, words));
    if (!isListed(instId)) return not(REFUSALS.invalid_symbol);
    if (!algoId && !algoClOrdId) return not([51000, 'Parameter algoId or algoClOrdId error']);
    if (!newSlTriggerPx && !newSlOrdPx && !newSz)
      return not([51500, 'You must enter a price, quantity, or TP/SL']);
    if (newSlTriggerPx && !isPrice(newSlTriggerPx, instId)) return not(OFF_TICK);
    const stop = await find(call, params);
    if (stop?.symbol !== instId) return not(STOP_REFUSALS.not_found);
    if (stop.status !== 'standing') return not(ENDED);
    if (stop.quantity === null && newSlOrdPx) return not(WHOLE_PRICE);
    if (stop.quantity === null && newSz) return not(WHOLE_SIZE);
    const { clientOrderId, symbol, side, triggerBy } = stop;
    // Without a word it stays as it is.
    if ((params.newSlTriggerPxType ?? triggerBy) !== triggerBy)
      return not([51528, 'Unable to modify trigger price type']);
    const moved = {
      ...{ clientOrderId, symbol, side, triggerBy },
      quantity: newSz ? quantityOf(newSz) : stop.quantity,
      price: newSlTriggerPx ? quantityOf(newSlTriggerPx) : stop.price,
      moves: stop.ref,
    };
    return {
      what: 'stop',
      account: holder.account,
      stop: moved,
      tell: (taken) => told(params, moved, taken),
    };
  }

  /** A list of them, of which this stub reads the first. */
  function cancel(call: Call): Visit {
    const { holder, params, body = '' } = call;
    const { instId = '' } = params;
    if (!body.trimStart().startsWith('[')) return turnedAway(refused(400, 50002, 'JSON syntax error'));
    if (!isListed(instId)) return turnedAway(failed(params, REFUSALS.invalid_symbol));
    return visit('cancel', call, async () => {
      const stop = await find(call, params);
      const entry = stop ? null : await triggers.find(call, params);
      if (stop?.status === 'triggered' || (entry && hasTriggered(entry)))
        return failed(params, [51416, "Order has been triggered and can't be canceled"]);
      if (entry?.symbol === instId && (await triggers.end(call, entry))) return done(entry);
      if (stop?.symbol === instId && (await office.removeStop(holder.account, stop.ref))) return done(stop);
      return failed(params, [
        51400,
        'Order cancellation failed as the order has been filled, canceled or does not exist.',
      ]);
    });
  }

  const list = (call: Call, isShown: (state: string) => boolean): Visit =>
    visit('look_up', call, async () => {
      const { ordType = '', algoId, instId } = call.params;
      const isIt = (each: { readonly symbol: string; readonly ref: string }) =>
        each.symbol === (instId ?? each.symbol) && each.ref === (algoId ?? each.ref);
      const types = ordType.split(',');
      const stops = types.includes('conditional') ? await office.stops(call.holder.account) : [];
      const entries = types.includes('trigger') ? await triggers.all(call) : [];
      return said([
        ...stops
          .filter((stop) => isIt(stop) && isShown(STATES[stop.status]))
          .map((stop) => tellStop(stop, call)),
        ...entries
          .filter((entry) => isIt(entry) && isShown(stateOf(entry)))
          .map((entry) => tellTrigger(entry, call)),
      ]);
    });
  const missing = (name: string) => turnedAway(refused(400, 50014, `Parameter ${name} cannot be empty.`));

  return {
    asked: {
      'POST /api/v5/trade/order-algo': place,
      'POST /api/v5/trade/amend-algos': amend,
      'POST /api/v5/trade/cancel-algos': cancel,
      'GET /api/v5/trade/order-algo': (call) => {
        const { algoId, algoClOrdId } = call.params;
        if (!algoId && !algoClOrdId) return missing('algoId');
        return visit('look_up', call, async () => {
          const stop = await find(call, call.params);
          if (stop) return said(tellStop(stop, call));
          const entry = await triggers.find(call, call.params);
          return entry ? said(tellTrigger(entry, call)) : refused(200, 51603, 'Order does not exist');
        });
      },
      'GET /api/v5/trade/orders-algo-pending': (call) => {
        const { ordType, instId } = call.params;
        if (!ordType) return missing('ordType');
        if (instId !== undefined && !isListed(instId)) return turnedAway(NO_SYMBOL);
        return list(call, (each) => each === 'live');
      },
      'GET /api/v5/trade/orders-algo-history': (call) => {
        const { ordType, state, algoId } = call.params;
        if (!ordType) return missing('ordType');
        if (!state && !algoId)
          return turnedAway(refused(200, 51602, 'Either order status or order ID is required.'));
        return list(call, (each) => each !== 'live' && each === (state ?? each));
      },
    },
    trading: [
      'POST /api/v5/trade/order-algo',
      'POST /api/v5/trade/amend-algos',
      'POST /api/v5/trade/cancel-algos',
    ],
  };
}
