// The day in a strip: a block for each signal in its quarter of an hour, and bars where there are too many for blocks.

/** `no`: refused; `sim`: no real money. */
type Kind = 'ok' | 'sim' | 'no';
export interface Arrival {
  readonly at: number;
  readonly kind: Kind;
}

export const WIDTH = 1376;
export const HEIGHT = 44;
const QUARTERS = 96;
const QUARTER_MS = 900_000;
const GROUND = HEIGHT - 3;
const COLUMN = WIDTH / QUARTERS;
const BLOCK_WIDTH = COLUMN - 4;
/** A block with its gap, as long as the tallest column has room. */
const TALLEST = 7;
/** How much of it is block. */
const SOLID = 5 / 7;
export const MOST_BLOCKS = 300;

const KINDS: readonly Kind[] = ['ok', 'sim', 'no'];
export type Strip = Readonly<Record<Kind, string>>;

/** A path for each kind; what did not arrive on that day is not there. */
export function stripOf(arrivals: readonly Arrival[], dayStart: number): Strip {
  const columns = columnsOf(arrivals, dayStart);
  const most = Math.max(1, ...columns.map(({ ok, sim, no }) => ok + sim + no));
  const step = Math.min(TALLEST, GROUND / most);
  const isBars = arrivals.length >= MOST_BLOCKS;
  const paths = { ok: '', sim: '', no: '' };
  columns.forEach((counts, column) => {
    const x = (column * COLUMN + 2).toFixed(1);
    let below = 0;
    for (const kind of KINDS) {
      const count = counts[kind];
      if (isBars && count > 0) paths[kind] += block(x, GROUND - below * step, count * step);
      else
        for (let index = 0; index < count; index++)
          paths[kind] += block(x, GROUND - (below + index) * step, step * SOLID);
      below += count;
    }
  });
  return paths;
}

const block = (x: string, bottom: number, height: number): string =>
  `M${x} ${bottom.toFixed(1)}h${BLOCK_WIDTH.toFixed(1)}v-${height.toFixed(1)}h-${BLOCK_WIDTH.toFixed(1)}z`;

function columnsOf(arrivals: readonly Arrival[], dayStart: number) {
  const columns = Array.from({ length: QUARTERS }, () => ({ ok: 0, sim: 0, no: 0 }));
  for (const { at, kind } of arrivals) {
    const column = columns[Math.floor((at - dayStart) / QUARTER_MS)];
    if (column) column[kind]++;
  }
  return columns;
}

/** Where a moment of the day stands. */
export const placeOf = (at: number, dayStart: number): number =>
  ((at - dayStart) / (QUARTERS * QUARTER_MS)) * WIDTH;
