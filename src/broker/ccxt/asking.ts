// Questions on behalf of one account. What is not an answer to the question is none: it throws.

import { BrokerUnavailable } from '../broker.ts';
import { faultOf, notAsAgreed, type Refused, refusedBy, unansweredBy } from './answers.ts';
import type { Exchange } from './exchange.ts';
import type { Asking, Meaning, Question } from './profile.ts';
import { UnreadableRow } from './rows.ts';
import type { Credentials, Heard } from './wire.ts';
import { discreetWords } from './words.ts';

export const isGood = ({ status }: Heard): boolean => status === 200 || status === 201;

/** Refused for who asked, or when: not for what was asked. */
const NO_ANSWER: readonly Meaning[] = [
  'credentials',
  'address',
  'busy',
  'account_busy',
  'clock',
  'unsaid',
  'unavailable',
];

export function asker(exchange: Exchange, credentials: Credentials | null, signal: AbortSignal): Asking {
  /** Throws where it cannot be believed. */
  function answerIn<T>(question: Question<T>, heard: Heard): T {
    let why = '';
    try {
      const answer = isGood(heard) ? question.read(heard.body) : undefined;
      if (answer !== undefined) return answer;
    } catch (fault) {
      if (!(fault instanceof UnreadableRow)) throw fault;
      why = `: ${discreetWords(fault.message, credentials)}`;
    }
    exchange.unreadable(heard, credentials);
    throw new BrokerUnavailable(`${notAsAgreed(heard, exchange)}${why}.`);
  }

  async function reply<T>(
    question: Question<T>,
  ): Promise<{ readonly answer: T } | { readonly refused: Refused }> {
    if (signal.aborted) throw new BrokerUnavailable(`${exchange.profile.title} was not asked in time.`);
    const heard = await exchange.call(question, { signal, credentials }).catch((fault: unknown) => {
      throw unansweredBy(fault, exchange);
    });
    const refused = refusedBy(heard, exchange, credentials);
    if (refused?.meaning === 'clock') await exchange.compareClocks(signal);
    if (refused) return { refused };
    return { answer: answerIn(question, heard) };
  }

  async function tell<T>(question: Question<T>) {
    const told = await reply(question);
    if ('answer' in told) return told;
    if (NO_ANSWER.includes(told.refused.meaning)) throw faultOf(told.refused, exchange);
    return { refused: told.refused.meaning };
  }

  return {
    tell,
    async ask(question) {
      const told = await reply(question);
      if ('answer' in told) return told.answer;
      throw faultOf(told.refused, exchange);
    },
    async hear(question) {
      const told = await tell(question).catch((fault: unknown) => {
        if (fault instanceof BrokerUnavailable) return null;
        throw fault;
      });
      return told && 'answer' in told ? told.answer : null;
    },
  };
}
