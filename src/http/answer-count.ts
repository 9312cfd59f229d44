// Counts what was answered: denials by their code, and how long a webhook took.

import type { FastifyInstance } from 'fastify';
import type { AnswerKind, Counters } from '../domain/counters.ts';
import type { DenialCode } from '../domain/denial.ts';
import { DENIALS } from '../domain/denials.ts';
import { WEBHOOK_PATH } from './routes/webhook.ts';

export function countAnswers(
  server: FastifyInstance,
  counters: Pick<Counters, 'webhookAnswered' | 'denied'>,
): void {
  server.addHook('onResponse', ({ routeOptions }, { problemCode, statusCode, elapsedTime }, done) => {
    if (problemCode !== null && isDenialCode(problemCode)) counters.denied(problemCode);
    if (routeOptions.url === WEBHOOK_PATH) counters.webhookAnswered(kindOf(statusCode), elapsedTime);
    done();
  });
}

/** Only what is ours is counted by its name: nobody outside is to make up new ones. */
const isDenialCode = (code: string): code is DenialCode => Object.hasOwn(DENIALS, code);

function kindOf(status: number): AnswerKind {
  if (status === 202) return 'accepted';
  if (status < 400) return 'result';
  return status < 500 ? 'denied' : 'failed';
}
