// The fields of a position's protection: as an order asks for it, and as it is changed later. What can be seen to be wrong is
// said beside each field.

import { type ReactNode, useId } from 'react';
import { figure, money } from '../numbers.ts';
import { type Asked, MOST_TARGETS, type Problems, type TargetText } from './asked.ts';
import styles from './fields.module.css';
import { type Ground, isEmpty, type LevelText, priceOf, type Unit } from './levels.ts';
import { percentFrom } from './money.ts';

export interface ProtectionFieldsProps {
  readonly asked: Asked;
  readonly problems: Problems;
  readonly ground: Ground;
  /** Of a target: what closing this share at this price wins; null: not known. */
  readonly wins: (price: number, percent: number) => number | null;
  readonly currency: string | null;
  readonly onChange: (changed: Partial<Asked>) => void;
  /** The drawer opens with the stop's field. */
  readonly isFirst?: boolean;
  /** The close by the clock that stands already, in words. */
  readonly closesAt?: string | null;
}

const LEVELS: readonly Unit[] = ['price', 'percent', 'ticks', 'points'];
const DISTANCES: readonly Unit[] = ['points', 'percent', 'ticks'];
const NAMES: Readonly<Record<Unit, string>> = {
  price: 'price',
  percent: '%',
  ticks: 'ticks',
  points: 'points',
};

export function ProtectionFields(props: ProtectionFieldsProps) {
  const { asked, problems, ground, onChange, isFirst = false, closesAt = null } = props;
  const { breakEven } = asked;
  const id = useId();
  return (
    <>
      <Level
        label="Stop"
        level={asked.stop}
        units={LEVELS}
        placeholder="none"
        isFirst={isFirst}
        problem={problems.stop}
        remark={stopRemark(asked.stop, ground)}
        onChange={(stop) => onChange({ stop })}
      />
      <Level
        label="Trails by"
        level={asked.trail}
        units={DISTANCES}
        placeholder="not trailing"
        problem={problems.trail}
        remark={isEmpty(asked.trail) ? null : 'follows the best price at this distance, and never goes back'}
        onChange={(trail) => onChange({ trail })}
      />
      <div className={styles.field}>
        <label htmlFor={`${id}-even`}>Break even</label>
        <div className={breakEven.when === 'price' ? styles.threefold : undefined}>
          <select
            id={`${id}-even`}
            value={breakEven.when}
            aria-describedby={`${id}-even-remark`}
            onChange={({ target }) =>
              onChange({ breakEven: { ...breakEven, when: target.value as typeof breakEven.when } })
            }
          >
            <option value="never">never</option>
            <option value="tp1">at target 1</option>
            <option value="price">once the price is at</option>
          </select>
          {breakEven.when === 'price' && (
            <LevelInput
              label="Break even at"
              level={breakEven.at}
              units={LEVELS}
              isWrong={problems.breakEven !== null}
              describedBy={`${id}-even-remark`}
              onChange={(at) => onChange({ breakEven: { ...breakEven, at } })}
            />
          )}
        </div>
        <Remark id={`${id}-even-remark`} problem={problems.breakEven}>
          {breakEven.when !== 'never' &&
            `${breakEven.when === 'tp1' ? 'once target 1 is filled' : 'once the price was there'} the stop goes to the entry: nothing at risk`}
        </Remark>
      </div>
      <div className={styles.field}>
        <label htmlFor={`${id}-time`}>Close at</label>
        <input
          id={`${id}-time`}
          autoComplete="off"
          spellCheck={false}
          placeholder={closesAt ?? 'no time'}
          value={asked.time}
          aria-invalid={problems.time !== null}
          aria-describedby={`${id}-time-remark`}
          onChange={({ target }) => onChange({ time: target.value })}
        />
        <Remark id={`${id}-time-remark`} problem={problems.time}>
          {asked.time.trim() !== '' && 'closed by us at the market then, and late where we are away'}
        </Remark>
      </div>
      <Targets {...props} />
    </>
  );
}

function stopRemark(stop: LevelText, ground: Ground): string | null {
  const price = priceOf(stop, 'stop', ground);
  if (price === null) return null;
  const parts = [
    ...(stop.unit === 'price' ? [] : [figure(price)]),
    ...far(price, ground.entry, 'the entry'),
    ...(ground.last === ground.entry ? [] : far(price, ground.last, 'the last price')),
    ...(ground.tick === null ? [] : [`on the tick of ${figure(ground.tick)}`]),
  ];
  return parts.join(', ');
}

function far(price: number, from: number | null, name: string): string[] {
  const percent = percentFrom(price, from);
  if (percent === null || from === null) return [];
  if (price === from) return [`at ${name}`];
  return [`${percent.replace(/^[+\u2212]/, '')} ${price < from ? 'below' : 'above'} ${name}`];
}

function Targets({ asked, problems, ground, wins, currency, onChange }: ProtectionFieldsProps) {
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
    <fieldset className={`${styles.field} ${styles.targets}`}>
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
        {problems.shares && <p className={`act ${styles.remark}`}>{problems.shares}</p>}
        <p className={styles.remark}>
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

interface LevelProps {
  readonly label: string;
  readonly level: LevelText;
  readonly units: readonly Unit[];
  readonly problem: string | null;
  readonly remark: ReactNode;
  readonly placeholder: string;
  readonly isFirst?: boolean;
  readonly onChange: (level: LevelText) => void;
}

function Level({ label, level, units, problem, remark, placeholder, isFirst = false, onChange }: LevelProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <LevelInput
        id={id}
        label={label}
        level={level}
        units={units}
        placeholder={placeholder}
        isWrong={problem !== null}
        describedBy={`${id}-remark`}
        isFirst={isFirst}
        onChange={onChange}
      />
      <Remark id={`${id}-remark`} problem={problem}>
        {remark}
      </Remark>
    </div>
  );
}

interface LevelInputProps {
  /** Of the field that a label stands for; without one it is named by `label`. */
  readonly id?: string;
  readonly label: string;
  readonly level: LevelText;
  readonly units: readonly Unit[];
  readonly placeholder?: string;
  readonly isWrong: boolean;
  readonly describedBy: string;
  readonly isFirst?: boolean;
  readonly onChange: (level: LevelText) => void;
}

function LevelInput(props: LevelInputProps) {
  const { id, label, level, units, placeholder, isWrong, describedBy, isFirst = false, onChange } = props;
  return (
    <div className={styles.withUnit}>
      <input
        id={id}
        aria-label={id ? undefined : label}
        inputMode="decimal"
        autoComplete="off"
        placeholder={placeholder}
        value={level.text}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        data-first={isFirst ? true : undefined}
        onChange={({ target }) => onChange({ ...level, text: target.value })}
      />
      <select
        aria-label={`${label}, counted as`}
        value={level.unit}
        onChange={({ target }) => onChange({ ...level, unit: target.value as Unit })}
      >
        {units.map((unit) => (
          <option key={unit} value={unit}>
            {NAMES[unit]}
          </option>
        ))}
      </select>
    </div>
  );
}

function Remark({
  id,
  problem,
  children,
}: {
  readonly id: string;
  readonly problem: string | null;
  readonly children: ReactNode;
}) {
  return (
    <p id={id} className={styles.remark}>
      {problem === null ? children : <span className="act">{problem}</span>}
    </p>
  );
}
