// Whether the slowest in a hundred moved, or chance moved them: both are measured in turns, and what is drawn again and again
// from what was measured tells how far chance alone goes.

import { percentile } from '../../bench/client.ts';

export interface Moved {
  readonly calm: number;
  readonly busy: number;
  /** How many times as slow. */
  readonly times: number;
  /** Nine in ten draws lie between. */
  readonly between: readonly [from: number, to: number];
  /** What one half of the quiet windows is of the other, drawn as often: nothing but chance. */
  readonly byChance: number;
}

const DRAWS = 400;
/** A slow disk or processor is slow for several signals: these are drawn together. */
const NEIGHBOURS = 25;

export function moved(
  calm: readonly (readonly number[])[],
  busy: readonly (readonly number[])[],
  random: () => number = Math.random,
): Moved {
  const [ofCalm, ofBusy] = [p99(calm.flat()), p99(busy.flat())];
  const [calmBlocks, busyBlocks] = [blocksOf(calm.flat()), blocksOf(busy.flat())];
  const drawn = Array.from(
    { length: DRAWS },
    () => p99(draw(busyBlocks, random)) / p99(draw(calmBlocks, random)),
  );
  const [odd, even] = [1, 0].map((rest) => p99(calm.filter((_, index) => index % 2 === rest).flat()));
  return {
    calm: ofCalm,
    busy: ofBusy,
    times: ofBusy / ofCalm,
    between: [percentile(drawn, 5), percentile(drawn, 95)],
    byChance: (odd ?? Number.NaN) / (even ?? Number.NaN),
  };
}

function p99(times: readonly number[]): number {
  const sorted = Float64Array.from(times).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? Number.NaN;
}

const blocksOf = (times: readonly number[]): readonly (readonly number[])[] =>
  Array.from({ length: Math.ceil(times.length / NEIGHBOURS) }, (_, index) =>
    times.slice(index * NEIGHBOURS, (index + 1) * NEIGHBOURS),
  );

const draw = (blocks: readonly (readonly number[])[], random: () => number): number[] =>
  blocks.flatMap(() => blocks[Math.floor(random() * blocks.length)] ?? []);
