// Gate's price-triggered orders: what is to be done stands in `initial`, when in `trigger`. Those that close a position are kept
// here, the whole of it (close-…-position) or a part (plan-close-…-position); what opens is not. The id is the exchange's own.

import {
  type Answer,
  type Office,
  type SeenStop,
  type StopRefusalCode,
  turnedAway,
  type Visit,
} from '../../chaos/exchange-dialect.ts';
import { absolute, isWhole, negate, sign, ZERO } from '../../src/domain/decimal.ts';
import type { Side } from '../../src/domain/orders/order.ts';
import { type Call, quantityOf, type Routes, visit } from './wire.ts';

interface Speech {
  readonly path: string;
  readonly user: number;
  said(body: object): Answer;
  refused(status: number, label: string, message: string): Answer;
  busy(): Answer;
  isListed(contract: string | undefined): boolean;
  takesDecimals(contract: string): boolean;
}

type Fields = Readonly<Record<string, unknown>>;

interface Kind {
  readonly side: Side;
  readonly isWhole: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'close-long-position': { side: 'sell', isWhole: true },
  'close-short-position': { side: 'buy', isWhole: true },
  'plan-close-long-position': { side: 'sell', isWhole: false },
  'plan-close-short-position': { side: 'buy', isWhole: false },
};

const typeOf = ({ side, quantity }: SeenStop): string =>
  `${quantity === null ? '' : 'plan-'}close-${side === 'sell' ? 'long' : 'short'}-position`;

/** When it falls to the price, or rises to it: this stub keeps stops, and no targets. */
const ruleOf = (side: Side): number => (side === 'sell' ? 2 : 1);

const ENDS: Record<SeenStop['status'], readonly [finishAs: string, reason: string]> = {
  standing: ['', ''],
  triggered: ['succeeded', ''],
  cancelled: ['cancelled', ''],
  expired: ['expired', ''],
  rejected: ['failed', 'position not exists'],
};

function fieldsOf(
  body: string | undefined,
): { initial: Fields; trigger: Fields; order_type?: unknown } | null {
  try {
    const { initial, trigger, order_type } = JSON.parse(body ?? '');
    return initial && trigger ? { initial, trigger, order_type } : null;
  } catch {
    return null;
  }
}

