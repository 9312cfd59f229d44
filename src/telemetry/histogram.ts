// How often a value lay in which range, as prom-client writes it. Its own histogram names ranges by texts and makes objects of every
// value, and an order is a dozen of them: here a value is two sums.

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: Labels;
  /** By the first bound that it does not exceed; the last one is of what exceeds them all. */
  readonly counts: number[];
  sum: number;
}

interface Described {
  readonly name: string;
  readonly help: string;
  /** Ascending. */
  readonly bounds: readonly number[];
  readonly labelNames: readonly string[];
}

/** By the values of labels, one after the other. */
type Tree = Map<string, Tree | Series>;

export class Histogram implements Described {
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly labelNames: readonly string[];
  readonly #tree: Tree = new Map();
  readonly #all: Series[] = [];

  constructor({ name, help, bounds, labelNames }: Described) {
    this.name = name;
    this.help = help;
    this.bounds = bounds;
    this.labelNames = labelNames;
    // Without labels there is one from the start.
    if (labelNames.length === 0) this.zero();
  }

  observe(value: number, ...labels: readonly string[]): void {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is nothing that could be counted`);
    const series = this.#of(labels);
    const range = this.bounds.findIndex((bound) => value <= bound);
    const index = range < 0 ? this.bounds.length : range;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  /** What never happened is 0 and not missing. */
  zero(...labels: readonly string[]): void {
    this.#of(labels);
  }

  #of(labels: readonly string[]): Series {
    let tree = this.#tree;
    const last = Math.max(0, labels.length - 1);
    for (let nth = 0; nth < last; nth++) {
      const value = labels[nth] ?? '';
      const known = (tree.get(value) as Tree | undefined) ?? new Map();
      tree.set(value, known);
      tree = known;
    }
    const known = tree.get(labels[last] ?? '') as Series | undefined;
    if (known) return known;
    const made: Series = {
      labels: Object.fromEntries(this.labelNames.map((name, nth) => [name, labels[nth] ?? ''])),
      counts: [...this.bounds, null].map(() => 0),
      sum: 0,
    };
    tree.set(labels[last] ?? '', made);
    this.#all.push(made);
    return made;
  }

  /** As its registry asks for it. */
  async get() {
    const values = this.#all.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = [...this.bounds, '+Inf'].map((le, index) => {
        count += counts[index] ?? 0;
        return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, labels, value: sum },
        { metricName: `${this.name}_count`, labels, value: count },
      ];
    });
    return { name: this.name, help: this.help, type: 'histogram', values };
  }
}
