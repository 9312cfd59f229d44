// What goes wrong at the exchange: for everybody in part of the calls, or for some accounts altogether.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from './desks.ts';
import type { FaultOrder } from './exchange-faults.ts';
import { type Fault, type Tools, TRAP_MS, withOutage } from './scene.ts';

/** After this it may be asked again, where it says nothing else. */
const BUSY_MS = 1_000;
/** Than BROKER_TIMEOUT_SECONDS. */
const LONGER_THAN_A_CALL_MS = 2_500;

/** What gives no answer that could be used. One that is only slow, or that loses what it took, can be asked again. */
const IS_AWAY: ReadonlySet<FaultOrder['kind']> = new Set([
  'reset',
  'hang',
  'stall',
  'garbage',
  'slow_answer',
]);

/** For everybody, in part of the calls. */
const atExchange =
  (what: string, fault: Omit<FaultOrder, 'ttl_ms' | 'seed'>): Fault =>
  async (scene, { between }) => {
    const ttl = between(2_000, 5_000);
    const last = async () => {
      await scene.exchange.addFault({ ...fault, ttl_ms: ttl, seed: between(1, 1e6) });
      await sleep(ttl + (fault.kind === 'refuse' ? BUSY_MS : 0));
    };
    if (IS_AWAY.has(fault.kind) || fault.kind === 'refuse') await withOutage(scene, null, last);
    else await last();
    return what;
  };

/** Of one account, as it pleases that account's broker. */
const atOneAccount =
  (
    what: string,
    isIt: (desk: Desk) => boolean,
    fault: (tools: Tools) => Omit<FaultOrder, 'accounts'>[],
  ): Fault =>
  async ({ exchange, desks, outages }, tools) => {
    const suitable = desks.filter(isIt);
    if (suitable.length === 0) return null;
    const accounts = [tools.pick(suitable).trader.account.id];
    const faults = fault(tools);
    for (const each of faults) await exchange.addFault({ ...each, accounts });
    const from = Date.now();
    outages.push({ from, to: from + Math.max(...faults.map(({ ttl_ms }) => ttl_ms)), accounts });
    await sleep(faults[0]?.ttl_ms ?? 0);
    return what;
  };

