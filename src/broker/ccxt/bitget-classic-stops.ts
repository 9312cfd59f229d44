// The stops of a classic account at Bitget: the position has one (`pos_loss`), and one target (`pos_profit`). The call that sets
// it overwrites both of them, so that a target of the user's is read before and sent along. What is overwritten keeps the ids
// that it had: the stop there is known by what it is, and not by whose id it has.

import { compare, type Decimal, sign } from '../../domain/decimal.ts';
import type { TriggerBy } from '../broker.ts';
import { dataOf, listOf, PRODUCT, page, readOrder, SIDES } from './bitget-rows.ts';
import { type CcxtMarket, question } from './profile.ts';
import { amount, each, exact, oneOf, type Row, text } from './rows.ts';
import type { SeenStop, StopToFind, StopWords } from './stop-words.ts';

const TRIGGERS: Readonly<Record<TriggerBy, string>> = { last: 'fill_price', mark: 'mark_price' };

const FATES = {
  live: 'standing',
  not_trigger: 'standing',
  executed: 'triggered',
  cancelled: 'ended',
  fail_execute: 'failed',
  fail_trigger: 'failed',
} as const;

/** Of the order that it becomes: what is held long is sold. */
const CLOSES = { buy: 'sell', long: 'sell', sell: 'buy', short: 'buy' } as const;

/** A stop or a target, as the lists have it. */
interface Plan {
  readonly type: string;
  readonly clientId: string | null;
  /** As a stop: of the position it has no id of its own. */
  readonly stop: SeenStop;
  readonly trigger: string | null;
  /** Of a target that becomes an order with a limit; null: at the market. */
  readonly limit: Decimal | null;
  readonly updatedAt: number;
}

function readPlan(row: Row): Plan | undefined {
  const [ref, symbol, type] = [text(row, 'orderId'), text(row, 'symbol'), text(row, 'planType')];
  const [price, status] = [amount(row, 'triggerPrice'), text(row, 'planStatus')];
  const fate = oneOf(FATES, status);
  const side =
    oneOf(CLOSES, text(row, 'holdSide')) ??
    oneOf(CLOSES, text(row, 'posSide')) ??
    oneOf(SIDES, text(row, 'side')?.toLowerCase());
  if (!ref || !symbol || !type || !price || !fate || !side) return undefined;
  const [size, limit] = [exact(row, 'size'), amount(row, 'executePrice')];
  const [clientId, became] = [text(row, 'clientOid') ?? null, text(row, 'executeOrderId')];
  const isWhole = type.startsWith('pos_');
  if (!isWhole && !size) return undefined;
  return {
    type,
    clientId,
    stop: {
      ref,
      clientId: isWhole ? null : clientId,
      marketId: symbol.toUpperCase(),
      side,
      price,
      contracts: isWhole ? null : (size ?? null),
      fate,
      reason: fate === 'ended' || fate === 'failed' ? `the stop is ${status}` : null,
      became: became === undefined ? [] : [became],
    },
    trigger: text(row, 'triggerType') ?? null,
    limit: limit && sign(limit) > 0 ? limit : null,
    updatedAt: Number(text(row, 'uTime') ?? text(row, 'cTime') ?? 0),
  };
}

const PAGE = 100;
const IN_USDT = { productType: PRODUCT, marginCoin: 'USDT' } as const;

const plansOf = (market: CcxtMarket, before: string | null = null) =>
  question(
    'privateMixGetV2MixOrderOrdersPlanPending',
    [
      {
        planType: 'profit_loss',
        productType: PRODUCT,
        symbol: market.id,
        ...(before !== null && { idLessThan: before }),
      },
    ],
    (body) =>
      page(each(listOf(body, 'entrustedList'), readPlan), { of: PAGE, next: text(dataOf(body), 'endId') }),
  );

const isStop = ({ type }: Plan): boolean => type === 'pos_loss' || type === 'loss_plan';

const isOf = ({ type, stop }: Plan, { side }: Pick<StopToFind, 'side'>): boolean =>
  type === 'pos_loss' && stop.side === side;

