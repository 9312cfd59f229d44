// What a trial tells of one thing that a connector assumes: what is assumed, what was seen, and what to make of it.

/**
 * `noted`: otherwise than usual, and nothing depends on it. `surprise`: something depends on it, and the trial ends. `not_tried`: this broker
 * has no such thing, or it cannot be tried safely.
 */
export type Verdict = 'as_assumed' | 'noted' | 'surprise' | 'not_tried';

export interface TrialRow {
  /** Of what it is. */
  readonly step: string;
  readonly assumed: string;
  readonly seen: string;
  readonly verdict: Verdict;
}

/** Otherwise than is assumed, in words. */
export class Surprise extends Error {
  override readonly name = 'Surprise';
}

/** For a person: milliseconds up to a second, and seconds from there. */
export const tookOf = (ms: number): string =>
  ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`;
