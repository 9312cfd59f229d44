// The marks: 12 by 12, beside their word and never alone. The ring is the order; it fills as the order fills.

import type { ReactElement } from 'react';

const ring = <circle cx="6" cy="6" r="4.75" fill="none" stroke="currentColor" strokeWidth="1.5" />;
const faintRing = (
  <circle cx="6" cy="6" r="4.75" fill="none" stroke="currentColor" strokeOpacity="0.3" strokeWidth="1.5" />
);
const disc = (radius: number) => <circle cx="6" cy="6" r={radius} fill="currentColor" />;
const line = (d: string, width = 1.5, stroke = 'currentColor') => (
  <path d={d} fill="none" stroke={stroke} strokeWidth={width} />
);
const HOLE = 'var(--page)';
/** The ring, filled clockwise from its top by this share. */
function filledBy(share: number): ReactElement {
  const angle = share * 2 * Math.PI;
  const [x, y] = [6 + 3.5 * Math.sin(angle), 6 - 3.5 * Math.cos(angle)].map((at) => at.toFixed(2));
  return (
    <>
      {ring}
      <path d={`M6 6V2.5A3.5 3.5 0 ${share > 0.5 ? 1 : 0} 1 ${x} ${y}Z`} fill="currentColor" />
    </>
  );
}

const MARKS = {
  dot: disc(3.5),
  stop: <rect x="2" y="2" width="8" height="8" rx="1" fill="currentColor" />,
  queued: (
    <circle
      cx="6"
      cy="6"
      r="4.75"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeDasharray="2.1 1.63"
    />
  ),
  executing: (
    <>
      {faintRing}
      <g className="turning">{line('M6 1.25A4.75 4.75 0 0 1 10.75 6')}</g>
    </>
  ),
  placed: ring,
  partially_filled: filledBy(0.6),
  filled: disc(5.5),
  done: (
    <>
      {ring}
      {disc(1.75)}
    </>
  ),
  cancelled: (
    <>
      {ring}
      {line('M9.2 2.8L2.8 9.2')}
    </>
  ),
  expired: (
    <>
      {ring}
      {line('M6 3.4V6l1.8 1.2', 1.25)}
    </>
  ),
  rejected: line('M2 2l8 8M10 2l-8 8', 1.75),
  refused: (
    <>
      {ring}
      {line('M3.5 6h5')}
    </>
  ),
  failed: (
    <>
      {disc(5.5)}
      {line('M3.9 3.9l4.2 4.2M8.1 3.9l-4.2 4.2', 1.5, HOLE)}
    </>
  ),
  unknown: (
    <>
      {disc(6)}
      {line('M4.3 4.6a1.7 1.7 0 1 1 2.5 1.5c-.5.3-.8.5-.8 1.1', 1.25, HOLE)}
      <circle cx="6" cy="9" r=".8" fill={HOLE} />
    </>
  ),
  same: line('M2 4.25h8M2 7.75h8'),
  differs: line('M2 4.25h8M2 7.75h8M8.2 1.6L3.8 10.4'),
  passed: line('M1.8 6.4l2.8 2.8 5.6-6.2', 1.75),
  unreached: disc(1.25),
  act: (
    <>
      <path d="M6 .5L12 11.5H0Z" fill="currentColor" />
      {line('M6 4.4v3.2', 1.4, HOLE)}
      <circle cx="6" cy="9.6" r=".8" fill={HOLE} />
    </>
  ),
  risk: (
    <>
      {disc(6)}
      {line('M6 2.8v4', 1.5, HOLE)}
      <circle cx="6" cy="9" r=".9" fill={HOLE} />
    </>
  ),
  /** A foot with its post: a stop that stands. */
  stands: line('M1 10h10M6 10V2.5'),
  armed: (
    <>
      <path d="M1 10h10" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.5 1.25" />
      {line('M6 8V2.5')}
    </>
  ),
} satisfies Record<string, ReactElement>;

export type MarkName = keyof typeof MARKS;

interface MarkProps {
  readonly name: MarkName;
  readonly className?: string;
  /** How much of it is filled, where that is known: between 0 and 1. */
  readonly share?: number | null;
}

export function Mark({ name, className = '', share = null }: MarkProps) {
  return (
    <svg className={`mark ${className}`} viewBox="0 0 12 12" aria-hidden="true">
      {name === 'partially_filled' && share !== null ? filledBy(share) : MARKS[name]}
    </svg>
  );
}

/** How loudly a status speaks: the usual is the quietest, red is money at risk, accent is under way. */
const TONES: Readonly<Record<string, string>> = {
  queued: 'live',
  executing: 'live',
  filled: 'usual',
  done: 'usual',
  failed: 'risk',
  unknown: 'risk',
};

/** A status in the API's own word, with its mark. `refused` is ours, `rejected` the broker's. */
export function Status({
  status,
  share = null,
}: {
  readonly status: string;
  readonly share?: number | null;
}) {
  const mark = status in MARKS ? (status as MarkName) : 'placed';
  return (
    <span className={`status ${TONES[status] ?? ''}`}>
      <Mark name={mark} share={share} />
      {status}
    </span>
  );
}
