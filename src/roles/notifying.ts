// Notifications beside mail, in the verifier's role: events are found behind what was committed, and messages are sent. Any
// number of processes may: what is found and what is sent is claimed by compare-and-set.

import { setTimeout as sleep } from 'node:timers/promises';
import { blockList } from '../app/accounts/ip-list.ts';
import { every } from '../app/background.ts';
import { deliver, deliverTrials } from '../app/notifications/deliver.ts';
import { findEvents, findStates } from '../app/notifications/find-events.ts';
import { summarise } from '../app/notifications/summarise.ts';
import { createSecretBox } from '../app/secret-box.ts';
import type { Channels } from '../notify/channel.ts';
import { openChannels } from '../notify/channels.ts';
import { appKeyOf } from './adapters.ts';
import type { Foundation } from './foundation.ts';

const FIND_EVERY_MS = 1_000;
const STATES_EVERY_MS = 15_000;
const DELIVER_EVERY_MS = 1_000;
/** Somebody waits for these. */
const TRIALS_EVERY_MS = 500;
/** Destinations that are being told, of which each may take its ten seconds. */
const MOST_UNDER_WAY = 100;
/** At a stop. What is under way then is sent again by the next process, under the same id. */
const PATIENCE_MS = 3_000;

const channelsOf = ({ config, parts, clock, log }: Foundation): Channels =>
  parts.channels ??
  openChannels({
    allowed: blockList(config.notify.privateNetworks),
    telegramUrl: config.notify.telegramUrl,
    clock,
    log,
  });

export function openNotifying(base: Foundation): void {
  const { config, log, closers } = base;
  const finding = { ...base, plans: config.plans, baseUrl: config.http.baseUrl };
  const delivering = { ...base, secrets: createSecretBox(appKeyOf(config)), channels: channelsOf(base) };
  let underWay = 0;
  const sending = async () => {
    if (underWay >= MOST_UNDER_WAY) return;
    underWay++;
    await deliver(delivering).finally(() => underWay--);
  };
  const rounds = [
    every(
      FIND_EVERY_MS,
      alone(() => findEvents(finding)),
      log,
    ),
    every(
      STATES_EVERY_MS,
      alone(() => findStates(finding)),
      log,
    ),
    every(
      STATES_EVERY_MS,
      alone(() => summarise(finding)),
      log,
    ),
  ];
  const deliveries = [
    every(DELIVER_EVERY_MS, sending, log),
    every(TRIALS_EVERY_MS, () => deliverTrials(delivering), log),
  ];
  closers.push(async () => {
    await Promise.all(rounds.map((round) => round.stop()));
    await Promise.race([
      Promise.all(deliveries.map((round) => round.stop())),
      sleep(PATIENCE_MS, undefined, { ref: false }),
    ]);
  });
}

/** A round is left out while the one before is at it. */
function alone(task: () => Promise<unknown>): () => Promise<void> {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await task();
    } finally {
      isBusy = false;
    }
  };
}
