// The targets of a position: each with its share, and what it wins.

import { useId } from 'react';
import drawer from '../drawer.module.css';
import { figure, money } from '../numbers.ts';
import { type Asked, MOST_TARGETS, type Problems, type TargetText } from './asked.ts';
import { Declining } from './declining.tsx';
import type { Defaulted } from './defaults.ts';
import styles from './fields.module.css';
import { far, LEVELS, LevelInput, Remark } from './level-field.tsx';
import { type Ground, isGiven, isNone, NONE, priceOf } from './levels.ts';

export interface TargetsProps {
  readonly asked: Asked;
  readonly problems: Problems;
  readonly ground: Ground;
  /** Of a target: what closing this share at this price wins; null: not known. */
  readonly wins: (price: number, percent: number) => number | null;
  readonly currency: string | null;
  readonly onChange: (changed: Partial<Asked>) => void;
  /** What the account fills in where a field is left empty, as typed. */
  readonly defaults?: Readonly<Partial<Record<Defaulted, string>>>;
}

export function Targets(props: TargetsProps) {
  const { asked, problems, ground, wins, currency, onChange, defaults } = props;
  const { targets } = asked;
  const id = useId();
  const set = (index: number, changed: Partial<TargetText>) =>
    onChange({ targets: targets.map((target, at) => (at === index ? { ...target, ...changed } : target)) });
  const add = () => {
    const used = targets.reduce((sum, { percent }) => sum + (Number(percent) || 0), 0);
    const unit = targets.at(-1)?.at.unit ?? 'price';
    // All of it at one level leaves nothing for a second: they share.
    const halved = targets.length === 1 && used === 100;
    const before = halved ? targets.map((target) => ({ ...target, percent: '50' })) : targets;
    const rest = halved ? 50 : Math.max(0, 100 - used);
    onChange({ targets: [...before, { at: { text: '', unit }, percent: rest > 0 ? String(rest) : '' }] });
  };
  const left = MOST_TARGETS - targets.length;
  return (
    <fieldset className={`${drawer.field} ${styles.targets}`}>
      <legend className="unseen">Targets</legend>
      <span className="quiet" aria-hidden="true">
        {targets.length > 1 ? 'Targets' : 'Target'}
      </span>
      <div>
        {targets.map((target, index) => {
          const price = priceOf(target.at, 'target', ground);
          const won = price === null ? null : wins(price, Number(target.percent) || 0);
          const problem = problems.targets[index] ?? null;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: their place is their name
            <div key={index}>
              <div className={styles.target}>
                <LevelInput
                  label={`Target ${index + 1}`}
                  level={target.at}
                  units={LEVELS}
                  placeholder="none"
                  isWrong={problem !== null}
                  describedBy={`${id}-${index}`}
                  onChange={(at) => set(index, { at })}
                />
                <span className={styles.share}>
                  <input
                    aria-label={`Share of target ${index + 1}, in percent`}
                    inputMode="decimal"
                    autoComplete="off"
                    value={target.percent}
                    onChange={({ target: { value } }) => set(index, { percent: value })}
                  />
                  <small>%</small>
                </span>
              </div>
              <Remark id={`${id}-${index}`} problem={problem}>
                {index === 0 && targets.length === 1 && !isGiven(target.at) && (
                  <Declining
                    byDefault={defaults?.take_profit}
                    isDeclined={isNone(target.at)}
                    what="the targets"
                    onDecline={(isDeclined) => set(0, { at: { ...target.at, text: isDeclined ? NONE : '' } })}
                  />
                )}
                {price !== null && (
                  <>
                    {target.at.unit !== 'price' && `${figure(price)}, `}
                    {far(price, ground.last, 'the last price').join('')}
                    {won !== null && `, ${money(won)} ${currency ?? ''}`}
                  </>
                )}
              </Remark>
            </div>
          );
        })}
        {problems.shares && <p className={`act ${drawer.remark}`}>{problems.shares}</p>}
        <p className={drawer.remark}>
          {left > 0 && (
            <button type="button" className="link" onClick={add}>
              Add a target
            </button>
          )}
          {targets.length > 1 && (
            <>
              {left > 0 && ', '}
              <button
                type="button"
                className="link"
                onClick={() => onChange({ targets: targets.slice(0, -1) })}
              >
                leave out target {targets.length}
              </button>
            </>
          )}
        </p>
      </div>
    </fieldset>
  );
}
