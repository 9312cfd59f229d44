// Why an account's positions could not be read.

import { Problem, problemOf } from '../../api/problem.ts';

/** The broker could not be asked: for whatever reason, it may have refused the account's credentials just now. */
export const isUnasked = (fault: unknown): boolean =>
  fault !== null && problemOf(fault).code === 'broker_unavailable';

/** What the API advises about a broker that is away, at the end of its words. */
const AGAIN = / Try again in a moment\.$/;

/** A broker that refuses the credentials was reached: its own words stand under what happened. */
export function faultAs(fault: unknown, account: { readonly credentials_refused: boolean }): unknown {
  if (!account.credentials_refused || !isUnasked(fault)) return fault;
  const { title, detail, code, status, requestId } = problemOf(fault);
  const words = detail.startsWith(`${title}: `) ? detail.slice(title.length + 2) : detail;
  const own = words.replace(AGAIN, '');
  return new Problem(
    {
      title: 'The broker refuses the credentials',
      detail: own,
      code,
      ...(requestId && { request_id: requestId }),
    },
    status,
  );
}
