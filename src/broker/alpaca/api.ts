// Alpaca's own library, as it is used here: its requests and its errors, our time, no patience of its own. Its models are
// not used: they make of any answer what it should have been.

import { ApiError, marketData, trading } from '@alpacahq/alpaca-trade-api/rest';
import {
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Meter,
  type TellUnreadable,
} from '../broker.ts';
import type { Keys } from '../keys.ts';
import { readList } from '../lists.ts';
import type { OpenSocket } from '../stream.ts';
import { unreadableReply } from '../unreadable.ts';
import { askedFor, baseAddress, bytesOf, isUnsent, jsonOf, send, type Wire, wholeAnswers } from '../wire.ts';
import { REFUSAL } from './answers.ts';
import { type Assets, assetsOf } from './assets.ts';
import { brief, type Refusal } from './refusals.ts';

const HOSTS: Readonly<Record<string, string>> = {
  live: 'https://api.alpaca.markets',
  paper: 'https://paper-api.alpaca.markets',
};
/** Of both. */
const DATA_HOST = 'https://data.alpaca.markets';

/** The list of all assets is some six megabytes. */
const MOST_LIST_BYTES = 64 * 1_048_576;

export interface AlpacaOptions {
  /** Where everything is asked for instead of Alpaca's own addresses. */
  readonly url?: string | undefined;
  readonly fetch?: Wire | undefined;
  readonly openSocket?: OpenSocket | undefined;
  readonly unreadable?: TellUnreadable;
}

export type Answer<Body = unknown> =
  /** 2xx; undefined: not JSON. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: Body;
      readonly to: ReturnType<typeof askedFor>;
    }
  /** Alpaca's own word that it did nothing. */
  | ({ readonly kind: 'refusal' } & Refusal)
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  /** `isUnsent`: certainly nothing left us. */
  | { readonly kind: 'silence'; readonly why: string; readonly isUnsent: boolean };

type Call = (init: RequestInit) => Promise<{ readonly raw: Response }>;

export type Api = ReturnType<typeof openApi>;

/** Alpaca says how many are left of the account's minute. */
const counted =
  (wire: Wire, meter: Meter): Wire =>
  async (url, init) => {
    meter.sent();
    const response = await wire(url, init);
    const [limit, left] = ['limit', 'remaining'].map((what) => response.headers.get(`x-ratelimit-${what}`));
    if (limit && left) meter.told(Number(limit) - Number(left));
    return response;
  };

export function openApi(
  keys: Keys,
  environment: string,
  { meter, ...options }: AlpacaOptions & { readonly meter?: Meter | undefined },
) {
  const { url, fetch: asked = send, unreadable } = options;
  const fetch = meter ? counted(asked, meter) : asked;
  const common = {
    keyId: keys.apiKey,
    secret: keys.apiSecret,
    fetchApi: wholeAnswers(fetch),
    // The call's own signal is its limit; and nothing is asked twice.
    timeoutMs: 0,
    retry: { maxRetries: 0 },
  };
  const replaced = url === undefined ? null : baseAddress(url);
  const base = replaced ?? HOSTS[environment] ?? HOSTS.live;
  const config = new trading.Configuration({ ...common, basePath: base as string });
  const lists = new trading.Configuration({
    ...common,
    fetchApi: wholeAnswers(fetch, MOST_LIST_BYTES),
    basePath: base as string,
  });
  // Prices are counted apart.
  const data = new marketData.Configuration({
    ...common,
    fetchApi: wholeAnswers(asked),
    basePath: replaced ?? DATA_HOST,
  });
  return {
    openSocket: options.openSocket,
    /** Where it tells of orders. */
    stream: `${(base as string).replace(/^http/, 'ws')}/stream`,
    /** Accounts with the same trade in the same list of assets. */
    market: `${base} ${environment}`,
    accounts: new trading.AccountsApi(config),
    assets: new trading.AssetsApi(lists),
    clock: new trading.ClockApi(config),
    orders: new trading.OrdersApi(config),
    positions: new trading.PositionsApi(config),
    stocks: new marketData.StockApi(data),
    /** It was no answer to what was asked: somebody may want to know. `body`: what is to be shown of it, where it is long. */
    unreadable(answer: Answer, body: unknown = answer.kind === 'answer' ? answer.body : null): void {
      if (answer.kind !== 'answer') return;
      const text = body === undefined ? 'no JSON' : JSON.stringify(body);
      const secrets = [keys.apiKey, keys.apiSecret];
      unreadable?.(unreadableReply({ ...answer.to, status: answer.status, text, secrets }));
    },
  };
}