/** By the exchange's id; where it was not told, by ours or by its price. */
const isSought = (plan: Plan, sought: StopToFind): boolean =>
  isOf(plan, sought) &&
  (sought.ref === null
    ? plan.clientId === sought.clientOrderId ||
      (compare(plan.stop.price, sought.price) === 0 && isSince(plan, sought))
    : plan.stop.ref === sought.ref);

/** One that ended before is another, of the same price. */
const isSince = ({ stop, updatedAt }: Plan, { since }: StopToFind): boolean =>
  stop.fate === 'standing' || updatedAt >= since;

const foundIn = (plans: readonly Plan[] | undefined, isIt: (plan: Plan) => boolean) =>
  plans && (plans.find(isIt)?.stop ?? null);

export const classicStops: StopWords = {
  codes: {
    '40834': 'passed',
    '40836': 'passed',
    '40917': 'passed',
    '45062': 'passed',
    '45122': 'passed',
    '45068': 'no_position',
    // For seconds after a fill: it does not know of the position yet.
    '43023': 'account_busy',
    '40891': 'account_busy',
    '43020': 'not_found',
    '43021': 'not_found',
    '43025': 'not_found',
    '43026': 'not_found',
  },
  namesMarginMode: false,

  async place({ market, clientOrderId, side, price, triggerBy }, { ask }) {
    const { rows } = await ask(plansOf(market));
    const target = rows.find(({ type, stop }) => type === 'pos_profit' && stop.side === side);
    return question(
      'privateMixPostV2MixOrderPlacePosTpsl',
      [
        {
          ...IN_USDT,
          symbol: market.id,
          holdSide: side === 'sell' ? 'buy' : 'sell',
          stopLossTriggerPrice: price,
          stopLossTriggerType: TRIGGERS[triggerBy],
          stopLossClientOid: clientOrderId,
          ...(target && {
            stopSurplusTriggerPrice: target.stop.price,
            ...(target.trigger && { stopSurplusTriggerType: target.trigger }),
            ...(target.limit && { stopSurplusExecutePrice: target.limit }),
          }),
        },
      ],
      (body) => {
        const taken = each(dataOf(body), (row) => row);
        const own = taken?.filter((row) => text(row, 'stopLossClientOid') === clientOrderId) ?? [];
        if (own.length === 0) return undefined;
        // Where the target's row has it too, nobody knows which of the two is the stop.
        const ref = own.length === 1 ? text(own[0], 'orderId') : undefined;
        return { ref: ref ?? null, clientId: clientOrderId };
      },
    );
  },

  async remove(stop, { ask }) {
    const { rows } = await ask(plansOf(stop.market));
    // Of another price, it is another's, though it has the same id.
    const own = rows.find(
      (plan) =>
        isOf(plan, stop) &&
        compare(plan.stop.price, stop.price) === 0 &&
        (stop.ref === null || plan.stop.ref === stop.ref),
    );
    const ref = own?.stop.ref;
    if (!ref) return null;
    return question(
      'privateMixPostV2MixOrderCancelPlanOrder',
      [{ ...IN_USDT, symbol: stop.market.id, planType: 'pos_loss', orderIdList: [{ orderId: ref }] }],
      (body) =>
        each(listOf(body, 'successList'), (row) => text(row, 'orderId'))?.includes(ref) ? true : undefined,
    );
  },

  standing(market, before) {
    const pending = plansOf(market, before);
    return question(pending.method, pending.args, (body) => {
      const plans = pending.read(body);
      return plans && { rows: plans.rows.filter(isStop).map(({ stop }) => stop), next: plans.next };
    });
  },

  lookUps(stop) {
    const { market, ref, since } = stop;
    const isIt = (plan: Plan) => isSought(plan, stop);
    const pending = plansOf(market);
    return [
      question(pending.method, pending.args, (body) => foundIn(pending.read(body)?.rows, isIt)),
      question(
        'privateMixGetV2MixOrderOrdersPlanHistory',
        [
          {
            planType: 'profit_loss',
            productType: PRODUCT,
            symbol: market.id,
            ...(ref === null ? { startTime: String(since) } : { orderId: ref }),
          },
        ],
        (body) => foundIn(each(listOf(body, 'entrustedList'), readPlan), isIt),
      ),
    ];
  },

  order: (ref, market) => question('fetchOrder', [ref, market.symbol], (body) => readOrder(dataOf(body))),
};
