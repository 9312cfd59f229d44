// Where an entry waits, and for how long.

import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import { brokers } from '../../api/queries.ts';
import { minuteOf } from '../../parts/times.ts';
import { useNow } from '../../parts/when.tsx';
import { Either, Field } from './field.tsx';
import {
  hasLimit,
  hasStop,
  kindsFor,
  type Pricing,
  pricingProblems,
  rests,
  sentPrice,
  TIMES,
  type TimeInForce,
  timesFor,
  UNITS,
  type Unit,
} from './pricing.ts';
import styles from './trade-drawer.module.css';

interface PriceFieldsProps {
  readonly pricing: Pricing;
  readonly onChange: (pricing: Pricing) => void;
  readonly account: Schemas['Account'] | undefined;
  readonly instrument: Schemas['Instrument'] | null;
}

export function PriceFields({ pricing, onChange, account, instrument }: PriceFieldsProps) {
  const { data } = useQuery(brokers);
  const id = useId();
  const broker = data?.items.find(({ name }) => name === account?.broker);
  const able = broker?.capabilities ?? null;
  const kinds = kindsFor(able);
  const problems = pricingProblems(pricing, instrument?.tick_size ?? null);
  const change = (changed: Partial<Pricing>) => onChange({ ...pricing, ...changed });
  const price = (name: 'limit' | 'stop', label: string, says: string) => (
    <Field
      label={label}
      id={`${id}-${name}`}
      remarkId={`${id}-${name}-remark`}
      remark={problems[name] ? <span className="act">{problems[name]}</span> : says}
    >
      <input
        id={`${id}-${name}`}
        inputMode="decimal"
        autoComplete="off"
        value={pricing[name]}
        aria-invalid={problems[name] !== null}
        aria-describedby={`${id}-${name}-remark`}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    </Field>
  );
  return (
    <>
      <Either
        label="Price"
        value={pricing.kind}
        choices={kinds.includes(pricing.kind) ? kinds : [...kinds, pricing.kind]}
        onChange={(kind) =>
          change({
            kind,
            inForce: timesFor({ ...pricing, kind }, able).includes(pricing.inForce) ? pricing.inForce : 'gtc',
          })
        }
      />
      {kinds.length === 1 && pricing.kind === 'market' && (
        <p className={styles.unable}>{broker?.title} lets no entry rest: orders are at the market.</p>
      )}
      {hasStop(pricing) && price('stop', 'Stop price', 'waits until this price is reached')}
      {hasLimit(pricing) && price('limit', 'Limit price', 'fills at this price or better')}
      {pricing.kind !== 'market' && (
        <>
          <Field label="In force" id={`${id}-force`}>
            <select
              id={`${id}-force`}
              value={pricing.inForce}
              onChange={({ target }) => change({ inForce: target.value as TimeInForce })}
            >
              {timesFor(pricing, able).map((each) => (
                <option key={each} value={each}>
                  {TIMES[each]}
                </option>
              ))}
            </select>
          </Field>
          {rests(pricing) && (
            <>
              <Field
                label="Expires in"
                id={`${id}-lasts`}
                remarkId={`${id}-lasts-remark`}
                remark={
                  problems.lasts ? <span className="act">{problems.lasts}</span> : <Until pricing={pricing} />
                }
              >
                <div className={styles.lasts}>
                  <input
                    id={`${id}-lasts`}
                    inputMode="decimal"
                    autoComplete="off"
                    placeholder={pricing.unit === 'days' ? '1' : ''}
                    value={pricing.lasts}
                    aria-invalid={problems.lasts !== null}
                    aria-describedby={`${id}-lasts-remark`}
                    onChange={({ target }) => change({ lasts: target.value })}
                  />
                  <select
                    aria-label="Expires in, counted in"
                    value={pricing.unit}
                    onChange={({ target }) => change({ unit: target.value as Unit })}
                  >
                    {UNITS.map((unit) => (
                      <option key={unit}>{unit}</option>
                    ))}
                  </select>
                </div>
              </Field>
              <Field
                label="Its id"
                id={`${id}-name`}
                remarkId={`${id}-name-remark`}
                remark="may stay empty; the next entry with the same id, or like this one with none, takes its place"
              >
                <input
                  id={`${id}-name`}
                  autoComplete="off"
                  spellCheck={false}
                  maxLength={64}
                  value={pricing.name}
                  aria-describedby={`${id}-name-remark`}
                  onChange={({ target }) => change({ name: target.value })}
                />
              </Field>
            </>
          )}
        </>
      )}
    </>
  );
}

const DAY_SECONDS = 86_400;

/** Alone, so that only these words tick. */
function Until({ pricing }: { readonly pricing: Pricing }) {
  useNow(10_000);
  const now = serverNow();
  // Whatever else is missing: it is the time alone that is said here.
  const sent = sentPrice({ ...pricing, kind: 'limit', limit: '1' });
  const seconds = sent?.expires_in ?? DAY_SECONDS;
  return `taken back ${minuteOf(new Date(now + seconds * 1000), new Date(now))}, if it is not filled by then`;
}
