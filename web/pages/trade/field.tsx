// A field of the drawer, with its label beside it and a remark below, and a choice between few.

import { type ReactNode, useId } from 'react';
import drawer from '../../parts/drawer.module.css';
import styles from './trade-drawer.module.css';

interface FieldProps {
  readonly label: string;
  readonly id: string;
  readonly remark?: ReactNode;
  readonly remarkId?: string;
  readonly children: ReactNode;
}

export function Field({ label, id, remark, remarkId, children }: FieldProps) {
  return (
    <div className={drawer.field}>
      <label htmlFor={id}>{label}</label>
      {children}
      {remarkId && (
        <p className={`${drawer.remark} ${styles.remark}`} id={remarkId}>
          {remark}
        </p>
      )}
    </div>
  );
}

interface EitherProps<T extends string> {
  readonly label: string;
  readonly value: T | '';
  readonly choices: readonly T[];
  readonly isDisabled?: boolean;
  readonly onChange: (choice: T) => void;
}

const COLOURS: Readonly<Record<string, string>> = { buy: 'long', sell: 'short' };

export function Either<T extends string>(props: EitherProps<T>) {
  const { label, value, choices, isDisabled = false, onChange } = props;
  const id = useId();
  return (
    <div className={drawer.field}>
      <span className="quiet" id={id}>
        {label}
      </span>
      <div className={styles.either} role="radiogroup" aria-labelledby={id}>
        {choices.map((choice) => (
          <label key={choice} className={COLOURS[choice]}>
            <input
              type="radio"
              name={id}
              checked={value === choice}
              disabled={isDisabled}
              onChange={() => onChange(choice)}
            />
            {choice}
          </label>
        ))}
      </div>
    </div>
  );
}
