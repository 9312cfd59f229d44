// What OKX's answers have in common: the markets, the shape of an answer, and the words of refusals.

import type { Answer, RefusalCode } from '../../chaos/exchange-dialect.ts';
import { isOnStep, sign } from '../../src/domain/decimal.ts';
import { type Params, perpetuals, quantityOf } from './wire.ts';

const SIZES = {
  BTC: 0.01,
  ETH: 0.1,
  SOL: 1,
  BNB: 0.01,
  XRP: 100,
  DOGE: 1000,
  ADA: 100,
  LINK: 1,
  AVAX: 1,
  LTC: 1,
};
export const MARKETS = perpetuals((coin) => `${coin}-USDT-SWAP`, SIZES);
export const answered = (status: number, code: string, msg: string, data: readonly object[]): Answer => ({
  status,
  body: { code, msg, data },
});
export const said = (data: object): Answer => answered(200, '0', '', Array.isArray(data) ? data : [data]);
export const refused = (status: number, code: number, msg: string): Answer =>
  answered(status, `${code}`, msg, []);

// It never says for how long.
export const busy = () =>
  refused(
    429,
    50011,
    'Rate limit reached. Please refer to API documentation and throttle requests accordingly.',
  );

export const REFUSALS: Record<
  Exclude<RefusalCode, 'broker_rate_limited'>,
  readonly [code: number, text: string]
> = {
  insufficient_margin: [51008, 'Order failed. Insufficient USDT margin in account'],
  market_closed: [51022, 'Contract suspended'],
  invalid_symbol: [51001, "Instrument ID, Instrument ID code, or Spread ID doesn't exist."],
  below_minimum: [51020, 'Your order should meet or exceed the minimum order amount.'],
  off_step: [51121, 'Order quantity must be a multiple of the lot size.'],
  invalid_quantity: [51202, 'Market order amount exceeds the maximum amount.'],
  position_mode_mismatch: [51000, 'Parameter posSide error'],
  no_position: [
    51169,
    "Order failed because you don't have any positions in this direction to reduce or close.",
  ],
  expired: [50037, 'The expTime was passed before the order came to its turn.'],
  duplicate: [51016, 'Client order ID already exists.'],
  would_trigger: [51280, 'The trigger price is beyond the last price.'],
};

/** Of an order: the answer says that all failed, and its row why. */
export const failed = (params: Params, code: number, text: string): Answer =>
  answered(200, '1', 'All operations failed', [
    { clOrdId: params.clOrdId ?? '', ordId: '', tag: '', ts: `${Date.now()}`, sCode: `${code}`, sMsg: text },
  ]);

export const isListed = (symbol: string | undefined) => MARKETS.some((market) => market.symbol === symbol);
export const NO_SYMBOL = refused(200, ...REFUSALS.invalid_symbol);

export const OFF_TICK = [
  51150,
  'The precision of the number of trades or the price exceeds the limit.',
] as const;
/** Of an instrument that is not listed, any price is one. */
export function isPrice(text: string | undefined, symbol: string): boolean {
  const tick = MARKETS.find((market) => market.symbol === symbol)?.tick;
  const price = quantityOf(text);
  return sign(price) > 0 && (!tick || isOnStep(price, tick));
}
