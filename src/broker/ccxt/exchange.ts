// One exchange in one environment, for all its users in this process: ccxt's class, loaded with the first of them, one object
// of it, the exchange's clock, and the calls. Nothing of a user stays in it: the keys come with each call.

import { BrokerUnavailable, type Meter, type TellUnreadable } from '../broker.ts';
import { readList } from '../lists.ts';
import type { ListRequest } from '../lists-thread.ts';
import type { OpenSocket } from '../stream.ts';
import { unreadableReply } from '../unreadable.ts';
import { bytesOf, jsonOf } from '../wire.ts';
import { type Ccxt, environmentOf, makeCcxt } from './library.ts';
import type { Listed } from './listing.ts';
import type { AccountKind, Profile, Question } from './profile.ts';
import type { Lineage } from './refusals.ts';
import {
  Answered,
  type Call,
  type Credentials,
  currentCall,
  type Heard,
  inCall,
  type Send,
  Unanswered,
} from './wire.ts';

export interface Exchange {
  readonly profile: Profile;
  readonly environment: string;
  readonly kind: AccountKind;
  /** What was heard; throws Unanswered. */
  call(question: Pick<Question<unknown>, 'method' | 'args'>, call: Call): Promise<Heard>;
  /** Those that it lists now. Where this throws, calls go on with the markets that there were. */
  listMarkets(signal: AbortSignal): Promise<Pick<Listed, 'markets' | 'ids'>>;
  /** It was no answer to what was asked: somebody may want to know. */
  unreadable(heard: Heard, credentials: Credentials | null): void;
  /** Of the error that ccxt makes of it. */
  lineageOf(heard: Heard): Lineage;
  /** By the exchange's clock, in ms. */
  now(): number;
  /** How far our clock is ahead of the exchange's, in ms. */
  aheadMs(): number;
  /** Whether that was compared. */
  knowsClock(): boolean;
  /** By so much that may be wrong. */
  doubtMs(): number;
  readonly streams: {
    /** Of this environment, by the exchange's own address. */
    readonly url: string;
    /** Where that is spoken to. */
    at(url: string): string;
    /** Whoever opens one takes turns with the others in this process. */
    turn(signal: AbortSignal): Promise<void>;
    readonly openSocket?: OpenSocket | undefined;
  };
  /** Compares the clocks, unless that was done. */
  knowClock(signal: AbortSignal): Promise<void>;
  /** Compares the clocks again; all who want it at once share one question. Fails silently: a later refusal tells. */
  compareClocks(signal: AbortSignal): Promise<void>;
}

/** How far our clock is ahead of an exchange's: one for all who ask there, whatever kind of account they have. */
export interface Clock {
  aheadMs: number;
  /** By so much that may be wrong: half of the time that the question took. */
  doubtMs: number;
  isCompared: boolean;
  comparing: Promise<void> | null;
}

export const newClock = (): Clock => ({ aheadMs: 0, doubtMs: 0, isCompared: false, comparing: null });

interface Making {
  readonly profile: Profile;
  readonly clock: Clock;
  readonly environment: string;
  readonly kind: AccountKind;
  readonly send: Send;
  readonly streams: Pick<Exchange['streams'], 'at' | 'turn' | 'openSocket'>;
  readonly unreadable?: TellUnreadable;
}

/** For all who want the clocks compared: it is nobody's call. */
const COMPARE_MS = 10_000;