export const ask = (call: Call, signal: AbortSignal): Promise<Answer> =>
  hear(call, signal, async (raw) => jsonOf(await raw.text()));

/** The answer is not read here: it may be long. */
const askForList = (call: Call, signal: AbortSignal): Promise<Answer<ArrayBuffer>> =>
  hear(call, signal, bytesOf);

async function hear<Body>(
  call: Call,
  signal: AbortSignal,
  read: (raw: Response) => Promise<Body>,
): Promise<Answer<Body>> {
  if (signal.aborted) return { kind: 'silence', why: 'Alpaca was not asked in time', isUnsent: true };
  try {
    const { raw } = await call({ signal });
    return { kind: 'answer', status: raw.status, body: await read(raw), to: askedFor(raw) };
  } catch (fault) {
    if (fault instanceof ApiError) return refusalOf(fault);
    const why = signal.aborted ? 'Alpaca did not answer in time' : 'the connection to Alpaca broke off';
    return isUnsent(fault)
      ? { kind: 'silence', why: 'Alpaca cannot be reached', isUnsent: true }
      : { kind: 'silence', why, isUnsent: false };
  }
}

async function refusalOf({ status, response, retryAfterMs }: ApiError): Promise<Answer<never>> {
  if (status === 429) return { kind: 'busy', retryAfterMs: delayOf(retryAfterMs) };
  const body = jsonOf(await response.text());
  // Above 499 nobody says that nothing was done.
  if (status < 400 || status > 499 || status === 408 || !REFUSAL.Check(body))
    return { kind: 'silence', why: notAsAgreed(status), isUnsent: false };
  const { code = null, message, existing_qty } = body;
  return { kind: 'refusal', status, code, message, isFlat: /^0(\.0+)?$/.test(existing_qty ?? '') };
}

const SHORTEST_MS = 1_000;
/** Alpaca counts by the minute; what is further off is our clock. */
const LONGEST_MS = 60_000;

const delayOf = (retryAfterMs: number | undefined): number =>
  Math.min(Math.max(Math.ceil(retryAfterMs ?? 0), SHORTEST_MS), LONGEST_MS);

export const notAsAgreed = (status: number): string =>
  `Alpaca answered with status ${status}, and not as agreed`;

/** All that there is. It is read by a thread of its own. */
export async function loadAssets(api: Api, environment: string, signal: AbortSignal): Promise<Assets> {
  const wanted = { status: 'active', assetClass: 'us_equity' };
  const answer = await askForList((init) => api.assets.getV2AssetsRaw(wanted, init), signal);
  const read = answer.kind === 'answer' ? await readList('alpacaAssets', answer.body) : undefined;
  if (read) return assetsOf(read);
  api.unreadable(answer, 'a list of assets');
  throw unanswered(answer, environment);
}

/** Of a question that got no answer which can be believed. */
export function unanswered(answer: Answer, environment: string, why = ''): BrokerUnavailable {
  switch (answer.kind) {
    case 'busy':
      return busy(answer.retryAfterMs);
    case 'silence':
      return new BrokerUnavailable(`${answer.why}.`);
    case 'answer':
      return new BrokerUnavailable(`${notAsAgreed(answer.status)}${why}.`);
    case 'refusal':
      return isAboutKeys(answer) || isForbidden(answer)
        ? keysRefused(answer, environment)
        : new BrokerUnavailable(`Alpaca answered: “${brief(answer.message)}”.`);
  }
}

export const busy = (retryAfterMs: number): BrokerBusy =>
  new BrokerBusy('Alpaca limits the rate of requests.', retryAfterMs);

/** Other refusals with this status, of orders above all, carry a code of their own. */
export const isAboutKeys = ({ status, code }: Refusal): boolean =>
  status === 401 || (status === 403 && code === null);

/** What is only asked has nothing else to be forbidden for. */
const isForbidden = ({ status, message }: Refusal): boolean =>
  status === 403 && /forbidden|authori[sz]|credential|api key/i.test(message);

export const keysRefused = ({ message }: Refusal, environment: string): CredentialsRejected =>
  new CredentialsRejected(
    `Alpaca refused the key: “${brief(message)}”. It must be a key of the ${environment} account (live and paper have ` +
      'keys of their own) and not be revoked; if it is bound to addresses, this server’s must be among them.',
  );
