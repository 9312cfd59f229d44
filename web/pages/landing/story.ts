// The example on the landing page: a reversal as the service tells it. Invented, and said to be; its sums are right.

export interface ExampleStep {
  readonly name: string;
  readonly ms: number;
  readonly whose: 'ours' | 'theirs';
}

export const STEPS: readonly ExampleStep[] = [
  { name: 'Arrived, proven genuine', ms: 1.3, whose: 'ours' },
  { name: 'Recorded and queued', ms: 2.6, whose: 'ours' },
  { name: 'Position read', ms: 38.7, whose: 'theirs' },
  { name: 'Long closed', ms: 77.8, whose: 'theirs' },
  { name: 'Between the legs', ms: 1.3, whose: 'ours' },
  { name: 'Short opened', ms: 78.1, whose: 'theirs' },
  { name: 'Answered', ms: 1.4, whose: 'ours' },
];

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

export const took = (whose?: ExampleStep['whose']): number =>
  tenths(
    STEPS.filter((step) => whose === undefined || step.whose === whose).reduce((sum, { ms }) => sum + ms, 0),
  );

/** Where each step's bar begins and how long it is, in percent of the whole. */
export function bars(): readonly { readonly left: number; readonly width: number }[] {
  const whole = took();
  let before = 0;
  return STEPS.map(({ ms }) => {
    const bar = { left: (before / whole) * 100, width: (ms / whole) * 100 };
    before += ms;
    return bar;
  });
}