export async function makeExchange(making: Making): Promise<Exchange> {
  const { profile, clock, environment, kind, send, unreadable = () => {} } = making;
  const ccxt = await makeCcxt(profile, { environment, kind, send });
  // A quantity and a price are sent as they stand: what is beside the step was refused before, or is the exchange's own to refuse.
  ccxt.amountToPrecision = (_symbol: string, amount: string) => amount;
  ccxt.priceToPrecision = (_symbol: string, price: string) => price;
  lendKeys(ccxt);

  Object.defineProperty(ccxt.options, 'timeDifference', {
    get: () => clock.aheadMs + (currentCall().agedMs ?? 0),
  });

  async function call(
    { method, args }: Pick<Question<unknown>, 'method' | 'args'>,
    call: Call,
  ): Promise<Heard> {
    const asked = { ...call, headers: { ...profile.headers, ...call.headers } };
    try {
      await inCall(asked, () => (ccxt[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args));
    } catch (fault) {
      if (fault instanceof Answered) return fault.heard;
      if (fault instanceof Unanswered) throw fault;
      // ccxt itself would not compose it: nothing was sent.
      throw new Unanswered(`It could not be asked (${fault instanceof Error ? fault.name : 'fault'})`, true);
    }
    throw new Error(`ccxt's ${method} asked nobody`);
  }

  async function compare(signal: AbortSignal): Promise<void> {
    const began = Date.now();
    const heard = await call(profile.time, { signal, credentials: null }).catch(() => null);
    const ended = Date.now();
    const theirs = heard?.status === 200 ? profile.time.read(heard.body) : undefined;
    if (theirs === undefined) return;
    clock.aheadMs = Math.round((began + ended) / 2 - theirs);
    clock.doubtMs = Math.ceil((ended - began) / 2);
    clock.isCompared = true;
  }

  function compareClocks(signal: AbortSignal): Promise<void> {
    clock.comparing ??= compare(AbortSignal.timeout(COMPARE_MS)).finally(() => {
      clock.comparing = null;
    });
    return endOrAbort(clock.comparing, signal);
  }

  return {
    profile,
    environment,
    kind,
    call,
    async listMarkets(signal) {
      const call = { signal, credentials: null, isList: true, headers: { ...profile.headers } };
      const ask = ({ url, ...request }: ListRequest) =>
        inCall(call, async () => bytesOf(await send(url, request)));
      try {
        const listing = await readList('ccxtMarkets', { name: profile.name, environment, kind }, ask);
        if ('problem' in listing) {
          unreadable({ call: 'markets', status: 200, reply: listing.problem });
          throw new BrokerUnavailable(`${profile.title} ${listing.problem}.`);
        }
        know(ccxt, listing);
        return listing;
      } catch (fault) {
        if ([Answered, Unanswered, BrokerUnavailable].some((kind) => fault instanceof kind)) throw fault;
        throw new Unanswered('Its list of markets is not as agreed', false);
      }
    },
    unreadable({ method, url, status, text }, credentials) {
      // What comes without a word of its own from 500 on is an outage.
      if (status >= 500) return;
      const secrets = credentials ? [credentials.apiKey, credentials.secret, credentials.passphrase] : [];
      unreadable(unreadableReply({ method, url, status, text, secrets }));
    },
    lineageOf({ status, headers, text, url }) {
      try {
        // Its tables are asked with plain numbers: a code as it was written is none that it knows.
        ccxt.handleErrors(status, '', url, '', headers, text, jsonOf(text));
        return [];
      } catch (fault) {
        return ancestors(fault);
      }
    },
    now: () => Date.now() - clock.aheadMs,
    aheadMs: () => clock.aheadMs,
    knowsClock: () => clock.isCompared,
    doubtMs: () => clock.doubtMs,
    streams: { ...making.streams, url: environmentOf(profile, environment).stream },
    compareClocks,
    async knowClock(signal) {
      if (!clock.isCompared) await compareClocks(signal);
    },
  };
}

/** As one account asks there: what it asks is counted. */
export const metered = (exchange: Exchange, meter: Meter): Exchange => ({
  ...exchange,
  async call(question, call) {
    const { weightOf = () => 1, usedWeight = () => null } = exchange.profile;
    meter.sent(weightOf(question.method));
    const heard = await exchange.call(question, call);
    const used = usedWeight(heard.headers);
    if (used !== null) meter.told(used);
    return heard;
  },
});

/** Whoever has no time left leaves it to the others. */
async function endOrAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const leave = () => over.resolve();
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  await Promise.race([promise, over.promise]);
  signal.removeEventListener('abort', leave);
}

/**
 * A market is made of its text when a request is composed: to have ccxt look through all of them at once would keep everybody
 * waiting.
 */
function know(ccxt: Ccxt, { markets, composable }: Listed): void {
  const known: Record<string, unknown> = {};
  markets.forEach(({ symbol }, index) => {
    const get = () => jsonOf(composable[index] ?? '');
    Object.defineProperty(known, symbol, { get, enumerable: true, configurable: true });
  });
  // It would load them itself where it believes to have none.
  ccxt.setMarkets([]);
  ccxt.markets = known;
}

/** Whoever signs does so with the keys of the call, and outside of a call with none. */
function lendKeys(ccxt: Ccxt): void {
  const lend = (target: object, property: string, value: (call: Call) => unknown) =>
    Object.defineProperty(target, property, {
      get: () => value(currentCall()),
      set() {},
      configurable: true,
    });
  lend(ccxt, 'apiKey', ({ credentials }) => credentials?.apiKey);
  lend(ccxt, 'secret', ({ credentials }) => credentials?.secret);
  lend(ccxt, 'password', ({ credentials }) => credentials?.passphrase);
  const usual = ccxt.options.recvWindow;
  if (usual !== undefined) lend(ccxt.options, 'recvWindow', ({ windowMs }) => windowMs ?? usual);
}

function ancestors(fault: unknown): string[] {
  const names: string[] = [];
  for (
    let type: unknown = (fault as object)?.constructor;
    typeof type === 'function';
    type = Object.getPrototypeOf(type)
  )
    if (type.name !== '') names.push(type.name);
  return names;
}
