// Why Alpaca does not take an order. One code (40310000) stands for many reasons there: the words decide.

import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';
import type { StopOutcome } from '../broker.ts';

export interface Refusal {
  readonly status: number;
  readonly code: number | null;
  readonly message: string;
  /** Of shares that are not free: none is held at all. */
  readonly isFlat?: boolean;
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

/** “stop price must be less than current price”; of one beside a limit, “…than base_price - 0.01”. */
const PASSED = /stop.?price must.*(current|market|base).?price/i;

export const isPassed = ({ message }: Refusal): boolean => PASSED.test(message);

/** Alpaca takes no order that could trade with another one of the account, nor one to open beside one of the other side. */
const OPPOSED = /wash trade|while a (long buy|short sell) order is open/i;

export const isOpposed = ({ message }: Refusal): boolean => OPPOSED.test(message);

/** In turn: the first that fits. */
const MEANINGS: readonly Meaning[] = [
  {
    words: PASSED,
    code: 'failed_at_broker',
    advice: 'The price is beyond the stop already. Nothing was placed.',
  },
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
    words: OPPOSED,
    code: 'failed_at_broker',
    advice:
      'An open order of yours stands on the other side: unless it protects your position, cancel it at Alpaca and send this one again.',
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

/** A sale that would be one on credit finds nothing to close. */
const NOTHING_HELD = /sold short|allowed to short|position intent mismatch|position.*(not found|not exist)/i;

/** Of one that is to be moved. Others that cannot be replaced (accepted, pending_new, pending_cancel, pending_replace) stand. */
const ENDED =
  /already replaced|order is not open|in "?(filled|canceled|expired|replaced|rejected)"? (status|state)/i;

/** What is reserved for another order is refused like anything else: it is held, and not free. */
export function stopRefusalOf(
  { status, message, isFlat = false }: Refusal,
  call: 'place' | 'move',
): StopOutcome {
  const isGone = call === 'move' && (status === 404 || ENDED.test(message));
  const isUncovered = NOTHING_HELD.test(message) || (isFlat && /insufficient qty/i.test(message));
  const why = isGone
    ? 'gone'
    : PASSED.test(message)
      ? 'passed'
      : isUncovered
        ? 'no_position'
        : OPPOSED.test(message)
          ? 'opposed'
          : 'refused';
  return { outcome: 'rejected', why, words: brief(message) };
}

/** The order is as it was to become. */
export const isUnchanged = ({ message }: Refusal): boolean => /parameters are not changed/i.test(message);

const MOST_WORDS = 300;
export const brief = (message: string): string =>
  message.replaceAll(/\s+/g, ' ').trim().slice(0, MOST_WORDS).replace(/[.]+$/, '');
