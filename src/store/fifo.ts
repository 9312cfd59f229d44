// First in, first out.

export interface Place<Item> {
  readonly item: Item;
  before: Place<Item> | undefined;
  after: Place<Item> | undefined;
}

/** A line that can also be left from the middle. */
export class Fifo<Item> {
  #first: Place<Item> | undefined;
  #last: Place<Item> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#first?.item;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let place = this.#first; place; place = place.after) yield place.item;
  }

  push(item: Item): Place<Item> {
    const place: Place<Item> = { item, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  shift(): Item | undefined {
    const place = this.#first;
    if (place) this.remove(place);
    return place?.item;
  }

  /** Of a place that is still in the line. */
  remove(place: Place<Item>): void {
    if (place.before) place.before.after = place.after;
    else this.#first = place.after;
    if (place.after) place.after.before = place.before;
    else this.#last = place.before;
    this.#size--;
  }
}
