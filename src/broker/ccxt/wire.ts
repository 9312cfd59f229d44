// The wire under ccxt. ccxt composes and signs a request; it is sent here, and what comes back is read by us: an answer
// reaches ccxt's own parsers only where the call says so (lists of markets), because they make "flat" of a page and an order
// of nothing. One ccxt exchange serves every user of a process: whose keys sign, and how long a call may take, is the call's.

import { AsyncLocalStorage } from 'node:async_hooks';
import { NumberText } from '../../domain/signals/json.ts';
import { baseAddress, isUnsent, send, type Wire, wholeAnswers } from '../wire.ts';

export interface Credentials {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface Call {
  readonly signal: AbortSignal;
  /** null: nobody's, a public question. */
  readonly credentials: Credentials | null;
  /** Beside what ccxt sends. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For how long after it was signed the exchange may take it, in ms, where that stands in the request. */
  readonly windowMs?: number;
  /** It is signed as if it were so much earlier, in ms: an exchange with a fixed window then refuses it so much sooner. */
  readonly agedMs?: number;
  /** The answer is a list of markets: it may be long, and is not read here. */
  readonly isList?: boolean;
}

/** What the exchange said. */
export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  /** Numbers are as they were written: a double would have lost digits of an id by then. undefined: not JSON. */
  readonly body: unknown;
  readonly text: string;
  readonly method: string;
  /** The exchange's own address, for ccxt's tables; it may be signed, and is never shown. */
  readonly url: string;
}

/** The answer, on its way through ccxt. */
export class Answered extends Error {
  override readonly name = 'Answered';
  readonly heard: Heard;
  constructor(heard: Heard) {
    super('the exchange answered');
    this.heard = heard;
  }
}

/** No answer. `isUnsent`: certainly nothing left us. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
  readonly isUnsent: boolean;
  constructor(message: string, isUnsent: boolean) {
    super(message);
    this.isUnsent = isUnsent;
  }
}

const calls = new AsyncLocalStorage<Call>();

/** Outside of a call there are no keys to sign with. */
export function currentCall(): Call {
  const call = calls.getStore();
  if (!call) throw new Error('ccxt was used outside of a call');
  return call;
}

export const inCall = <T>(call: Call, work: () => Promise<T>): Promise<T> => calls.run(call, work);

/** Whose library it is, as it would tell the exchange: nobody's commission stands on a user's orders. */
const MARKS = ['referer', 'x-gate-channel-id', 'x-channel-api-code', 'user-agent'];

/** Of lists of markets; what else is so long is no answer. */
const MOST_LIST_BYTES = 32 * 1024 * 1024;

export interface Request {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

export type Send = (url: string, request: Request) => Promise<Response>;

/** ccxt's `fetchImplementation`. `base`: where the exchange is spoken to instead of its own address. */
export function createWire({
  base,
  fetch = send,
}: {
  readonly base?: string | undefined;
  readonly fetch?: Wire | undefined;
}): Send {
  const readdressed = readdress(base);
  const [askShort, askLong] = [wholeAnswers(fetch), wholeAnswers(fetch, MOST_LIST_BYTES)];
  return async (url, { method, headers = {}, body }) => {
    const call = currentCall();
    if (call.signal.aborted) throw new Unanswered('It was not asked in time', true);
    const sent = { ...unmarked(headers), ...call.headers };
    let heard: Heard;
    try {
      const ask = call.isList ? askLong : askShort;
      const response = await ask(readdressed(url), {
        method,
        signal: call.signal,
        headers: sent,
        ...(body !== undefined && { body }),
      });
      const { status } = response;
      if (call.isList && status === 200) return response;
      const text = await response.text();
      heard = { status, headers: response.headers, body: parseExactly(text), text, method, url };
    } catch (fault) {
      throw unanswered(fault, call.signal);
    }
    throw new Answered(heard);
  };
}

/** Of a stream, where the exchange is spoken to instead of its own address. */
export const socketAt =
  (base: string | undefined) =>
  (url: string): string =>
    readdress(base?.replace(/^http/i, 'ws'))(url);

/** A path in the other address is kept in front of the exchange's own. */
function readdress(base: string | undefined): (url: string) => string {
  if (base === undefined) return (url) => url;
  const front = baseAddress(base);
  // What was signed goes as it stands: nothing is decoded, and nothing encoded anew.
  return (url) => url.replace(/^[a-z]+:\/\/[^/?#]+/i, () => front);
}

function unmarked(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = { 'User-Agent': 'fillpath' };
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !MARKS.includes(name.toLowerCase())) kept[name] = value;
  return kept;
}

function unanswered(fault: unknown, signal: AbortSignal): Unanswered {
  if (isUnsent(fault)) return new Unanswered('It cannot be reached', true);
  return new Unanswered(signal.aborted ? 'It did not answer in time' : 'It broke off', false);
}

/** Numbers as they were written; undefined: not JSON. */
export const parseExactly = (text: string): unknown => {
  try {
    return JSON.parse(text, (_key, part, context?: { source?: string }) =>
      typeof part === 'number' ? new NumberText(context?.source ?? String(part)) : part,
    );
  } catch {
    return undefined;
  }
};
