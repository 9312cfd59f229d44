// The stop and the target of a position of a classic account at Bitget (v2): plan orders of the types pos_loss and pos_profit, set
// by one call that overwrites both of them. What is left out of it is taken away, and what is set again keeps the ids that it had
// (so others found it; the document does not say). A target is kept here, and never triggers. Sized ones (loss_plan, profit_plan)
// are not kept.

import {
  type Answer,
  type AskedStop,
  type Office,
  type SeenStop,
  type StopRefusalCode,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { type Decimal, sign } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { classicPlans } from './bitget-classic-plans.ts';
import { busy, isListed, isPrice, OFF_TICK, REFUSALS, refused, said } from './bitget-words.ts';
import { type Call, type Params, quantityOf, type Routes, visit } from './wire.ts';

interface Target {
  readonly ref: string;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: SeenStop['side'];
  readonly price: Decimal;
  readonly triggerType: string;
  readonly executePrice: string;
  readonly setAt: number;
}

const WRONG_SIDE: Record<SeenStop['side'], Record<SeenStop['triggerBy'], () => Answer>> = {
  sell: {
    last: () =>
      refused(40834, 'The stop loss price of the long position should be less than the current price'),
    mark: () => refused(40917, 'Stop price for long positions please < mark price'),
  },
  buy: {
    last: () =>
      refused(40836, 'The stop loss price of the short position should be greater than the current price'),
    mark: () => refused(45122, 'Short position stop loss price please > mark price'),
  },
};

const STOP_REFUSALS: Record<Exclude<StopRefusalCode, 'would_trigger'>, () => Answer> = {
  no_position: () =>
    refused(45068, 'There is no position temporarily, and the order of TP and SL cannot be carried out'),
  reserved: () => refused(45005, 'Insufficient available positions'),
  // Another takes its place.
  second: () =>
    refused(43024, 'Take profit/stop loss in an existing order, please change it after canceling all'),
  invalid_symbol: REFUSALS.invalid_symbol,
  off_tick: OFF_TICK,
  off_step: REFUSALS.off_step,
  market_closed: REFUSALS.market_closed,
  broker_rate_limited: busy,
  duplicate: REFUSALS.duplicate,
  not_found: () => refused(43020, 'Stop profit and stop loss order does not exist'),
  refused: () =>
    refused(40890, 'The order of stop-profit and stop-loss for this contract has reached the upper limit'),
};

const STATES: Record<SeenStop['status'], string> = {
  standing: 'live',
  triggered: 'executed',
  cancelled: 'cancelled',
  expired: 'cancelled',
  rejected: 'fail_execute',
};
const TRIGGERS = { last: 'fill_price', mark: 'mark_price' } as const;

const tellPlan = (plan: Pick<Target, 'ref' | 'clientOrderId' | 'symbol' | 'side' | 'price'>) => ({
  symbol: plan.symbol,
  size: '',
  orderId: plan.ref,
  clientOid: plan.clientOrderId,
  price: '',
  executePrice: '0',
  callbackRatio: '',
  triggerPrice: plan.price,
  side: plan.side,
  posSide: 'net',
  marginCoin: 'USDT',
  marginMode: 'crossed',
  enterPointSource: 'API',
  tradeSide: plan.side === 'buy' ? 'buy_single' : 'sell_single',
  posMode: 'one_way_mode',
  orderType: 'market',
  stopSurplusExecutePrice: '',
  stopSurplusTriggerPrice: '',
  stopSurplusTriggerType: '',
  stopLossExecutePrice: '',
  stopLossTriggerPrice: '',
  stopLossTriggerType: '',
});

const tellStop = (stop: SeenStop) => ({
  ...tellPlan(stop),
  planType: 'pos_loss',
  triggerType: TRIGGERS[stop.triggerBy],
  planStatus: STATES[stop.status],
  orderSource: 'pos_loss_market',
  cTime: `${stop.acceptedAt}`,
  uTime: `${stop.updatedAt}`,
});

const tellTarget = (target: Target) => ({
  ...tellPlan(target),
  planType: 'pos_profit',
  triggerType: target.triggerType,
  executePrice: target.executePrice,
  planStatus: 'live',
  orderSource: 'pos_profit_market',
  cTime: `${target.setAt}`,
  uTime: `${target.setAt}`,
});

export function classicStops(office: Office): Pick<Routes, 'asked' | 'trading'> {
  const plans = classicPlans(office);
  /** By account and symbol. */
  const targets = new Map<string, Target>();
  const keyOf = (account: AccountId, symbol: string) => `${account} ${symbol}`;

  async function standing(account: AccountId, symbol: string): Promise<SeenStop | undefined> {
    const stops = await office.stops(account);
    return stops.find((stop) => stop.status === 'standing' && stop.symbol === symbol);
  }

  /** What goes with its position. */
  async function targetOf(account: AccountId, symbol: string): Promise<Target | undefined> {
    const held = (await office.positions(account)).find((position) => position.symbol === symbol);
    const target = targets.get(keyOf(account, symbol));
    const isOfIt = held && target && sign(held.quantity) > 0 === (target.side === 'sell');
    if (!isOfIt) targets.delete(keyOf(account, symbol));
    return isOfIt ? target : undefined;
  }

  function setTarget(account: AccountId, params: Params, side: Target['side']): Target | undefined {
    const { symbol = '', stopSurplusTriggerPrice, stopSurplusTriggerType = 'mark_price' } = params;
    const key = keyOf(account, symbol);
    const before = targets.get(key);
    targets.delete(key);
    if (!stopSurplusTriggerPrice) return undefined;
    const target: Target = {
      ref: before?.ref ?? `${office.now()}`,
      clientOrderId: before?.clientOrderId ?? params.stopSurplusClientOid ?? crypto.randomUUID(),
      ...{ symbol, side, price: quantityOf(stopSurplusTriggerPrice), setAt: office.now() },
      ...{ triggerType: stopSurplusTriggerType, executePrice: params.stopSurplusExecutePrice ?? '0' },
    };
    targets.set(key, target);
    return target;
  }

  /** What is wrong with it, whatever stands there. */
  function fault({ params, holder }: Call): Answer | null {
    const { symbol = '', holdSide, stopLossTriggerPrice, stopSurplusTriggerPrice } = params;
    const wrong = (what: string) => refused(40017, `Parameter verification failed ${what}`);
    if (params.productType?.toUpperCase() !== 'USDT-FUTURES') return wrong('productType');
    if (params.marginCoin !== 'USDT') return wrong('marginCoin');
    if (!isListed(symbol)) return REFUSALS.invalid_symbol();
    const sides = holder.standing.positionMode === 'hedged' ? ['long', 'short'] : ['buy', 'sell'];
    if (!sides.includes(holdSide ?? '')) return wrong('holdSide');
    if (!stopLossTriggerPrice && !stopSurplusTriggerPrice)
      return refused(40019, 'Parameter stopLossTriggerPrice cannot be empty');
    for (const [name, type] of Object.entries({
      stopLossTriggerType: params.stopLossTriggerType,
      stopSurplusTriggerType: params.stopSurplusTriggerType,
    }))
      if (type !== undefined && type !== 'fill_price' && type !== 'mark_price') return wrong(name);
    if (stopLossTriggerPrice && !isPrice(stopLossTriggerPrice, symbol)) return OFF_TICK();
    if (stopSurplusTriggerPrice && !isPrice(stopSurplusTriggerPrice, symbol)) return OFF_TICK();
    // The exchange takes them; this stub keeps none of a size, nor any that rests when it has triggered.
    if (params.stopLossSize || params.stopSurplusSize) return wrong('stopLossSize');
    if (Number(params.stopLossExecutePrice ?? 0) > 0) return wrong('stopLossExecutePrice');
    const { stopLossClientOid = 'a' } = params;
    return /^[.A-Z:/a-z0-9_-]{1,40}$/.test(stopLossClientOid) ? null : wrong('stopLossClientOid');
  }

  /** Each row has both of the ids that were sent: which of the two it is of does not stand there. */
  const tellSet = (params: Params, refs: readonly string[]): Answer =>
    said(
      refs.map((orderId) => ({
        orderId,
        stopSurplusClientOid: params.stopSurplusClientOid ?? '',
        stopLossClientOid: params.stopLossClientOid ?? '',
      })),
    );

  function place(call: Call): Visit {
    const { holder, params } = call;
    const { account } = holder;
    const wrong = fault(call);
    if (wrong) return turnedAway(wrong);
    const { symbol = '', holdSide, stopLossTriggerType = 'mark_price' } = params;
    const side = holdSide === 'buy' || holdSide === 'long' ? 'sell' : 'buy';
    if (!params.stopLossTriggerPrice) return placeTarget(call, { symbol, side });
    const stop: AskedStop = {
      clientOrderId: params.stopLossClientOid ?? crypto.randomUUID(),
      symbol,
      side,
      quantity: null,
      price: quantityOf(params.stopLossTriggerPrice),
      triggerBy: stopLossTriggerType === 'mark_price' ? 'mark' : 'last',
    };
    return {
      what: 'stop',
      account,
      stop,
      tell(taken) {
        if (taken.outcome === 'refused')
          return taken.code === 'would_trigger'
            ? WRONG_SIDE[side][stop.triggerBy]()
            : STOP_REFUSALS[taken.code]();
        const target = setTarget(account, params, side);
        return tellSet(params, [...(target ? [target.ref] : []), taken.stop.ref]);
      },
    };
  }

  /** Without a stop: the one that is there is overwritten by none. */
  const placeTarget = (call: Call, { symbol, side }: Pick<Target, 'symbol' | 'side'>): Visit =>
    visit('other', call, async () => {
      const { account } = call.holder;
      const held = await office.positions(account);
      if (!held.some((position) => position.symbol === symbol)) return STOP_REFUSALS.no_position();
      const there = await standing(account, symbol);
      if (there) await office.removeStop(account, there.ref);
      const target = setTarget(account, call.params, side);
      return tellSet(call.params, target ? [target.ref] : []);
    });

  const list = (call: Call, rows: Rows, planned: Rows): Visit => {
    const { planType, productType, symbol, orderId, clientOid } = call.params;
    if (!planType) return turnedAway(refused(40019, 'Parameter planType cannot be empty'));
    if (productType?.toUpperCase() !== 'USDT-FUTURES')
      return turnedAway(refused(40019, 'Parameter productType cannot be empty'));
    return visit('look_up', call, async () => {
      const of = { profit_loss: rows, normal_plan: planned }[planType];
      const all = (await of?.(symbol)) ?? [];
      // The exchange's id goes before ours.
      const own = all.filter((row) =>
        orderId ? row.orderId === orderId : row.clientOid === (clientOid ?? row.clientOid),
      );
      return said({ entrustedList: own.length > 0 ? own : null, endId: own.at(-1)?.orderId ?? null });
    });
  };

  async function pending({ holder }: Call, symbol: string | undefined): Promise<readonly PlanRow[]> {
    const stops = await office.stops(holder.account);
    const isAsked = (row: { readonly symbol: string }) => row.symbol === (symbol ?? row.symbol);
    const own = [...targets].filter(([key]) => key.startsWith(`${holder.account} `));
    const kept = await Promise.all(own.map(([, target]) => targetOf(holder.account, target.symbol)));
    return [
      ...stops.filter((stop) => stop.status === 'standing' && isAsked(stop)).map(tellStop),
      ...kept
        .filter((target) => target !== undefined && isAsked(target))
        .map((target) => tellTarget(target as Target)),
    ];
  }

  async function ended({ holder }: Call, symbol: string | undefined): Promise<readonly PlanRow[]> {
    const stops = await office.stops(holder.account);
    return stops
      .filter((stop) => stop.status !== 'standing' && stop.symbol === (symbol ?? stop.symbol))
      .map((stop) => ({
        ...tellStop(stop),
        executeOrderId: stop.order?.ref ?? '',
        priceAvg: stop.order?.fillPrice ?? '',
        baseVolume: stop.order?.fillQuantity ?? '',
      }));
  }

  /** By its list, or all of that type; what is of another type is not found. */
  function cancel(call: Call): Visit {
    const { holder, params, body = '' } = call;
    const { symbol, planType = 'normal_plan' } = params;
    const { orderIdList } = JSON.parse(body) as { orderIdList?: readonly PlanName[] };
    if (params.productType?.toUpperCase() !== 'USDT-FUTURES')
      return turnedAway(refused(40019, 'Parameter productType cannot be empty'));
    if (orderIdList && !symbol) return turnedAway(refused(40019, 'Parameter symbol cannot be empty'));
    return visit('cancel', call, async () => {
      const waiting: readonly PlanRow[] = [
        ...(await pending(call, symbol)),
        ...(await plans.pending(call, symbol)),
      ];
      const all = waiting.filter((row) => row.planType === planType);
      const wanted = orderIdList ?? all;
      const successList: object[] = [];
      const failureList: object[] = [];
      for (const { orderId, clientOid } of wanted) {
        const plan = all.find((row) => (orderId ? row.orderId === orderId : row.clientOid === clientOid));
        const name = {
          orderId: plan?.orderId ?? orderId ?? '',
          clientOid: plan?.clientOid ?? clientOid ?? '',
        };
        const isPlan = plan?.planType === 'normal_plan' && (await plans.end(call, plan.orderId));
        if (plan?.planType === 'pos_profit') targets.delete(keyOf(holder.account, plan.symbol));
        else if (!plan || !(isPlan || (await office.removeStop(holder.account, plan.orderId)))) {
          failureList.push({ ...name, errorMsg: 'notExistend' });
          continue;
        }
        successList.push(name);
      }
      return said({ successList, failureList });
    });
  }

  return {
    asked: {
      'POST /api/v2/mix/order/place-pos-tpsl': place,
      'POST /api/v2/mix/order/cancel-plan-order': cancel,
      'POST /api/v2/mix/order/place-plan-order': plans.place,
      'GET /api/v2/mix/order/orders-plan-pending': (call) =>
        list(
          call,
          (symbol) => pending(call, symbol),
          (symbol) => plans.pending(call, symbol),
        ),
      'GET /api/v2/mix/order/orders-plan-history': (call) =>
        list(
          call,
          (symbol) => ended(call, symbol),
          (symbol) => plans.ended(call, symbol),
        ),
    },
    trading: [
      'POST /api/v2/mix/order/place-pos-tpsl',
      'POST /api/v2/mix/order/place-plan-order',
      'POST /api/v2/mix/order/cancel-plan-order',
    ],
  };
}

type PlanName = { readonly orderId?: string; readonly clientOid?: string };
type PlanRow = {
  readonly planType: string;
  readonly symbol: string;
  readonly orderId: string;
  readonly clientOid: string;
};
type Rows = (symbol: string | undefined) => Promise<readonly PlanRow[]>;
