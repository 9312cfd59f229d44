// What the tests of notifications share: a world whose channels write down what they are told to send.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliver } from '../../src/app/notifications/deliver.ts';
import { findEvents, findStates } from '../../src/app/notifications/find-events.ts';
import { summarise } from '../../src/app/notifications/summarise.ts';
import { sql } from '../../src/data/engine/db.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { DEFAULT_PLANS } from '../../src/domain/orders/entitlement.ts';
import { type Attempt, EVENTS, type Message } from '../../src/domain/told/notification.ts';
import type { Address, Channels } from '../../src/notify/channel.ts';
import type { Parts } from '../../src/roles/foundation.ts';
import { openWorld, type Trader } from '../world.ts';

export interface Shown {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly address: string;
  readonly trading_account_ids: readonly string[] | null;
  readonly state: string;
  readonly since: string;
  readonly last_error: string | null;
  readonly dropped: number;
  readonly secret?: string;
}

export const TELEGRAM = {
  kind: 'telegram',
  bot_token: `123456789:${'A'.repeat(35)}`,
  chat_id: '42',
} as const;

/** Everything that is sent, as it is sent; what is answered is the test's. */
export function channelsDouble() {
  const sent: { address: Address; message: Message }[] = [];
  let answer: (message: Message) => Attempt | Promise<Attempt> = () => ({ outcome: 'delivered' });
  const channels: Channels = {
    async send(address, message) {
      sent.push({ address, message });
      return answer(message);
    },
  };
  return {
    sent,
    channels,
    answer(next: typeof answer) {
      answer = next;
    },
  };
}

type Options = Parts & { env?: Record<string, string> };

export async function openDesk(t: TestContext, { channels, ...options }: Options = {}) {
  const double = channelsDouble();
  const used = channels ?? double.channels;
  const world = await openWorld(t, { channels: used, ...options });
  const { db, clock, secrets } = world;
  const deps = {
    ...{ db, clock, secrets },
    channels: used,
    plans: DEFAULT_PLANS,
    counters: UNCOUNTED,
    // As the world's own: it looks, too.
    baseUrl: 'http://localhost:8080',
    log: { warn: () => {} },
  };
  const round = async () => {
    await findEvents(deps);
    await findStates(deps);
    await summarise(deps);
    await deliver(deps);
  };
  return {
    ...double,
    world,
    deps,
    round,
    async add(trader: Trader, fields: object = {}): Promise<Shown> {
      const body = {
        name: 'Phone',
        events: EVENTS.filter((each) => each !== 'daily_summary'),
        ...TELEGRAM,
        ...fields,
      };
      const { status, body: made } = await world.inSession<Shown>(
        trader,
        'POST',
        '/settings/notifications',
        body,
      );
      assert.equal(status, 201, JSON.stringify(made));
      return made;
    },
    /** Rounds, until it is so: the audit log is sealed about once a second. */
    async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
      const end = Date.now() + 40_000;
      while (!(await isSo())) {
        assert.ok(
          Date.now() < end,
          `it does not happen: ${JSON.stringify(double.sent.map(({ message }) => message.event))}`,
        );
        await round();
        await sleep(50);
      }
    },
    /** All that was committed so far is sealed and has been looked at. */
    async settled(): Promise<void> {
      const isUnsealed = () =>
        db.get(
          sql`select id from audit_logs a
              where not exists (select 1 from audit_seals s where s.entry_id = a.id) limit 1`,
        );
      while (await isUnsealed()) await sleep(50);
      // Messages leave a few at a time.
      for (let rounds = 0; rounds < 5; rounds++) await round();
    },
    kinds: () => double.sent.map(({ message }) => message.event),
    read: async (trader: Trader, id: string) =>
      (await world.as<Shown>(trader, 'GET', `/settings/notifications/${id}`)).body,
  };
}
