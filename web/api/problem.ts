// What went wrong, as the API's problem documents say it; where no answer came, in the same shape.

import type { components } from './schema.ts';

type ProblemDocument = Partial<components['schemas']['Problem']>;

export class Problem extends Error {
  override readonly name = 'Problem';
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  /** 0: no answer came. */
  readonly status: number;
  readonly requestId: string | null;
  /** What to do; null: the detail says it. */
  readonly advice: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(document: ProblemDocument, status: number, retryAfter: string | null = null) {
    super(document.title ?? 'Something went wrong');
    this.title = document.title ?? 'Something went wrong';
    this.detail = document.detail ?? '';
    this.code = document.code ?? 'unknown';
    this.status = status;
    this.requestId = document.request_id ?? null;
    this.advice = this.detail.includes(document.advice ?? '') ? null : (document.advice ?? null);
    this.retryAfterSeconds = retryAfter === null ? null : Number(retryAfter);
  }
}

/** No answer came, or not the whole of one. */
export class Unreachable extends Problem {
  constructor() {
    super(
      {
        title: 'Fillpath does not answer',
        detail:
          'Either your network or the service is down. What you see may be out of date; nothing you did here is dropped silently.',
        code: 'unreachable',
      },
      0,
    );
  }
}

/** Of a fetch alone: there a TypeError is the network's, and anywhere else our own fault. */
export async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (fault) {
    throw fault instanceof TypeError ? new Unreachable() : fault;
  }
}

/** A refusal is an answer; silence, and a fault of the service, are worth another try. */
export const isRefusal = (fault: unknown): boolean =>
  fault instanceof Problem && fault.status >= 400 && fault.status < 500;

/** Of whatever was thrown. */
export function problemOf(fault: unknown): Problem {
  if (fault instanceof Problem) return fault;
  return new Problem({ title: 'This page has a fault', detail: String(fault), code: 'page_fault' }, 0);
}