export const AT_EXCHANGE: Readonly<Record<string, Fault>> = {
  'exchange slow': atExchange('exchange slow before the accept', {
    kind: 'slow',
    ms: 1_200,
    probability: 0.5,
  }),
  'exchange too slow': atExchange('exchange slower than our patience', {
    kind: 'slow_answer',
    ms: 3_000,
    probability: 0.3,
    calls: 'orders',
  }),
  'exchange resetting': atExchange('exchange resetting connections', { kind: 'reset', probability: 0.4 }),
  'exchange losing': atExchange('exchange accepting and losing the answer', {
    kind: 'lose',
    probability: 0.5,
    calls: 'orders',
  }),
  'exchange garbage for what it takes': atExchange('exchange accepting and answering garbage', {
    kind: 'garbage',
    probability: 0.4,
    taken: true,
  }),
  'exchange garbage': atExchange('exchange answering garbage', {
    kind: 'garbage',
    probability: 0.4,
    taken: false,
  }),
  'exchange naming others': atExchange("exchange answering with another order's ids", {
    kind: 'garbage',
    garbage: 'another',
    probability: 0.4,
    taken: true,
  }),
  'exchange naming nobody': atExchange('exchange accepting orders without naming them', {
    kind: 'garbage',
    garbage: 'nameless',
    probability: 0.4,
    taken: true,
    calls: 'orders',
  }),
  'exchange stalling': atExchange('exchange stopping in the middle of an answer', {
    kind: 'stall',
    probability: 0.3,
  }),
  'exchange refusing': atExchange('exchange answering 429', {
    kind: 'refuse',
    probability: 0.6,
    calls: 'orders',
  }),

  'exchange hanging': atOneAccount(
    'exchange hanging for one account',
    () => true,
    ({ between }) => [{ kind: 'hang', ttl_ms: between(3_000, 9_000) }],
  ),
  // Longer than it remembers ids: what it took meanwhile without our hearing of it can no longer be asked for.
  'exchange silent': atOneAccount(
    'exchange losing the answers to orders, and for a minute to look-ups, of one account',
    ({ traits }) => traits.forgetsIdsAfterMs !== null,
    () => [
      { kind: 'lose', ttl_ms: 4_000, calls: 'orders' },
      { kind: 'lose', ttl_ms: 70_000, calls: 'look_ups' },
    ],
  ),
  'exchange busy': async ({ exchange, desks, random, outages }, { between }) => {
    const accounts = desks
      .filter(({ traits }) => traits.limits !== null)
      .map(({ trader }) => trader.account.id);
    const isLong = random() < 0.15;
    const ttl = between(200, 2_500);
    const again = isLong ? between(5_500, 9_000) : between(200, 3_000);
    const from = Date.now();
    outages.push({ from, to: from + ttl + again, accounts });
    await exchange.addFault({
      kind: 'refuse',
      accounts,
      ttl_ms: ttl,
      retry_after_ms: again,
      probability: 0.3 + 0.7 * random(),
      seed: between(1, 1e6),
    });
    await sleep(ttl);
    return `exchange busy, to be asked again ${isLong ? 'after more than 5 s' : 'in a moment'}`;
  },

  'exchange lagging': async ({ exchange, desks, random }, { between }) => {
    const accounts = some(desks, 0.5, random);
    const ttl = between(4_000, 12_000);
    await exchange.addFault({ kind: 'lag', accounts, ttl_ms: ttl, ms: between(500, 5_000) });
    await sleep(ttl);
    return 'exchange telling of positions up to 5 s late';
  },
  'exchange away': async (scene, { between }) => {
    const ttl = between(2_000, 20_000);
    const accounts = some(scene.desks, 0.3, scene.random);
    await withOutage(scene, accounts, async () => {
      await scene.exchange.addFault({ kind: 'reset', accounts, ttl_ms: ttl });
      await sleep(ttl);
    });
    return 'exchange away for 2 to 20 s';
  },
  'exchange away after a close': async (scene, { pick, between }) => {
    const { cluster, exchange, desks, random } = scene;
    const worker = pick(cluster.workers);
    const trap = await exchange.trap({
      asker: worker.name,
      at: 'accepted',
      // Not every order is a close.
      within_ms: 2 * TRAP_MS,
      hold_ms: 10_000,
      closes: true,
    });
    if (!trap.caught || !trap.account) return null;
    const ttl = between(2_000, 20_000);
    const accounts = [...new Set([trap.account, ...some(desks, 0.2, random)])];
    await withOutage(scene, accounts, async () => {
      await exchange.addFault({ kind: 'reset', accounts, ttl_ms: ttl });
      // Half of them never hear that the close was taken.
      if (random() < 0.5) await sleep(LONGER_THAN_A_CALL_MS);
      await exchange.release(trap.id);
      await sleep(ttl);
    });
    return 'exchange away for 2 to 20 s right after it took a close';
  },
  'exchange refusing credentials': async ({ exchange, desks, random, outages }, { between }) => {
    const ttl = between(500, 8_000);
    const from = Date.now();
    for (const account of some(desks, 0.15, random)) {
      const times = between(0, 2);
      const passes = times > 0 ? { ttl_ms: 8_000, times } : { ttl_ms: ttl };
      outages.push({ from, to: from + passes.ttl_ms, accounts: [account] });
      await exchange.addFault({ kind: 'deny', accounts: [account], ...passes });
    }
    await sleep(ttl);
    return 'exchange refusing right credentials once, twice, or for up to 8 s';
  },
};

/** A part of the accounts, at least one. */
function some(desks: readonly Desk[], part: number, random: () => number): string[] {
  const chosen = desks.filter(() => random() < part);
  return (chosen.length > 0 ? chosen : desks.slice(0, 1)).map(({ trader }) => trader.account.id);
}
