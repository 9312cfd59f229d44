// The play: some days of the past before the service opens, one after the other, and then the present.

import type { Logger } from 'pino';
import * as entries from './entries.ts';
import * as scenes from './scenes.ts';
import type { Scene, Stage } from './stage.ts';
import * as stops from './stops.ts';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** What the strategies look back on when they act every few hours, and every few seconds. */
const SLOW_MS = 5 * HOUR_MS;
const FAST_MS = 90_000;

const SIGNALS_A_DAY = 14;
/** Before that little happened, so that a start does not take long: enough for a month of trades. */
export const QUIET_DAYS = 25;
const SIGNALS_A_QUIET_DAY = 6;

/** What each of the last days has besides. */
const DAYS: readonly (readonly Scene[])[] = [
  [scenes.forgedRequest, scenes.shares, scenes.strangerRegisters],
  [scenes.haltAndResume, scenes.heldBackByGuard, stops.stoppedOut],
  [scenes.blockedAddress, scenes.shares, scenes.toGroup, entries.entryFilled],
  [scenes.alertGetsLost, scenes.shares, stops.stoppedOut],
  [scenes.heldBackByGuard, scenes.alertGetsLost, entries.sizedByRisk],
];
export const FULL_DAYS = DAYS.length;

interface Day {
  readonly from: number;
  /** Sets the service's clock. */
  moveTo(at: number): void;
}

/** In a few hundred milliseconds. */
export async function playDay(stage: Stage, { day, ...when }: Day & { readonly day: number }): Promise<void> {
  const { chance } = stage;
  await playThrough(stage, when, [
    ...Array.from({ length: SIGNALS_A_DAY }, () => scenes.strategyActs(SLOW_MS)),
    ...(DAYS[day] ?? []),
    ...[scenes.guessedPassword, scenes.rehearsal, scenes.tradeByHand],
    ...[chance.pick(scenes.ATTACKS), chance.pick(scenes.ATTACKS)],
    ...[chance.pick(scenes.MISTAKES), chance.pick(scenes.MISTAKES)],
  ]);
}

export async function playQuietDays(stage: Stage, { from, moveTo }: Day): Promise<void> {
  for (let day = 0; day < QUIET_DAYS; day++)
    await playThrough(
      stage,
      { from: from + day * DAY_MS, moveTo },
      Array.from({ length: SIGNALS_A_QUIET_DAY }, () => scenes.strategyActs(SLOW_MS)),
    );
}

/** At times of the day that chance decides on. */
async function playThrough(
  stage: Stage,
  { from, moveTo }: Day,
  scenesOfDay: readonly Scene[],
): Promise<void> {
  const program = scenesOfDay.map((scene) => ({
    scene,
    at: Math.round(from + stage.chance.between(0.01, 0.99) * DAY_MS),
  }));
  for (const { scene, at } of program.toSorted((a, b) => a.at - b.at)) {
    moveTo(at);
    await scene(stage);
  }
}

/** In this order, so that every page has something to show within half a minute. */
const OPENING: readonly Scene[] = [
  scenes.strategyActs(FAST_MS),
  stops.targetReached,
  stops.trails,
  scenes.drift,
  stops.trails,
  scenes.haltedAccount,
  scenes.toGroup,
  entries.entryRests,
  ...scenes.ATTACKS,
  ...scenes.MISTAKES,
  scenes.heldBackByGuard,
  stops.stoppedOut,
  scenes.rehearsal,
  ...scenes.BAD_DAYS,
  stops.stopMoved,
  entries.entryMoved,
  scenes.silence,
];

/** A demo that is left alone for a night ends with so many: nothing grows for ever. */
const MOST_SCENES = 3_000;
const QUICK_SCENES = 60;
/** Between two scenes, the least and the most. */
const QUICK_PAUSE_MS: readonly [number, number] = [200, 800];
const PAUSE_MS: readonly [number, number] = [5_000, 20_000];

/** Until it is stopped, or has played enough. */
export async function playOn(
  stage: Stage,
  { wait, log, signal }: { wait(ms: number): Promise<void>; log: Logger; signal: AbortSignal },
): Promise<void> {
  const { chance } = stage;
  for (let played = 0; played < MOST_SCENES; played++) {
    try {
      await (OPENING[played] ?? nextScene(stage))(stage);
      await wait(chance.between(...(played < QUICK_SCENES ? QUICK_PAUSE_MS : PAUSE_MS)));
    } catch (fault) {
      if (signal.aborted) return;
      log.warn({ fault }, 'a scene of the demo failed; it goes on with the next one');
      await wait(PAUSE_MS[0]).catch(() => undefined);
    }
    if (signal.aborted) return;
  }
  log.info('the demo has played enough, and leaves the stage to you');
}

function nextScene({ chance }: Stage): Scene {
  const luck = chance.unit();
  if (luck < 0.08) return chance.pick(scenes.ATTACKS);
  if (luck < 0.13) return chance.pick(scenes.MISTAKES);
  if (luck < 0.17) return chance.pick(scenes.BAD_DAYS);
  if (luck < 0.22) return scenes.rehearsal;
  if (luck < 0.26) return scenes.tradeByHand;
  if (luck < 0.28) return scenes.alertGetsLost;
  if (luck < 0.5) return stops.trails;
  if (luck < 0.52) return stops.stoppedOut;
  if (luck < 0.56) return scenes.toGroup;
  if (luck < 0.59) return entries.entriesGoOn;
  if (luck < 0.62) return entries.sizedByRisk;
  return scenes.strategyActs(FAST_MS);
}
