// What protects an entry from its first fill, folded away until it is wanted.

import type { Schemas } from '../../api/client.ts';
import { readQuantity } from '../../parts/exact.ts';
import { type Problems, sentOf } from '../../parts/protection/asked.ts';
import { defaultsFor } from '../../parts/protection/defaults.ts';
import { ProtectionFields } from '../../parts/protection/fields.tsx';
import { type Ground, NONE } from '../../parts/protection/levels.ts';
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
  /** Nothing is held of it: what is left empty is filled in from the account's defaults. */
  readonly isFlat: boolean;
  readonly isLocked: boolean;
}

const NAMES: Readonly<Record<string, string>> = {
  stop_loss: 'stop',
  take_profit: 'target',
  trailing_stop: 'trailing',
  break_even: 'break even',
  time_stop: 'close by the clock',
};

export function Protecting(props: ProtectingProps) {
  const { fields, onChange, problems, ground, contract, currency, account, isFlat, isLocked } = props;
  const asked = fields.protection;
  const given = Object.entries(sentOf(asked)).map(
    ([name, part]) => `${part === NONE ? 'no ' : ''}${NAMES[name]}`,
  );
  // They are for an entry from flat.
  const defaults = account && isFlat ? defaultsFor(account, fields.symbol) : {};
  const filledIn = Object.keys(defaults).filter((name) => !(name in sentOf(asked)));
  const said = [
    ...given,
    ...(filledIn.length > 0 ? [`${filledIn.map((name) => NAMES[name]).join(', ')} by default`] : []),
  ];
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
        Stop, target and more <small>{said.length > 0 ? `with ${said.join('; ')}` : 'none'}</small>
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
          {...(account && { triggerBy: account.trigger_by })}
          defaults={defaults}
          onChange={(changed) => onChange({ protection: { ...asked, ...changed } })}
        />
      </fieldset>
    </details>
  );
}