export function gateStops(office: Office, speech: Speech): Pick<Routes, 'asked' | 'trading'> {
  const { path, user, said, refused, busy, isListed, takesDecimals } = speech;

  const tell = (stop: SeenStop) => {
    const [finish_as, reason] = ENDS[stop.status];
    return {
      user,
      trigger: {
        strategy_type: 0,
        price_type: stop.triggerBy === 'mark' ? 1 : 0,
        price: stop.price,
        rule: ruleOf(stop.side),
        expiration: 0,
      },
      initial: {
        contract: stop.symbol,
        size: stop.side === 'sell' ? negate(stop.quantity ?? ZERO) : (stop.quantity ?? ZERO),
        price: '0',
        tif: 'ioc',
        // By its documents the source, which is not what the client has written there.
        text: 'api',
        iceberg: 0,
        is_close: stop.quantity === null,
        is_reduce_only: true,
        auto_size: '',
      },
      id: Number(stop.ref),
      id_string: stop.ref,
      trade_id: Number(stop.order?.ref ?? 0),
      status: stop.status === 'standing' ? 'open' : 'finished',
      ...(stop.status !== 'standing' && { finish_as }),
      reason,
      create_time: Math.floor(stop.acceptedAt / 1000),
      finish_time: stop.status === 'standing' ? 0 : Math.floor(stop.updatedAt / 1000),
      is_stop_order: false,
      stop_trigger: { rule: 0, trigger_price: '', order_price: '' },
      me_order_id: 0,
      order_type: typeOf(stop),
    };
  };

  const NOT_FOUND = refused(400, 'AUTO_ORDER_NOT_FOUND', 'No order found with the given ID');

  const REFUSALS: Record<Exclude<StopRefusalCode, 'would_trigger'>, () => Answer> = {
    no_position: () => refused(400, 'POSITION_EMPTY', 'empty position'),
    reserved: () => refused(400, 'POSITION_EMPTY', 'empty position'),
    // Assumed: it takes one of the whole position only. No document says so, nor by which label it would refuse another.
    second: () => refused(400, 'AUTO_POSITION_ORDER_EXISTS', 'a position order exists'),
    invalid_symbol: () => refused(400, 'CONTRACT_NOT_FOUND', 'contract not found'),
    off_tick: () => refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: trigger.price'),
    off_step: () => refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: initial.size'),
    market_closed: () => refused(400, 'CONTRACT_IN_DELISTING', 'contract is delisting'),
    broker_rate_limited: busy,
    duplicate: () => refused(400, 'REPEATED_CREATION', 'the order is known'),
    not_found: () => NOT_FOUND,
    refused: () => refused(400, 'TOO_MANY_ORDERS', 'too many price orders'),
  };

  const passed = (side: Side): Answer =>
    side === 'sell'
      ? refused(400, 'AUTO_TRIGGER_PRICE_LESS_LAST', 'invalid argument: Trigger.Price must < last_price')
      : refused(400, 'AUTO_TRIGGER_PRICE_GREATE_LAST', 'invalid argument: Trigger.Price must > last_price');

  function place(call: Call): Visit {
    const { account, standing } = call.holder;
    const fields = fieldsOf(call.body);
    const not = (what: string) =>
      turnedAway(refused(400, 'INVALID_PARAM_VALUE', `invalid argument: ${what}`));
    if (!fields) return not('initial, trigger');
    const { initial, trigger } = fields;
    const kind = KINDS[String(fields.order_type)];
    const symbol = String(initial.contract);
    const size = quantityOf(String(initial.size));
    const price = quantityOf(String(trigger.price));
    if (!isListed(symbol)) return turnedAway(REFUSALS.invalid_symbol());
    if (!kind) return not('order_type');
    if (standing.positionMode === 'hedged')
      return turnedAway(refused(400, 'POSITION_DUAL_MODE', 'operation forbidden in dual-mode'));
    if (trigger.strategy_type !== 0) return not('trigger.strategy_type');
    if (trigger.price_type !== 0 && trigger.price_type !== 1) return not('trigger.price_type');
    if (typeof trigger.price !== 'string' || sign(price) <= 0) return not('trigger.price');
    if (trigger.rule !== ruleOf(kind.side)) return not('trigger.rule');
    if (Number(trigger.expiration ?? 0) !== 0) return not('trigger.expiration');
    if (initial.price !== '0' || initial.tif !== 'ioc') return not('initial.tif');
    if (initial.reduce_only !== true) return not('initial.reduce_only');
    if (typeof initial.text !== 'string' || initial.text.length > 30) return not('initial.text');
    // In one-way mode the whole is closed by a size of 0 and the word for it; a part by a size of its sign.
    if (!isWhole(size) && !takesDecimals(symbol)) return not('initial.size');
    if (kind.isWhole && (sign(size) !== 0 || initial.close !== true)) return not('initial.close');
    const expected = kind.side === 'sell' ? -1 : 1;
    if (!kind.isWhole && (sign(size) !== expected || initial.close === true)) return not('initial.size');
    return {
      what: 'stop',
      account,
      stop: {
        clientOrderId: crypto.randomUUID(),
        symbol,
        side: kind.side,
        quantity: kind.isWhole ? null : absolute(size),
        price,
        triggerBy: trigger.price_type === 1 ? 'mark' : 'last',
      },
      tell(taken) {
        if (taken.outcome === 'accepted')
          return { ...said({ id: Number(taken.stop.ref), id_string: taken.stop.ref }), status: 201 };
        return taken.code === 'would_trigger' ? passed(kind.side) : REFUSALS[taken.code]();
      },
    };
  }

  const find = async ({ holder, params }: Call): Promise<SeenStop | undefined> =>
    (await office.stops(holder.account)).find(({ ref }) => ref === params.order_id);

  return {
    asked: {
      [`POST ${path}`]: place,
      [`GET ${path}`]: (call) => {
        const { status, contract, limit = '100', offset = '0' } = call.params;
        if (status !== 'open' && status !== 'finished')
          return turnedAway(refused(400, 'INVALID_PARAM_VALUE', 'invalid argument: status'));
        return visit('look_up', call, async () => {
          const stops = await office.stops(call.holder.account);
          const shown = stops.filter(
            (stop) =>
              stop.symbol === (contract ?? stop.symbol) &&
              (stop.status === 'standing') === (status === 'open'),
          );
          return said(shown.slice(Number(offset), Number(offset) + Number(limit)).map(tell));
        });
      },
      [`GET ${path}/`]: (call) =>
        visit('look_up', call, async () => {
          const stop = await find(call);
          return stop ? said(tell(stop)) : NOT_FOUND;
        }),
      [`DELETE ${path}/`]: (call) =>
        visit('look_up', call, async () => {
          const stop = await find(call);
          const isDone = stop && (await office.removeStop(call.holder.account, stop.ref));
          if (!isDone) return NOT_FOUND;
          return said(tell({ ...stop, status: 'cancelled', updatedAt: office.now() }));
        }),
    },
    trading: [`POST ${path}`, `DELETE ${path}/`],
  };
}
