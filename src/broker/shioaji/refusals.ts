// Why SinoPac does not take an order: mostly in Chinese, and mostly with HTTP 200.

import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';
import { hoursOf, type Market } from './hours.ts';

interface Meaning {
  readonly words: RegExp;
  readonly code: RejectionCode;
  readonly advice: string;
}

/** In turn: the first that fits. */
const MEANINGS: readonly Meaning[] = [
  {
    words: /非委託時間|非交易時間|非預約下單時間|委託預約單時間|暫停接受委託|集合競價|停止交易|暫停交易/,
    code: 'market_closed',
    advice:
      'The market is closed, or in an auction that takes no market orders. Send the order again when it trades.',
  },
  {
    words: /無此商品|商品代碼|contract.*not found|not found.*contract/i,
    code: 'invalid_symbol',
    advice: 'It is not found in the broker contracts; GET /trading/accounts/{id}/symbols has them.',
  },
  {
    words: /圈存失敗|餘額不足|保證金不足|資金不足|款項不足|insufficient/i,
    code: 'insufficient_margin',
    advice: 'The account has too little money for it: pay in, or order less.',
  },
  {
    words: /股數不足|庫存不足|無部位|部位不足|無未平倉|平倉.*不足/,
    code: 'no_position',
    advice: 'So much is not held. Look at the positions at SinoPac.',
  },
  {
    words: /超過當日委託.*上限/,
    code: 'failed_at_broker',
    advice: 'The limit of the day is reached: your broker at SinoPac can raise it.',
  },
  {
    words: /數量|口數|quantity/i,
    code: 'invalid_quantity',
    advice: 'Send a whole number of contracts, or of lots of 1,000 shares, within SinoPac’s limits.',
  },
  {
    words: /最多連線|滿載/,
    code: 'broker_rate_limited',
    advice: 'Too many connections are open at SinoPac: close those that are not needed.',
  },
  {
    words: /憑證|\bca\b/i,
    code: 'failed_at_broker',
    advice:
      'The certificate (CA) of the Shioaji server is missing or has run out: whoever operates it must activate it.',
  },
  {
    words: /sign|簽署|無法使用API|Not Acceptable|permission/i,
    code: 'failed_at_broker',
    advice: 'The account is not signed for the API: sign on SinoPac’s API page, and finish its test.',
  },
];

const RETRY_S = 5;

export function rejectionOf(words: string, market: Market, now: number): OrderError {
  const meaning = MEANINGS.find((each) => each.words.test(words));
  const code = meaning?.code ?? 'failed_at_broker';
  const advice = meaning?.advice ?? 'Nothing was traded. Ask SinoPac, and send the order again.';
  return {
    code,
    message: `SinoPac refused the order: “${brief(words) || 'no reason given'}”. ${advice}`,
    ...(code === 'market_closed' && { market_hours: hoursOf(market, now) }),
    ...(code === 'broker_rate_limited' && { retry_after: RETRY_S }),
  };
}

const MOST_WORDS = 300;
export const brief = (words: string): string =>
  words
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MOST_WORDS)
    .replace(/[.。]+$/, '');
