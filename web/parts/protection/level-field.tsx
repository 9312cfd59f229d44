// One level or distance: its number, what it counts, and beside it what it comes to or what is wrong.

import { type ReactNode, useId } from 'react';
import drawer from '../drawer.module.css';
import styles from './fields.module.css';
import type { LevelText, Unit } from './levels.ts';
import { percentFrom } from './money.ts';

export const LEVELS: readonly Unit[] = ['price', 'percent', 'ticks', 'points'];
export const DISTANCES: readonly Unit[] = ['points', 'percent', 'ticks'];
const NAMES: Readonly<Record<Unit, string>> = {
  price: 'price',
  percent: '%',
  ticks: 'ticks',
  points: 'points',
};

/** `0.5 % below the entry`; empty: it is not known. */
export function far(price: number, from: number | null, name: string): string[] {
  const percent = percentFrom(price, from);
  if (percent === null || from === null) return [];
  if (price === from) return [`at ${name}`];
  return [`${percent.replace(/^[+\u2212]/, '')} ${price < from ? 'below' : 'above'} ${name}`];
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

export function Level({
  label,
  level,
  units,
  problem,
  remark,
  placeholder,
  isFirst = false,
  onChange,
}: LevelProps) {
  const id = useId();
  return (
    <div className={drawer.field}>
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

export function LevelInput(props: LevelInputProps) {
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

export function Remark({
  id,
  problem,
  children,
}: {
  readonly id: string;
  readonly problem: string | null;
  readonly children: ReactNode;
}) {
  return (
    <p id={id} className={drawer.remark}>
      {problem === null ? children : <span className="act">{problem}</span>}
    </p>
  );
}
