// What protects an entry from its first fill, folded away until it is wanted.

import type { Schemas } from '../../api/client.ts';
import { readQuantity } from '../../parts/exact.ts';
import { type Problems, sentOf } from '../../parts/protection/asked.ts';
import { ProtectionFields } from '../../parts/protection/fields.tsx';
import type { Ground } from '../../parts/protection/levels.ts';
import { wonAt } from '../../parts/protection/money.ts';
import styles from './trade-drawer.module.css';
import type { Fields } from './wish.ts';

interface ProtectingProps {
  readonly fields: Fields;
  readonly onChange: (changed: Partial<Fields>) => void;
  readonly problems: Problems;
  readonly ground: Ground;
  /** What a price of 1 is worth; null: not known. */
  readonly contract: number | null;
  readonly currency: string | null;
  readonly account: Schemas['Account'] | null;
  readonly isLocked: boolean;
}

const NAMES: Readonly<Record<string, string>> = {
  stop_loss: 'stop',
  take_profit: 'target',
  trailing_stop: 'trailing',
  break_even: 'break even',
  time_stop: 'by the clock',
};

export function Protecting(props: ProtectingProps) {
  const { fields, onChange, problems, ground, contract, currency, account, isLocked } = props;
  const asked = fields.protection;
  const given = Object.keys(sentOf(asked)).map((name) => NAMES[name]);
  const hasDefaults = Object.keys(account?.protection_defaults ?? {}).length > 0;
  const quantity = readQuantity(fields.quantity) ?? 0;
  const holding = {
    quantity: ground.isLong ? quantity : -quantity,
    average: ground.entry,
    last: ground.last,
    contract,
    currency,
  };
  return (
    <details className={styles.folded}>
      <summary>
        Stop, target and more{' '}
        <small>{given.length > 0 ? given.join(', ') : hasDefaults ? 'the account’s defaults' : 'none'}</small>
      </summary>
      <fieldset disabled={isLocked}>
        <legend className="unseen">What protects it</legend>
        <ProtectionFields
          asked={asked}
          problems={problems}
          ground={ground}
          wins={(price, percent) =>
            quantity === 0 ? null : wonAt(holding, price, (quantity * percent) / 100)
          }
          currency={currency}
          onChange={(changed) => onChange({ protection: { ...asked, ...changed } })}
        />
        {hasDefaults && (
          <p className={styles.remark}>
            What is left empty here is filled in from the defaults of {account?.name}, where nothing is held
            yet.
          </p>
        )}
      </fieldset>
    </details>
  );
}
