// Both ends of the queue between the API and a user's worker. The API puts a request on the user's queue and waits
// for the answer at an address of that request alone. A message only points at an order: what is true stands in the
// database, so a lost message loses time and nothing else. Who waits for a worker whose host is gone, or may have missed
// the answer, asks again.

import type { Balance, OpenOrder, Position } from '../../broker/broker.ts';
import type { CandleSpan } from '../../domain/candles.ts';
import { type AccountId, isUuid, type OrderId, type UserId } from '../../domain/ids.ts';
import type { InstrumentSearch } from '../../domain/instrument-search.ts';
import type { Look } from '../../domain/orders/fill.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { PlannedIn } from '../../domain/protection/foreseen.ts';
import { type Carried, type Tracing, UNTRACED } from '../../domain/tracing.ts';
import type { Store } from '../../store/store.ts';
import type { Cleared } from '../lane/clear-entries.ts';
import type { Charted, Quoted, Reset, SymbolPage, Unavailable, Verdict } from '../lane/enquiries.ts';
import type { Draft } from '../lane/plan-ahead.ts';
import type { Placement, Pool } from './pool.ts';
import type { Roster } from './roster.ts';

/** What a worker can be asked, and what it answers. */
export interface Work {
  execute: { request: { orderId: OrderId; accountId: AccountId }; answer: Order | null };
  /** `isReading`: its user only wants to know, and has paid for it. */
  look: { request: { orderId: OrderId; isReading?: boolean }; answer: Look };
  /** Takes back the entries that rest, and reads what is held. `withinMs`: so long its answer is waited for. */
  flatten: { request: { accountId: AccountId; withinMs?: number }; answer: Cleared | Unavailable };
  /**
   * Looks after what protects the user's positions, and after orders that nobody has worked off; where an account is named, after what
   * protects its positions alone: something has happened there, or, `isAsked`, its owner wants to know;
   * `isOther`: it is another account at the broker from now on.
   */
  recover: { request: { accountId?: AccountId; isAsked?: boolean; isOther?: boolean }; answer: null };
  /** `version`, here and below: of the account's connection, as who asks has read it. What was answered of another is of no use. */
  verify: { request: { accountId: AccountId; version?: number }; answer: Verdict };
  positions: {
    request: { accountId: AccountId; simulation: boolean; version?: number };
    answer: { readonly positions: readonly Position[] } | Unavailable;
  };
  /** Of the simulated book, where that is asked for. */
  balance: {
    request: { accountId: AccountId; simulation?: boolean; version?: number };
    answer: { readonly balance: Balance } | Unavailable;
  };
  quote: {
    request: { accountId: AccountId; symbol: string; simulation: boolean; version?: number };
    answer: Quoted | Unavailable;
  };
  /** Of the account's real market, also for a simulation in it. */
  candles: {
    request: { accountId: AccountId; symbol: string; version?: number } & CandleSpan;
    answer: Charted | Unavailable;
  };
  /** Whoever sent them. */
  openOrders: {
    request: { accountId: AccountId; version?: number };
    answer: { readonly openOrders: readonly OpenOrder[] } | Unavailable;
  };
  symbols: { request: { accountId: AccountId } & InstrumentSearch; answer: SymbolPage | Unavailable };
  /** The order as it would be sent now, or as it would end. */
  plan: {
    request: { accountId: AccountId } & Draft;
    answer: { readonly planned: Order; readonly market?: PlannedIn | null } | Unavailable;
  };
  resetSimulation: { request: { accountId: AccountId }; answer: Reset | Unavailable };
}
type Kind = keyof Work;

export type WorkRequest = { [K in Kind]: { kind: K } & Work[K]['request'] }[Kind];

/** For the log; a draft, a search or whatever else it carries is not. */
export function namesOf(request: WorkRequest | string): object {
  if (typeof request === 'string') return { request };
  const { kind, ...ids } = request as { kind: string; orderId?: OrderId; accountId?: AccountId };
  return {
    request: kind,
    ...(ids.orderId ? { order_id: ids.orderId } : {}),
    ...(ids.accountId ? { trading_account_id: ids.accountId } : {}),
  };
}

export interface Envelope {
  readonly replyTo: string | null;
  readonly request: WorkRequest;
  /** Whoever is older than this leaves it alone. */
  readonly trace?: Carried;
}

