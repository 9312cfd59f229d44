// The fields of an order.

import { Link } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';
import type { Schemas } from '../../api/client.ts';
import { figure, Held, unrealWord } from '../../parts/figures.tsx';
import { COUNTS } from '../../parts/sizes.ts';
import { When } from '../../parts/when.tsx';
import { Either, Field } from './field.tsx';
import { PriceFields } from './price-fields.tsx';
import { SymbolField } from './symbol-field.tsx';
import { countable, countsOf, type Fields, quantityProblem, worthInWords } from './wish.ts';

interface TradeFieldsProps {
  readonly fields: Fields;
  readonly onChange: (changed: Partial<Fields>) => void;
  readonly accounts: readonly Schemas['Account'][];
  readonly instrument: Schemas['Instrument'] | null;
  readonly position: Schemas['Position'] | null;
  /** At which it would be filled; null: not known. */
  readonly price: number | null;
  /** The broker was asked, and holds nothing of it. */
  readonly isFlat: boolean;
  readonly currency: string | null;
  readonly quantity: number | null;
  readonly isLocked: boolean;
  readonly remarksId: string;
}

const wordOf = (account: Schemas['Account'] | undefined): string | null =>
  account ? unrealWord({ broker_name: account.broker, environment: account.environment }) : null;

const nameOf = (account: Schemas['Account']): string => {
  const word = wordOf(account);
  return `${account.name}, ${word ? `${word}, no real money` : account.environment}${account.halted ? ', halted' : ''}`;
};

export function TradeFields(props: TradeFieldsProps) {
  const { fields, onChange, accounts, instrument, price, currency, quantity, isLocked, remarksId } = props;
  const id = useId();
  const isClose = fields.kind === 'close';
  // A paper account has no real money to choose.
  const own = wordOf(accounts.find((account) => account.id === fields.accountId)) ?? 'real';
  const counts = countsOf(fields);
  const problem = isClose ? null : quantityProblem(fields.quantity, instrument, counts);
  const isUnits = !isClose && counts === 'units';
  const worth = !isUnits ? null : worthInWords(quantity, instrument, price, currency);
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <fieldset disabled={isLocked}>
        <legend className="unseen">The order</legend>
        <Field label="Account" id={`${id}-account`}>
          <select
            id={`${id}-account`}
            value={fields.accountId}
            onChange={({ target }) => onChange({ accountId: target.value })}
          >
            {accounts.map((account) => (
              <option key={account.id} value={account.id}>
                {nameOf(account)}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="Symbol"
          id={`${id}-symbol`}
          remarkId={`${remarksId}-symbol`}
          remark={fields.symbol.trim() && <SymbolRemark {...props} />}
        >
          <SymbolField
            id={`${id}-symbol`}
            accountId={fields.accountId}
            broker={accounts.find(({ id }) => id === fields.accountId)?.broker}
            value={fields.symbol}
            describedBy={`${remarksId}-symbol`}
            onChange={(symbol) => onChange({ symbol })}
          />
        </Field>
        <Either
          label="Side"
          value={isClose ? '' : fields.side}
          choices={['buy', 'sell'] as const}
          isDisabled={isClose}
          onChange={(side) => onChange({ side })}
        />
        <Field
          label="Quantity"
          id={`${id}-quantity`}
          remarkId={`${remarksId}-quantity`}
          remark={problem ? <span className="act">{problem}</span> : worth}
        >
          <input
            id={`${id}-quantity`}
            inputMode="decimal"
            autoComplete="off"
            data-first={fields.symbol !== '' && !isClose ? true : undefined}
            disabled={isClose}
            placeholder={isClose ? 'all that is held' : ''}
            value={isClose ? '' : fields.quantity}
            aria-invalid={problem !== null}
            aria-describedby={`${remarksId}-quantity`}
            onChange={({ target }) => onChange({ quantity: target.value })}
          />
        </Field>
        <Field label="It counts" id={`${id}-counts`}>
          <select
            id={`${id}-counts`}
            value={counts}
            disabled={isClose}
            onChange={({ target }) => onChange({ counts: target.value as Fields['counts'] })}
          >
            {countable(fields.kind).map((type) => (
              <option key={type} value={type}>
                {COUNTS[type]}
              </option>
            ))}
          </select>
        </Field>
        <Either
          label="As"
          value={fields.kind}
          choices={['entry', 'exit', 'close'] as const}
          onChange={(kind) => onChange({ kind })}
        />
        {fields.kind === 'entry' && (
          <PriceFields
            pricing={fields.pricing}
            onChange={(pricing) => onChange({ pricing })}
            account={accounts.find((account) => account.id === fields.accountId)}
            instrument={instrument}
          />
        )}
        <Either
          label="Money"
          value={fields.simulation ? 'simulated' : own}
          choices={[own, 'simulated']}
          onChange={(mode) => onChange({ simulation: mode === 'simulated' })}
        />
      </fieldset>
    </form>
  );
}

function SymbolRemark({ instrument, position, isFlat }: TradeFieldsProps): ReactNode {
  return (
    <>
      {instrument && (
        <>
          {instrument.description}, {instrument.open ? 'open now' : <Closed until={instrument.next_open} />}
          {position?.last_price != null && `, last ${figure(position.last_price)}`}, step{' '}
          {figure(instrument.quantity_step)}, at least {figure(instrument.min_quantity)}, tick{' '}
          {figure(instrument.tick_size)}
          {instrument.contract_size !== 1 && `, a contract is ${figure(instrument.contract_size)}`}
        </>
      )}
      {(position || isFlat) && (
        <>
          {instrument && '; '}held: <Held position={position?.quantity ?? 0} />
        </>
      )}
    </>
  );
}

function Closed({ until }: { readonly until: string | null }) {
  return (
    <span className="act">
      closed now
      {until && (
        <>
          , opens <When at={until} />
        </>
      )}
    </span>
  );
}

export function NoAccount({ onLeave }: { readonly onLeave: () => void }) {
  return (
    <>
      <p>There is no account to trade on yet.</p>
      <p>
        <Link to="/accounts" className="button primary" onClick={onLeave}>
          Add an account
        </Link>
      </p>
    </>
  );
}
