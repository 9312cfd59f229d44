// The price that an entry waits for, and for how long: as it stands in the drawer, as it is sent, and what is wrong with it.

import { isMultipleOf, readQuantity, times, typed } from '../../parts/exact.ts';
import { figure } from '../../parts/numbers.ts';

const KINDS = ['market', 'limit', 'stop', 'stop limit'] as const;
export type PriceKind = (typeof KINDS)[number];
export type TimeInForce = 'gtc' | 'day' | 'ioc' | 'fok';
const SECONDS = { minutes: 60, hours: 3_600, days: 86_400 } as const;
export type Unit = keyof typeof SECONDS;
export const UNITS = Object.keys(SECONDS) as readonly Unit[];

const LEAST_SECONDS = 10;
const MOST_SECONDS = 2_592_000;
/** As the API: nobody has to say a day. */
const USUAL_SECONDS = 86_400;

export interface Pricing {
  readonly kind: PriceKind;
  /** These as typed. */
  readonly limit: string;
  readonly stop: string;
  readonly lasts: string;
  readonly unit: Unit;
  readonly inForce: TimeInForce;
  /** The next entry of that name takes its place. */
  readonly name: string;
}

export const AT_MARKET: Pricing = {
  ...{ kind: 'market', limit: '', stop: '', lasts: '', unit: 'days', inForce: 'gtc', name: '' },
};

/** What is sent of it. */
export interface SentPrice {
  readonly limit_price?: number;
  readonly stop_price?: number;
  readonly time_in_force?: TimeInForce;
  readonly expires_in?: number;
  readonly id?: string;
}

export const hasLimit = ({ kind }: Pick<Pricing, 'kind'>): boolean =>
  kind === 'limit' || kind === 'stop limit';
export const hasStop = ({ kind }: Pick<Pricing, 'kind'>): boolean => kind === 'stop' || kind === 'stop limit';
/** The others are over in a moment. */
export const rests = ({ kind, inForce }: Pick<Pricing, 'kind' | 'inForce'>): boolean =>
  kind !== 'market' && (inForce === 'gtc' || inForce === 'day');

const secondsOf = ({ lasts, unit }: Pick<Pricing, 'lasts' | 'unit'>): number | null => {
  const count = readQuantity(lasts);
  return count === null ? null : times(count, SECONDS[unit]);
};

/** Null: something is missing, or wrong. */
export function sentPrice(pricing: Pricing): SentPrice | null {
  if (pricing.kind === 'market') return {};
  const limit = hasLimit(pricing) ? readQuantity(pricing.limit) : undefined;
  const stop = hasStop(pricing) ? readQuantity(pricing.stop) : undefined;
  if (limit === null || stop === null || pricingProblems(pricing, null).lasts !== null) return null;
  const seconds = rests(pricing) ? secondsOf(pricing) : null;
  return {
    ...(limit !== undefined && { limit_price: limit }),
    ...(stop !== undefined && { stop_price: stop }),
    ...(pricing.inForce !== 'gtc' && { time_in_force: pricing.inForce }),
    ...(seconds !== null && seconds !== USUAL_SECONDS && { expires_in: seconds }),
    ...(pricing.name.trim() !== '' && { id: pricing.name.trim() }),
  };
}

/** The fields that send this. */
export function pricingOf({ limit_price, stop_price, time_in_force, expires_in, id }: SentPrice): Pricing {
  const unit =
    expires_in === undefined
      ? 'days'
      : (UNITS.findLast((each) => isMultipleOf(expires_in, SECONDS[each])) ?? 'minutes');
  return {
    kind:
      stop_price === undefined
        ? limit_price === undefined
          ? 'market'
          : 'limit'
        : limit_price === undefined
          ? 'stop'
          : 'stop limit',
    limit: limit_price === undefined ? '' : typed(limit_price),
    stop: stop_price === undefined ? '' : typed(stop_price),
    lasts: expires_in === undefined ? '' : typed(expires_in / SECONDS[unit]),
    unit,
    inForce: time_in_force ?? 'gtc',
    name: id ?? '',
  };
}

export interface PricingProblems {
  readonly limit: string | null;
  readonly stop: string | null;
  readonly lasts: string | null;
}

/** `tick`: null: not known. */
export function pricingProblems(pricing: Pricing, tick: number | null): PricingProblems {
  const seconds = secondsOf(pricing);
  const isTyped = rests(pricing) && pricing.lasts.trim() !== '';
  return {
    limit: hasLimit(pricing) ? priceProblem(pricing.limit, tick) : null,
    stop: hasStop(pricing) ? priceProblem(pricing.stop, tick) : null,
    lasts: !isTyped
      ? null
      : seconds === null
        ? 'A number above zero.'
        : seconds < LEAST_SECONDS || seconds > MOST_SECONDS || !Number.isInteger(seconds)
          ? 'From 10 seconds to 30 days.'
          : null,
  };
}

function priceProblem(text: string, tick: number | null): string | null {
  if (text.trim() === '') return null;
  const price = readQuantity(text);
  if (price === null)
    return text.includes(',')
      ? 'Write it with a decimal point and without commas, such as 64200.5.'
      : 'A price above zero, of at most 15 digits.';
  return tick !== null && !isMultipleOf(price, tick) ? `In steps of ${figure(tick)}.` : null;
}

/** What a broker takes. */
interface Able {
  readonly stop_entries: boolean;
  readonly time_in_force: readonly TimeInForce[];
}

export const kindsFor = (able: Able | null): readonly PriceKind[] => {
  if (able === null) return KINDS;
  if (able.time_in_force.length === 0) return ['market'];
  return able.stop_entries ? KINDS : ['market', 'limit'];
};

/** Which of them go with such an entry: what waits for its stop cannot be over at once. */
export const timesFor = (pricing: Pricing, able: Able | null): readonly TimeInForce[] =>
  (able?.time_in_force ?? (['gtc', 'day', 'ioc', 'fok'] as const)).filter(
    (each) => !hasStop(pricing) || each === 'gtc' || each === 'day',
  );

/** As one chooses it, with what it means. */
export const TIMES: Readonly<Record<TimeInForce, string>> = {
  gtc: 'gtc, until filled or expired',
  day: 'day, until the session ends',
  ioc: 'ioc, what can be filled at once',
  fok: 'fok, all of it at once or nothing',
};
