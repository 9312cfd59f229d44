// Shioaji's own HTTP server, as it is asked: JSON under /api/v1, the keys as a bearer, faults as {code, message, details}.

import {
  AccountUnfit,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Meter,
  type TellUnreadable,
} from '../broker.ts';
import type { Keys } from '../keys.ts';
import { unreadableReply } from '../unreadable.ts';
import { baseAddress, bytesOf, isUnsent, jsonOf, send, type Wire, wholeAnswers } from '../wire.ts';
import { FAULT } from './answers.ts';
import { brief } from './refusals.ts';

/** What may be long: the lists of contracts, and the orders of a day, among which ours is looked for. */
const LONG: readonly (readonly [path: RegExp, bytes: number])[] = [
  [/^data\/contracts/, 32 * 1_048_576],
  [/^order\/trades$/, 8 * 1_048_576],
];

export interface ApiOptions {
  /** There is no public one. */
  readonly url: string;
  readonly fetch?: Wire | undefined;
  readonly meter?: Meter | undefined;
  readonly unreadable?: TellUnreadable;
}

export type Answer<Body = unknown> =
  /** 200; undefined: not JSON. */
  | { readonly kind: 'answer'; readonly body: Body }
  /** The server's own word, in its own format. */
  | { readonly kind: 'fault'; readonly status: number; readonly message: string }
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  /** `isUnsent`: certainly nothing left us. */
  | { readonly kind: 'silence'; readonly why: string; readonly isUnsent: boolean };

export interface Api {
  readonly address: string;
  /** `keys` null: as somebody without any. */
  ask(signal: AbortSignal, path: string, body?: object, keys?: Keys | null): Promise<Answer>;
  /** It was no answer to what was asked: somebody may want to know. `body`: what is to be shown of it. */
  unreadable(path: string, body: unknown): void;
  /** The answer is not read here: it may be long. */
  askForList(signal: AbortSignal, path: string, body?: object): Promise<Answer<ArrayBuffer>>;
}

interface Asked {
  readonly signal: AbortSignal;
  readonly path: string;
  readonly body?: object | undefined;
  readonly keys?: Keys | null | undefined;
}

const NAME = 'the Shioaji server';

