// Numbers, sides and what is not real money: one spelling on every page. Exact as they came: nothing is rounded here.

import { Fragment, type ReactNode } from 'react';
import { figure, money, signed } from './numbers.ts';

export { counted, figure, unrealWord } from './numbers.ts';

const NotKnown = () => <span className="quiet">not known</span>;

export function Figure({
  value,
  unit,
}: {
  readonly value: number | null | undefined;
  readonly unit?: string | null;
}) {
  if (value === null || value === undefined) return <NotKnown />;
  return (
    <>
      {figure(value)}
      {unit ? <small> {unit}</small> : null}
    </>
  );
}

export function Profit({
  value,
  unit,
  exact = false,
}: {
  readonly value: number | null | undefined;
  readonly unit?: string | null;
  /** The broker's own figure, and no sum of ours. */
  readonly exact?: boolean;
}) {
  if (value === null || value === undefined) return <NotKnown />;
  return (
    <>
      {exact ? signed(value) : money(value)}
      {unit ? <small> {unit}</small> : null}
    </>
  );
}

const LONG = new Set(['buy', 'long', 'long_entry', 'close_short', 'short_exit']);
const SHORT = new Set(['sell', 'short', 'short_entry', 'close_long', 'long_exit']);

/** A side by colour and by word; both are cool. */
export function Side({ side }: { readonly side: string }) {
  const className = LONG.has(side) ? 'long' : SHORT.has(side) ? 'short' : '';
  const [first, ...others] = side.split('_');
  return (
    <span className={className}>
      {first}
      {/* In a narrow column `long_entry` stands in two lines. */}
      {others.map((word) => (
        <Fragment key={word}>
          _<wbr />
          {word}
        </Fragment>
      ))}
    </span>
  );
}

/** A signed position in words: `long 1.5`, `short 2`, `flat`. */
export function Held({ position }: { readonly position: number | null | undefined }) {
  if (position === null || position === undefined) return <NotKnown />;
  if (position === 0) return <>flat</>;
  const side = position > 0 ? 'long' : 'short';
  return (
    <>
      <Side side={side} /> {figure(Math.abs(position))}
    </>
  );
}

export const Unreal = ({ word }: { readonly word: string | null }): ReactNode =>
  word && <span className="unreal">{word}</span>;

/** In the place of its name: what it did stays. */
export const DeletedAccount = () => <span className="quiet">deleted account</span>;