export interface Mailbox {
  /** null: no answer in time. */
  ask<K extends Kind>(
    user: UserId,
    request: { kind: K } & Work[K]['request'],
    timeoutMs: number,
  ): Promise<Work[K]['answer'] | null>;
  /** To a worker that is there, or is started for it. */
  tell(user: UserId, request: WorkRequest): Promise<void>;
  /** Back into the user's queue, for whoever serves it next. */
  post(user: UserId, envelope: Envelope): Promise<void>;
  /** The worker's end; null: nothing came in time, or the signal aborted. */
  next(user: UserId, options: { timeoutMs: number; signal: AbortSignal }): Promise<Envelope | null>;
  reply(envelope: Envelope, answer: Work[Kind]['answer']): Promise<void>;
  waiting(user: UserId): Promise<number>;
  /** A worker would have fill verification look at this order now. */
  askForLook(order: OrderId): Promise<void>;
  /** The verifiers' end: the next order that is to be looked at; null: the signal aborted. */
  nextWanted(options: { signal: AbortSignal }): Promise<OrderId | null>;
}

/** Longer than any order lives: a queue that nobody serves does not stay in the store for ever. */
const QUEUE_TTL_MS = 3_600_000;

/** Of all workers, for all verifiers. What nobody has taken in time is looked at when its check is due. */
const WANTED_QUEUE = 'wanted-looks';
const WANTED_TTL_MS = 60_000;

const queueOf = (user: UserId) => `work:{${user}}`;

export interface MailboxDeps {
  readonly store: Store;
  readonly pool: Pool & Placement;
  readonly roster: Pick<Roster, 'onGone'>;
  readonly tracing?: Pick<Tracing, 'carried'>;
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

/** Somebody waits for its answer. */
interface Question {
  readonly user: UserId;
  /** Whose worker is to answer; null: nobody's yet. */
  host: string | null;
  put(): Promise<void>;
}

export function createMailbox({ store, pool, roster, tracing = UNTRACED, log }: MailboxDeps): Mailbox {
  const questions = new Set<Question>();

  const post = (user: UserId, envelope: Envelope) =>
    store.push(queueOf(user), JSON.stringify(envelope), QUEUE_TTL_MS);

  /** Resolves with the host that is to serve it. */
  async function deliver(user: UserId, envelope: Envelope): Promise<string | null> {
    // In one turn, and so in one step of the store. The message counts: without the other answer, nobody is believed
    // to serve it.
    const [, host] = await Promise.all([post(user, envelope), pool.hostOf(user).catch(() => null)]);
    return host;
  }

  /** A worker that has stopped, or died, by the time of the message has not seen it: this starts the next one. */
  function startFor(user: UserId, onStarted: () => Promise<void>): void {
    pool
      .ensure(user)
      .then((isStarted) => (isStarted ? onStarted() : undefined))
      .catch((fault: unknown) => log.warn({ fault, user_id: user }, 'no worker could be started'));
  }

  function again(question: Question): void {
    question
      .put()
      .catch((fault: unknown) =>
        log.warn({ fault, user_id: question.user }, 'a request could not be repeated'),
      );
  }

  roster.onGone((host) => {
    for (const question of questions) if (question.host === host) again(question);
  });

  return {
    async ask(user, request, timeoutMs) {
      const { address, reply, cancel } = store.expectReply({ timeoutMs, onMissed: () => again(question) });
      const trace = tracing.carried();
      const envelope: Envelope = {
        replyTo: address,
        request: request as WorkRequest,
        ...(trace ? { trace } : {}),
      };
      const question: Question = {
        user,
        host: null,
        async put() {
          question.host = await deliver(user, envelope);
          if (question.host === null)
            startFor(user, async () => {
              question.host = await pool.hostOf(user);
            });
        },
      };
      questions.add(question);
      try {
        await question.put();
        const answer = await reply;
        return answer === null ? null : JSON.parse(answer);
      } finally {
        cancel();
        questions.delete(question);
      }
    },
    async tell(user, request) {
      const host = await deliver(user, { replyTo: null, request });
      if (host === null) startFor(user, async () => {});
    },
    post,
    async next(user, options) {
      for (;;) {
        const message = await store.take(queueOf(user), options);
        if (message === null) return null;
        const envelope = readEnvelope(message);
        if (envelope) return envelope;
        // Whoever put it there: it must not end the worker, and those behind it are served.
        log.error({ user_id: user }, 'a message to the worker cannot be read and is dropped');
      }
    },
    async reply(envelope, answer) {
      if (envelope.replyTo) await store.reply(envelope.replyTo, JSON.stringify(answer));
    },
    waiting: (user) => store.queueLength(queueOf(user)),
    askForLook: (order) => store.push(WANTED_QUEUE, order, WANTED_TTL_MS),
    async nextWanted(options) {
      const order = await store.take(WANTED_QUEUE, options);
      return order !== null && isUuid(order) ? (order as OrderId) : null;
    },
  };
}

function readEnvelope(message: string): Envelope | null {
  try {
    const envelope = JSON.parse(message) as Envelope | null;
    return typeof envelope?.request?.kind === 'string' ? envelope : null;
  } catch {
    return null;
  }
}