export function openApi(own: Keys, { url, fetch = send, meter, ...options }: ApiOptions): Api {
  const address = baseAddress(url);
  const askAt = (path: string) => wholeAnswers(fetch, LONG.find(([long]) => long.test(path))?.[1]);
  async function hear<Body>(
    { signal, path, body, keys = own }: Asked,
    read: (response: Response) => Promise<Body>,
  ): Promise<Answer<Body>> {
    if (signal.aborted) return { kind: 'silence', why: `${NAME} was not asked in time`, isUnsent: true };
    // What is held and what there is: SinoPac counts these apart, and takes few of them.
    if (path.startsWith('portfolio/')) meter?.sent();
    try {
      const response = await askAt(path)(`${address}/api/v1/${path}`, {
        method: body ? 'POST' : 'GET',
        signal,
        headers: {
          accept: 'application/json',
          ...(keys && { authorization: `Bearer ${keys.apiKey}:${keys.apiSecret}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.status === 200
        ? { kind: 'answer', body: await read(response) }
        : refusalOf(response.status, response.headers, jsonOf(await response.text()));
    } catch (fault) {
      if (isUnsent(fault)) return { kind: 'silence', why: `${NAME} cannot be reached`, isUnsent: true };
      const why = signal.aborted ? `${NAME} did not answer in time` : `the connection to ${NAME} broke off`;
      return { kind: 'silence', why, isUnsent: false };
    }
  }

  return {
    address,
    ask: (signal, path, body, keys) =>
      hear({ signal, path, body, keys }, async (response) => jsonOf(await response.text())),
    unreadable(path, body) {
      const text = body === undefined ? 'no JSON' : JSON.stringify(body);
      const said = { method: '', url: `/${path}`, status: 200, text, secrets: [own.apiKey, own.apiSecret] };
      options.unreadable?.(unreadableReply(said));
    },
    askForList: (signal, path, body) => hear({ signal, path, body }, bytesOf),
  };
}

const SECONDS = /^[1-9]\d{0,4}$/;
const SHORT_MS = 1_000;
/** "Something is wrong with what you do: log in again in a minute." */
const MINUTE_MS = 60_000;

function refusalOf(status: number, headers: Headers, body: unknown): Answer<never> {
  const retryAfter = headers.get('retry-after') ?? '';
  if (status === 429)
    return { kind: 'busy', retryAfterMs: SECONDS.test(retryAfter) ? Number(retryAfter) * 1000 : SHORT_MS };
  if (!FAULT.Check(body)) return { kind: 'silence', why: notAsAgreed(status), isUnsent: false };
  if (status === 503 && /1分鐘/.test(body.message)) return { kind: 'busy', retryAfterMs: MINUTE_MS };
  return { kind: 'fault', status, message: body.message };
}

const notAsAgreed = (status: number): string => `${NAME} answered with status ${status}, and not as agreed`;

/**
 * What a fault says of an order that it answers. 4xx: it was not taken on, but for a time-out. 451 (too many connections) and
 * a 503 of maintenance come before it is passed on; what the order desk behind (STS) says of itself decides nothing.
 */
export function isCertain({
  status,
  message,
}: {
  readonly status: number;
  readonly message: string;
}): boolean {
  if (/STS|timeout|timed out|逾時/i.test(message)) return false;
  return (status >= 400 && status < 500 && status !== 408) || status === 503;
}

/** Of a question that got no answer which can be believed. */
export function unanswered(answer: Answer, why = ''): BrokerUnavailable {
  switch (answer.kind) {
    case 'answer':
      return new BrokerUnavailable(`${notAsAgreed(200)}${why}.`);
    case 'silence':
      return new BrokerUnavailable(`${answer.why}.`);
    case 'busy':
      return busy(answer.retryAfterMs);
    case 'fault':
      return faultOf(answer);
  }
}

export const busy = (retryAfterMs: number): BrokerBusy =>
  new BrokerBusy('SinoPac limits the rate of requests.', retryAfterMs);

export function faultOf({
  status,
  message,
}: {
  readonly status: number;
  readonly message: string;
}): BrokerUnavailable {
  const said = `SinoPac answered “${brief(message)}”`;
  if (/permission|權限/i.test(message))
    return new AccountUnfit(
      `${said}. Give the API key that permission on SinoPac’s API page, and verify again.`,
    );
  if (/not accept|first\.?$|sign .* first|簽署/i.test(message) && status === 406)
    return new AccountUnfit(
      `${said}. Sign for the API on SinoPac’s page, finish its test, and verify again.`,
    );
  if (/sign data is timeout/i.test(message))
    return new BrokerUnavailable(
      `${said}: the clock of the machine of the Shioaji server is wrong. Set it right.`,
    );
  if (/ip.*not allow/i.test(message))
    return new CredentialsRejected(`${said}. Allow that address for the API key on SinoPac’s API page.`);
  if (status === 401 && /token is expired|validate credentials|not provided/i.test(message))
    return new BrokerUnavailable(
      `${said}: the Shioaji server has lost its own session. It must be started again.`,
    );
  if (
    status === 401 ||
    (status === 406 && /expired/i.test(message)) ||
    /key.*(not exist|not match)/i.test(message)
  )
    return new CredentialsRejected(
      `${said}. The API key and the secret key must be those with which the Shioaji server runs, and not have run out.`,
    );
  if (status === 451)
    return new BrokerUnavailable(
      `${said}: SinoPac allows five connections to a person. Close those that are not needed.`,
    );
  if (status === 503)
    return new BrokerUnavailable(`${said}: it is in maintenance. Try again when it is over.`);
  return new BrokerUnavailable(`${said}.`);
}
