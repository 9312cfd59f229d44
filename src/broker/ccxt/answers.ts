// What was heard of an exchange, told as the port wants it: a question has an answer or throws, an order has one of three
// outcomes. Here alone a meaning becomes words.

import { type Decimal, toNumber } from '../../domain/decimal.ts';
import type { OrderError, RejectionCode } from '../../domain/orders/order.ts';
import {
  AccountUnfit,
  BrokerBusy,
  BrokerUnavailable,
  type BusyScope,
  CredentialsRejected,
} from '../broker.ts';
import type { Exchange } from './exchange.ts';
import type { Meaning, Refusal } from './profile.ts';
import { meaningOf } from './refusals.ts';
import { type Credentials, type Heard, Unanswered } from './wire.ts';
import { addressIn, discreetWords } from './words.ts';

/** A refusal for the rate that names no delay. */
const UNSAID_DELAY_MS = 1_000;

export interface Refused extends Refusal {
  readonly meaning: Meaning;
  /** Of a refusal for the rate. */
  readonly delayMs: number;
  readonly scope: BusyScope;
}

/** null: it is no refusal. */
export function refusedBy(heard: Heard, exchange: Exchange, credentials: Credentials | null): Refused | null {
  const { profile } = exchange;
  const found = meaningOf(heard, profile, exchange.lineageOf);
  if (!found) return null;
  const after = Number(heard.headers.get('retry-after') ?? '');
  const delayMs =
    profile.delayMs?.(heard, exchange.now()) ?? (after > 0 ? Math.ceil(after * 1000) : UNSAID_DELAY_MS);
  // What anybody may ask is counted by the address, and each question by itself.
  const counted = credentials === null ? 'question' : 'account';
  return {
    ...found,
    words: discreetWords(found.words, credentials),
    delayMs,
    scope: found.meaning === 'account_busy' ? counted : 'address',
  };
}

/** In the exchange's words. */
export const quoted = ({ words, code }: Refusal): string =>
  words === '' ? `code ${code}` : `${words} (${code})`;

/** Of a question that was refused. Nothing was done by it. */
export function faultOf(refused: Refused, exchange: Exchange): BrokerUnavailable {
  const { title, howToSwitch } = exchange.profile;
  const said = quoted(refused);
  switch (refused.meaning) {
    case 'busy':
    case 'account_busy': {
      const rate = refused.scope === 'account' ? 'the account’s rate' : 'the rate';
      return new BrokerBusy(`${title} limits ${rate} of requests: ${said}.`, refused.delayMs, refused.scope);
    }
    case 'credentials':
      return new CredentialsRejected(`${title} refuses the credentials: ${said}.`);
    case 'address': {
      const address = addressIn(refused.words) ?? 'this server’s own';
      return new CredentialsRejected(
        `${title} refuses the credentials: ${said}. If the key is bound to addresses, allow ${address} too.`,
      );
    }
    case 'permission':
      return new AccountUnfit(
        `${title} does not let this key do that: ${said}. Give it the permission to trade futures, and look whether the account is restricted.`,
      );
    case 'account_type':
      return new AccountUnfit(
        `The account’s type does not suit: ${title} says ${said}. Open its futures or unified account there and verify the credentials again.`,
      );
    case 'position_mode_mismatch':
      return new AccountUnfit(hedged(title, howToSwitch));
    case 'clock':
      return new BrokerUnavailable(clockWords(exchange, said));
    case 'unavailable':
      return new BrokerUnavailable(`${title} cannot be used now: ${said}.`);
    default:
      return new BrokerUnavailable(`${title} refused the question: ${said}.`);
  }
}

export const hedged = (title: string, howToSwitch: string): string =>
  `The account is in hedge mode at ${title}, and only one-way mode is traded. ${howToSwitch}, then try again.`;

const clockWords = (exchange: Exchange, said: string): string =>
  `${exchange.profile.title} refused the request’s time (${said}): this server’s clock differs from the exchange’s by ` +
  `${toNumber(String(Math.abs(exchange.aheadMs()) / 1000) as Decimal)} s. It is corrected for; set the clock if this goes on.`;

/** What is certainly an order's end. null: the refusal is not of that kind. */
export function rejectionOf(refused: Refused, exchange: Exchange): OrderError | null {
  const { title, howToSwitch } = exchange.profile;
  const said = quoted(refused);
  const reject = (code: RejectionCode, message: string): OrderError => ({ code, message });
  switch (refused.meaning) {
    case 'insufficient_margin':
      return reject('insufficient_margin', `The account has too little margin at ${title}: ${said}.`);
    case 'market_closed':
      return reject('market_closed', `${title} does not trade this instrument now: ${said}.`);
    case 'invalid_symbol':
      return reject(
        'invalid_symbol',
        `The symbol is not found in the broker contracts of ${title}: ${said}.`,
      );
    case 'invalid_quantity':
      return reject('invalid_quantity', `${title} does not take this quantity: ${said}.`);
    case 'position_mode_mismatch':
      return reject('position_mode_mismatch', hedged(title, howToSwitch));
    case 'no_position':
      return reject('no_position', `${title} has no position that this order could reduce: ${said}.`);
    case 'passed':
      return reject('invalid_price', `The market has passed the price already: ${title} says ${said}.`);
    case 'refused':
    case 'not_found':
      return reject('failed_at_broker', `${title} refused the order: ${said}.`);
    default:
      return null;
  }
}

/** Of a question to which nobody gave a good answer. */
export function unansweredBy(fault: unknown, { profile }: Exchange): BrokerUnavailable {
  if (fault instanceof BrokerUnavailable) return fault;
  if (fault instanceof Unanswered)
    return new BrokerUnavailable(`${profile.title} gave no answer: ${fault.message}.`);
  throw fault;
}

export const notAsAgreed = ({ status }: Heard, { profile }: Exchange): string =>
  `${profile.title} answered with status ${status}, and not as agreed`;
