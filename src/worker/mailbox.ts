// Both ends of the queue between the API and a user's worker. The API puts a request on the user's queue and waits
// for the answer on a queue of that request alone. A message only points at an order: what is true stands in the
// database, so a lost message loses time and nothing else.

import type { Balance, Position } from '../broker/broker.ts';
import type { Look } from '../domain/fill.ts';
import type { AccountId, OrderId, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import type { Store } from '../store/store.ts';
import type { Cleared } from './clear-entries.ts';
import type { Reset, SymbolPage, SymbolSearch, Unavailable, Verdict } from './enquiries.ts';
import { replyQueues } from './pool.ts';

/** What a worker can be asked, and what it answers. */
export interface Work {
  execute: { request: { orderId: OrderId; accountId: AccountId }; answer: Order | null };
  look: { request: { orderId: OrderId }; answer: Look };
  /** Takes back the entries that rest, and reads what is held. */
  flatten: { request: { accountId: AccountId }; answer: Cleared | Unavailable };
  recover: { request: Record<never, never>; answer: null };
  verify: { request: { accountId: AccountId }; answer: Verdict };
  positions: {
    request: { accountId: AccountId; simulation: boolean };
    answer: { readonly positions: readonly Position[] } | Unavailable;
  };
  balance: { request: { accountId: AccountId }; answer: { readonly balance: Balance } | Unavailable };
  symbols: { request: { accountId: AccountId } & SymbolSearch; answer: SymbolPage | Unavailable };
  resetSimulation: { request: { accountId: AccountId }; answer: Reset | Unavailable };
}
type Kind = keyof Work;

export type WorkRequest = { [K in Kind]: { kind: K } & Work[K]['request'] }[Kind];

export interface Envelope {
  readonly replyTo: string | null;
  readonly request: WorkRequest;
}

export interface Mailbox {
  /** null: no answer in time. */
  ask<K extends Kind>(
    user: UserId,
    request: { kind: K } & Work[K]['request'],
    timeoutMs: number,
  ): Promise<Work[K]['answer'] | null>;
  tell(user: UserId, request: WorkRequest): Promise<void>;
  /** Back into the user's queue, for whoever serves it next. */
  post(user: UserId, envelope: Envelope): Promise<void>;
  /** The worker's end; null: nothing came in time, or the signal aborted. */
  next(user: UserId, options: { timeoutMs: number; signal: AbortSignal }): Promise<Envelope | null>;
  reply(envelope: Envelope, answer: Work[Kind]['answer']): Promise<void>;
  waiting(user: UserId): Promise<number>;
}

/** Longer than any order lives: a queue that nobody serves does not stay in the store for ever. */
const QUEUE_TTL_MS = 3_600_000;
const REPLY_TTL_MS = 60_000;

const queueOf = (user: UserId) => `work:{${user}}`;

export interface MailboxDeps {
  readonly store: Store;
  readonly log: { error(context: object, text: string): void };
}

export function createMailbox({ store, log }: MailboxDeps): Mailbox {
  const nextReply = replyQueues();
  const post = (user: UserId, envelope: Envelope) =>
    store.push(queueOf(user), JSON.stringify(envelope), QUEUE_TTL_MS);

  return {
    async ask(user, request, timeoutMs) {
      const replyTo = nextReply();
      await post(user, { replyTo, request: request as WorkRequest });
      const reply = await store.take(replyTo, { timeoutMs });
      return reply === null ? null : JSON.parse(reply);
    },
    tell: (user, request) => post(user, { replyTo: null, request }),
    post,
    async next(user, options) {
      for (;;) {
        const message = await store.take(queueOf(user), options);
        if (message === null) return null;
        const envelope = readEnvelope(message);
        if (envelope) return envelope;
        // Whoever put it there: it must not end the worker, and those behind it are served.
        log.error({ user }, 'a message to the worker cannot be read and is dropped');
      }
    },
    async reply(envelope, answer) {
      if (envelope.replyTo) await store.push(envelope.replyTo, JSON.stringify(answer), REPLY_TTL_MS);
    },
    waiting: (user) => store.queueLength(queueOf(user)),
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
