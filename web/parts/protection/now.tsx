// How what protects a position stands, in rows.

import type { ReactNode } from 'react';
import { figure } from '../figures.tsx';
import { Mark, type MarkName } from '../marks.tsx';
import { When } from '../when.tsx';
import { shareInWords } from './money.ts';
import styles from './now.module.css';
import { isFilled, type Protection, type ProtectionState } from './shapes.ts';
import { STATES } from './words.ts';

const MARKS: Readonly<Record<ProtectionState, MarkName>> = {
  armed: 'armed',
  standing: 'stands',
  suspended: 'armed',
  unprotected: 'risk',
  unwatched: 'act',
  left: 'act',
  ended: 'done',
};

const TONES: Readonly<Partial<Record<ProtectionState, string>>> = {
  unprotected: 'risk',
  unwatched: 'act',
  left: 'act',
};

/** The API's word for its state, with its mark. */
export const StateOf = ({ state }: { readonly state: ProtectionState }) => (
  <span className={`status ${TONES[state] ?? ''}`}>
    <Mark name={MARKS[state]} />
    {state}
  </span>
);

interface ProtectionNowProps {
  /** Without an id: nothing of its order is filled yet. */
  readonly protection: Omit<Protection, 'id'> & { readonly id: string | null };
  /** More rows. */
  readonly children?: ReactNode;
}

export function ProtectionNow({ protection, children }: ProtectionNowProps) {
  const isAhead = protection.id === null;
  const { state, stop_loss, take_profit, trailing_stop, break_even, time_stop_at } = protection;
  return (
    <dl className={`rows ${styles.now}`}>
      <div>
        <dt>state</dt>
        <dd>
          <StateOf state={state} />{' '}
          <span className="quiet">
            {isAhead ? 'wanted from the first fill, from which distances count' : STATES[state]}
          </span>
          {protection.unprotected_since && (
            <p className="risk">
              since <When at={protection.unprotected_since} />
            </p>
          )}
          {protection.reason && <p>{protection.reason}</p>}
        </dd>
      </div>
      {(stop_loss !== null || !isAhead) && (
        <div>
          <dt>stop</dt>
          <dd>{stop_loss === null ? <span className="quiet">none</span> : figure(stop_loss)}</dd>
        </div>
      )}
      {take_profit.map((target, index) => (
        <div key={target.price}>
          <dt>target {index + 1}</dt>
          <dd>
            {figure(target.price)}{' '}
            <span className="quiet">
              {shareInWords(target.percent)}
              {isFilled(target)
                ? ', filled'
                : target.filled > 0
                  ? `, ${figure(target.filled)} of ${figure(target.quantity)} filled`
                  : ''}
            </span>
          </dd>
        </div>
      ))}
      {trailing_stop && (
        <div>
          <dt>trails by</dt>
          <dd>
            {figure(trailing_stop.distance)}
            {trailing_stop.activate_at !== null &&
              ` once the price was at ${figure(trailing_stop.activate_at)}`}
          </dd>
        </div>
      )}
      {break_even && (
        <div>
          <dt>break even</dt>
          <dd>
            the stop goes to {figure(break_even.to)}{' '}
            {break_even.at === 'tp1'
              ? 'once target 1 is filled'
              : `once the price was at ${figure(break_even.at)}`}
          </dd>
        </div>
      )}
      {time_stop_at && (
        <div>
          <dt>closes at</dt>
          <dd>
            <When at={time_stop_at} />
          </dd>
        </div>
      )}
      {protection.seen_at && (
        <div>
          <dt>{state === 'standing' ? 'last seen' : 'looked at'}</dt>
          <dd>
            <When at={protection.seen_at} />
            {protection.stop_quantity !== null && (
              <span className="quiet"> the stop closes {figure(protection.stop_quantity)}</span>
            )}
          </dd>
        </div>
      )}
      {children}
    </dl>
  );
}
