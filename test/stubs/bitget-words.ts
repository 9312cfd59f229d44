// What both of Bitget's APIs have in common: the markets, the shape of an answer and the words of refusals.

import type { Answer, RefusalCode } from '../../chaos/exchange-dialect.ts';
import { isOnStep, sign } from '../../src/domain/decimal.ts';
import { perpetuals, quantityOf } from './wire.ts';

export const MARKETS = perpetuals((coin) => `${coin}USDT`);
export const isListed = (symbol: string | undefined) => MARKETS.some((market) => market.symbol === symbol);

/** Of an instrument that is not listed, any price is one. */
export function isPrice(text: string | undefined, symbol: string): boolean {
  const tick = MARKETS.find((market) => market.symbol === symbol)?.tick;
  const price = quantityOf(text);
  return sign(price) > 0 && (!tick || isOnStep(price, tick));
}

const told = (status: number, code: string, msg: string, data: object | null): Answer => ({
  status,
  body: { code, msg, requestTime: Date.now(), data },
});
export const said = (data: object | null): Answer => told(200, '00000', 'success', data);
export const refused = (code: number | string, msg: string, status = 400): Answer =>
  told(status, `${code}`, msg, null);

// It never says for how long.
export const busy = () => refused('429', 'Too Many Requests', 429);

export const REFUSALS: Record<RefusalCode, () => Answer> = {
  insufficient_margin: () => refused(40762, 'The order amount exceeds the balance'),
  market_closed: () => refused(45043, 'Due to settlement or maintenance reasons, the trade is suspended'),
  invalid_symbol: () => refused(40034, 'Parameter symbol does not exist'),
  below_minimum: () => refused(45110, 'less than the minimum amount 5 USDT'),
  off_step: () => refused(40808, 'Parameter verification exception size checkBDScale error'),
  invalid_quantity: () => refused(45112, 'more than the maximum order quantity'),
  broker_rate_limited: busy,
  position_mode_mismatch: () =>
    refused(40774, 'The order type for unilateral position must also be the unilateral position type.'),
  no_position: () => refused(22002, 'No position to close'),
  expired: () => refused(40008, 'Request timestamp expired'),
  duplicate: () => refused(40786, 'Duplicate clientOid'),
  would_trigger: () => refused(40917, 'Stop price for long position please < mark price'),
};
export const OFF_TICK = () => refused(45115, 'The price you enter should be a multiple of 0.1');
