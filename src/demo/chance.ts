// Luck that can be had again: the same seed, the same demo, as far as time allows.

export interface Chance {
  /** From 0 up to, and never, 1. */
  unit(): number;
  between(least: number, most: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

/** The generator known as mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    unit,
    between: (least, most) => least + (most - least) * unit(),
    pick: (items) => items[Math.floor(unit() * items.length)] ?? items[0],
  };
}
