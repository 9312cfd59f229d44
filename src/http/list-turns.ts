// Lists take turns. Reading, showing and writing one keeps the thread busy for milliseconds, and an order comes to that
// thread ten times on its way. So one user's lists come one after the other, few are worked on at once, and while somebody
// trades who has read more than a page needs reads on in a slow rhythm, the slower the more work it is: reading as fast as one can
// delays nobody's order.

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { InTurn } from '../app/pages.ts';
import { tradingBegins } from '../app/reading.ts';
import type { UserId } from '../domain/ids.ts';
import { READING, whenClosed } from './reads-at-once.ts';

export interface ListTurns {
  /** Resolves when the turn comes, with what ends it; without one, where `whenGone` tells before that nobody waits any more. */
  take(user: UserId, whenGone?: (leave: () => void) => void): Promise<() => void>;
}

/** Whether somebody trades, or did just now. */
export interface Trading {
  /** Until what is returned is called, once. */
  begins(): () => void;
  isOn(now: number): boolean;
}

/** As many as the database has connections for lists. */
const AT_ONCE = 2;
const SETTINGS = {
  atOnce: AT_ONCE,
  /** Between two lists of one user: for the thread to hear who else is there. */
  pauseMs: 10,
  /** While somebody trades: one list of a user in so long … */
  rhythmMs: 500,
  /** … or in so many times what it took: an order that meets one is slower, and hardly one in a hundred is to be … */
  share: 40,
  /** … which is this at the most: a busy machine still shows something … */
  mostMs: 4_000,
  /** … but for so many, which some pages ask for when they are opened. */
  spare: 24,
};
/** Of users whose last list is remembered. */
const REMEMBERED = 1_000;
const CALM_AFTER_MS = 1_000;

export function createTrading(calmAfterMs = CALM_AFTER_MS): Trading {
  let traders = 0;
  let tradedAt = Number.NEGATIVE_INFINITY;
  return {
    begins() {
      traders++;
      const readersGoOn = tradingBegins();
      return () => {
        traders--;
        tradedAt = performance.now();
        readersGoOn();
      };
    },
    isOn: (now) => traders > 0 || now < tradedAt + calmAfterMs,
  };
}

export function createListTurns(
  trading: Pick<Trading, 'isOn'>,
  settings: Partial<typeof SETTINGS> = {},
): ListTurns {
  const { atOnce, pauseMs, rhythmMs, share, mostMs, spare } = { ...SETTINGS, ...settings };
  /** The user who was served last comes last. */
  const waiting = new Map<UserId, (() => void)[]>();
  /** Since when. */
  const underWay = new Map<UserId, number>();
  /** When the last list ended, and when all would have been read, had they been read in the rhythm. */
  const read = new Map<UserId, { readonly at: number; readonly inRhythm: number }>();
  let timer: NodeJS.Timeout | undefined;

  function pauseOf(user: UserId, now: number): number {
    const last = read.get(user);
    if (!last) return 0;
    const inRhythm = trading.isOn(now) ? last.inRhythm - spare * rhythmMs : 0;
    return Math.max(last.at + pauseMs, inRhythm) - now;
  }

  function serve(): void {
    clearTimeout(timer);
    let soonest = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const [user, line] of waiting) {
      if (underWay.size >= atOnce) return;
      if (underWay.has(user)) continue;
      const pause = pauseOf(user, now);
      if (pause > 0) {
        soonest = Math.min(soonest, pause);
        continue;
      }
      waiting.delete(user);
      const begin = line.shift();
      if (line.length > 0) waiting.set(user, line);
      underWay.set(user, now);
      begin?.();
    }
    if (soonest < Number.POSITIVE_INFINITY) timer = setTimeout(serve, soonest).unref();
  }

  function end(user: UserId): void {
    const now = performance.now();
    const took = now - (underWay.get(user) ?? now);
    underWay.delete(user);
    if (read.size >= REMEMBERED)
      for (const [each, { at, inRhythm }] of read)
        if (Math.max(at + pauseMs, inRhythm) < now) read.delete(each);
    // What was read while nobody traded is not held against anybody for long.
    const inRhythm = Math.min(Math.max(now, read.get(user)?.inRhythm ?? now), now + spare * rhythmMs);
    read.set(user, { at: now, inRhythm: inRhythm + Math.max(rhythmMs, Math.min(share * took, mostMs)) });
    // Not at once: else the lists of many would follow each other without a pause for anything else.
    setImmediate(serve);
  }

  function leave(user: UserId, begin: () => void): boolean {
    const line = waiting.get(user) ?? [];
    const place = line.indexOf(begin);
    if (place === -1) return false;
    line.splice(place, 1);
    if (line.length === 0) waiting.delete(user);
    return true;
  }

  return {
    take: (user, whenGone) =>
      new Promise((resolve) => {
        const line = waiting.get(user) ?? [];
        const begin = () => resolve(once(() => end(user)));
        line.push(begin);
        waiting.set(user, line);
        whenGone?.(() => leave(user, begin) && resolve(NO_TURN));
        serve();
      }),
  };
}

const NO_TURN = (): void => {};

function once(does: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    does();
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of the database: what is asked of a broker waits elsewhere. `long`: it takes seconds, and its user’s others do not wait. */
    isList?: boolean | 'long';
  }
  interface FastifyRequest {
    /** Of a list: its first page has the turn that the request waited for, each further one its own. */
    inTurn: InTurn;
  }
}

export function takeTurns(server: FastifyInstance): void {
  const trading = createTrading();
  const short = createListTurns(trading);
  // Of a download nobody waits for a page: all of them come in one rhythm, whatever they take.
  const long = createListTurns(trading, { rhythmMs: 100, share: 0 });
  const endings = new WeakMap<FastifyReply, () => void>();
  server.addHook('onRoute', (route) => {
    route.config = { ...route.config, isList: route.config?.isList ?? isList(route) };
  });
  server.addHook('onRequest', (request, reply, done) => {
    const { url = '' } = request.routeOptions;
    const acts = url.startsWith('/webhook/') || (url.startsWith('/trading/') && !READING.has(request.method));
    if (!acts) return done();
    whenClosed(reply, trading.begins());
    done();
  });
  server.decorateRequest('inTurn');
  server.addHook('preHandler', (request, reply, done) => {
    const { isList: kind } = request.routeOptions.config;
    if (!kind) return done();
    inTurn(request, reply, kind === 'long' ? long : short).then(() => done(), done);
  });
  async function inTurn(request: FastifyRequest, reply: FastifyReply, turns: ListTurns): Promise<void> {
    const user = request.caller.user.id;
    let first: (() => void) | undefined = await turns.take(user, (leave) => whenClosed(reply, leave));
    // Who left has no turn, and nothing is read for nobody.
    if (reply.raw.closed) reply.hijack();
    endings.set(reply, first);
    // Where it is never sent.
    whenClosed(reply, first);
    request.inTurn = async (work) => {
      const end = first ?? (await turns.take(user));
      first = undefined;
      try {
        return await work();
      } finally {
        end();
      }
    };
  }
  // Its text is made; what remains is the network's.
  server.addHook('onSend', (_request, reply, payload, done) => {
    endings.get(reply)?.();
    done(null, payload);
  });
}

const isList = ({ schema, url }: RouteOptions): boolean => {
  const { properties = {} } = (schema?.querystring ?? {}) as { properties?: object };
  return 'limit' in properties && !url.startsWith('/trading/accounts/:id/');
};
