// Time that passes only when nobody has anything left to do: a whole service in this process, through minutes and hours, in a moment and
// always in the same way. Lives of it can end at once, as by a power cut: what a dead one still waits for passes by a clock of its own.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';
import timersPromises from 'node:timers/promises';
import { seeded } from './orders/kill-harness.ts';

/** One process, as far as the test is concerned. */
export interface Life {
  /** From here on nothing that it does has an effect. */
  isDead: boolean;
  /** How far its own clock has run ahead since it died. */
  aheadMs: number;
}

interface Timer {
  readonly nth: number;
  readonly life: Life | undefined;
  readonly everyMs: number | null;
  dueAt: number;
  call(): void;
}

export type VirtualTime = ReturnType<typeof virtualTime>;

/** Turns of the event loop without anything new, after which nobody has anything left to do. */
const STILL_TURNS = 3;
/** Timers in one passage: more is a circle. */
const MOST_TIMERS = 200_000;

/** Takes the place of every timer of this process until the test ends: nothing else may run beside it. */
export function virtualTime(t: Pick<TestContext, 'after'>, start = Date.parse('2026-07-15T19:00:00Z')) {
  const whose = new AsyncLocalStorage<Life | undefined>();
  const timers = new Set<Timer>();
  const real = {
    ...{ setTimeout, clearTimeout, setInterval, clearInterval, setImmediate },
    ...{ sleep: timersPromises.setTimeout, turn: timersPromises.setImmediate },
    ...{ steady: performance.now, timeout: AbortSignal.timeout, random: Math.random },
  };
  let now = start;
  let made = 0;
  let stirs = 0;

  const read = () => now + (whose.getStore()?.aheadMs ?? 0);

  function add(call: () => void, ms: number, everyMs: number | null) {
    stirs++;
    const life = whose.getStore();
    const timer: Timer = { nth: ++made, life, everyMs, dueAt: read() + Math.max(1, ms || 0), call };
    timers.add(timer);
    return {
      ...{ timer, ref: () => {}, unref: () => {}, hasRef: () => true, close: () => timers.delete(timer) },
      refresh() {
        timer.dueAt = read() + Math.max(1, ms || 0);
        timers.add(timer);
      },
      [Symbol.toPrimitive]: () => timer.nth,
      [Symbol.dispose]: () => timers.delete(timer),
    };
  }
  const drop = (handle: { timer?: Timer } | number | undefined) => {
    if (typeof handle === 'object' && handle?.timer) timers.delete(handle.timer);
  };

  function sleep<Value>(ms = 1, value?: Value, { signal }: { signal?: AbortSignal } = {}): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    if (signal?.aborted) return Promise.reject(signal.reason);
    const end = () => {
      timers.delete(timer);
      reject(signal?.reason);
    };
    const { timer } = add(
      () => {
        signal?.removeEventListener('abort', end);
        resolve(value as Value);
      },
      ms,
      null,
    );
    signal?.addEventListener('abort', end, { once: true });
    return promise;
  }

  const soon = ((call: (...args: unknown[]) => void, ...args: unknown[]) => {
    stirs++;
    return real.setImmediate(call, ...args);
  }) as typeof setImmediate;

  Object.assign(globalThis, {
    setTimeout: (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      add(() => call(...args), ms, null),
    setInterval: (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      add(() => call(...args), ms, Math.max(1, ms)),
    clearTimeout: drop,
    clearInterval: drop,
    setImmediate: soon,
  });
  Object.assign(timersPromises, {
    setTimeout: sleep,
    setImmediate: (...args: Parameters<typeof real.turn>) => {
      stirs++;
      return real.turn(...args);
    },
  });
  performance.now = () => read() - start;
  Math.random = seeded(1);
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    add(() => over.abort(new DOMException('too late', 'TimeoutError')), ms, null);
    return over.signal;
  };
  syncBuiltinESMExports();

  t.after(() => {
    const { setTimeout: later, clearTimeout: notLater, setInterval: each, clearInterval: noMore } = real;
    Object.assign(globalThis, { setTimeout: later, clearTimeout: notLater });
    Object.assign(globalThis, { setInterval: each, clearInterval: noMore, setImmediate: real.setImmediate });
    Object.assign(timersPromises, { setTimeout: real.sleep, setImmediate: real.turn });
    performance.now = real.steady;
    Math.random = real.random;
    AbortSignal.timeout = real.timeout;
    syncBuiltinESMExports();
  });

  /** Until nobody has anything to do but to wait. */
  async function stillness(): Promise<void> {
    for (let still = 0, before = stirs; still < STILL_TURNS; before = stirs) {
      await new Promise((resolve) => real.setImmediate(resolve));
      still = stirs === before ? still + 1 : 0;
    }
  }

  const first = (which: (timer: Timer) => boolean): Timer | undefined =>
    [...timers]
      .filter(which)
      .reduce<Timer | undefined>(
        (found, timer) =>
          !found || timer.dueAt < found.dueAt || (timer.dueAt === found.dueAt && timer.nth < found.nth)
            ? timer
            : found,
        undefined,
      );

  function fire(timer: Timer): void {
    if (timer.everyMs === null) timers.delete(timer);
    else timer.dueAt = now + (timer.life?.aheadMs ?? 0) + timer.everyMs;
    whose.run(timer.life, timer.call);
  }

  const isLiving = ({ life }: Timer): boolean => !life?.isDead;

  async function passes(ms: number): Promise<void> {
    const until = now + ms;
    await stillness();
    for (let fired = 0; ; fired++) {
      const timer = first((each) => isLiving(each) && each.dueAt <= until);
      if (!timer) break;
      assert.ok(fired < MOST_TIMERS, 'time does not pass: somebody goes round in circles');
      now = Math.max(now, timer.dueAt);
      fire(timer);
      await stillness();
    }
    now = until;
  }

  return {
    clock: { now: read },
    /** As in that life; undefined: as nobody's. */
    as: <Answer>(life: Life | undefined, does: () => Answer): Answer => whose.run(life, does),
    current: () => whose.getStore(),
    /** Something has happened that may have more to come. */
    stir: () => void stirs++,
    passes,
    /** At once, as over the lid of a laptop: whatever fell due meanwhile is done once. */
    async leaps(ms: number): Promise<void> {
      await stillness();
      now += ms;
      await passes(1);
    },
    /** Time passes until it has ended; undefined: it has not, in so long. */
    async until<Answer>(task: Promise<Answer>, mostMs: number, stepMs = 250): Promise<Answer | undefined> {
      let ended: { readonly answer: Answer } | { readonly fault: unknown } | undefined;
      task.then(
        (answer) => {
          ended = { answer };
        },
        (fault: unknown) => {
          ended = { fault };
        },
      );
      await stillness();
      for (const begun = now; !ended && now - begun < mostMs; ) await passes(stepMs);
      if (ended && 'fault' in ended) throw ended.fault;
      return ended?.answer;
    },
    /** What a dead life still waits for comes at once, by its own clock; nobody else's time passes. */
    async bury(life: Life, end: () => Promise<unknown>): Promise<void> {
      life.isDead = true;
      let isOver = false;
      whose
        .run(life, end)
        .catch(() => {})
        .finally(() => {
          isOver = true;
        });
      await stillness();
      for (let fired = 0; !isOver; fired++) {
        const timer = first((each) => each.life === life);
        assert.ok(timer && fired < MOST_TIMERS, 'a dead life does not end');
        life.aheadMs = Math.max(life.aheadMs, timer.dueAt - now);
        fire(timer);
        await stillness();
      }
      for (const timer of timers) if (timer.life === life) timers.delete(timer);
    },
  };
}
