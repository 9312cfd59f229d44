// Why Alpaca does not take an order. One code (40310000) stands for many reasons there: the words decide.

import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';

export interface Refusal {
  readonly status: number;
  readonly code: number | null;
  readonly message: string;
}

/** "client_order_id must be unique": there is an order under this id. The code alone says only that the input is wrong. */
export const DUPLICATE = 40010001;
export const isAboutTheId = ({ message }: Refusal): boolean =>
  /client.?order.?id|unique|duplicate/i.test(message);

interface Meaning {
  readonly words: RegExp;
  readonly code: RejectionCode;
  readonly advice: string;
}

/** In turn: the first that fits. */
const MEANINGS: readonly Meaning[] = [
  {
    words: /insufficient (day ?trading )?buying power|insufficient balance|insufficient funds/i,
    code: 'insufficient_margin',
    advice: 'Add funds at Alpaca, or order less.',
  },
  {
    words: /fractional.*(short|sold)|short.*fractional/i,
    code: 'invalid_quantity',
    advice: 'Fractions of a share cannot be sold short: send a whole number.',
  },
  {
    words: /insufficient qty|insufficient shares|position.*not.*(found|exist)/i,
    code: 'no_position',
    advice: 'So many shares are not held, or other open orders hold them back: look at the orders at Alpaca.',
  },
  {
    words: /cost basis|minimal amount|notional/i,
    code: 'invalid_quantity',
    advice: 'The order is worth less than Alpaca takes, which is a dollar: order more.',
  },
  {
    words: /fraction|qty|quantity/i,
    code: 'invalid_quantity',
    advice: 'Keep to the step of the symbol: some are traded in whole shares only.',
  },
  {
    words: /halt|suspend|not active|inactive|not tradable|not trading|market (is )?closed|market hours/i,
    code: 'market_closed',
    advice: 'It is not traded at present. Send the order again when it is.',
  },
  {
    words: /(asset|symbol).*(not found|invalid|unknown)|(could not find|invalid|unknown) (asset|symbol)/i,
    code: 'invalid_symbol',
    advice: 'It is not found in the broker contracts; GET /trading/accounts/{id}/symbols has them.',
  },
  {
    words: /wash trade/i,
    code: 'failed_at_broker',
    advice: 'An open order of yours stands on the other side: cancel it at Alpaca and send this one again.',
  },
  {
    words: /short/i,
    code: 'failed_at_broker',
    advice: 'It cannot be sold short in this account: look at the account and at the asset at Alpaca.',
  },
  {
    words: /day trad/i,
    code: 'failed_at_broker',
    advice: 'The account is limited in its day trades: look at its settings at Alpaca.',
  },
];

export function rejectionOf({ code, message }: Refusal): OrderError {
  const meaning = MEANINGS.find(({ words }) => words.test(message));
  const said = `Alpaca refused the order: “${brief(message)}”${code === null ? '' : ` (${code})`}.`;
  return {
    code: meaning?.code ?? 'failed_at_broker',
    message: `${said} ${meaning?.advice ?? 'Nothing was traded. Look at the account at Alpaca, and send the order again.'}`,
  };
}

const MOST_WORDS = 300;
export const brief = (message: string): string =>
  message.replaceAll(/\s+/g, ' ').trim().slice(0, MOST_WORDS).replace(/[.]+$/, '');
