// Which events of which accounts: the same choice for a new destination and for one that is there.

import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { accounts } from '../../api/queries.ts';
import styles from './notifications.module.css';
import { type EventKind, GROUPS } from './words.ts';

export interface Choice {
  readonly events: readonly EventKind[];
  /** null: all. */
  readonly accountIds: readonly string[] | null;
  readonly summaryHour: number;
}

interface ChoicesProps {
  readonly choice: Choice;
  readonly onChange: (choice: Choice) => void;
}

const toggled = <T,>(list: readonly T[], item: T, isOn: boolean): T[] =>
  isOn ? [...list, item] : list.filter((each) => each !== item);

export function Choices({ choice, onChange }: ChoicesProps) {
  const { data: all = [] } = useQuery(accounts);
  const hourId = useId();
  const { events, accountIds, summaryHour } = choice;
  return (
    <div className={styles.choices}>
      {GROUPS.map((group) => (
        <fieldset key={group.name}>
          <legend>{group.name}</legend>
          {group.events.map(([kind, words]) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={events.includes(kind)}
                onChange={({ target }) =>
                  onChange({ ...choice, events: toggled(events, kind, target.checked) })
                }
              />
              {words}
            </label>
          ))}
          {group.events.some(([kind]) => kind === 'daily_summary') && (
            <span className={styles.hour}>
              <label htmlFor={hourId}>at</label>
              <select
                id={hourId}
                disabled={!events.includes('daily_summary')}
                value={summaryHour}
                onChange={({ target }) => onChange({ ...choice, summaryHour: Number(target.value) })}
              >
                {Array.from({ length: 24 }, (_, hour) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its own name
                  <option key={hour} value={hour}>
                    {String(hour).padStart(2, '0')}:00 UTC
                  </option>
                ))}
              </select>
            </span>
          )}
        </fieldset>
      ))}
      <fieldset>
        <legend>Accounts</legend>
        <label>
          <input
            type="checkbox"
            checked={accountIds === null}
            onChange={({ target }) => onChange({ ...choice, accountIds: target.checked ? null : [] })}
          />
          all, also those to come
        </label>
        {accountIds !== null &&
          all.map(({ id, name }) => (
            <label key={id} className="ellipsis" title={name}>
              <input
                type="checkbox"
                checked={accountIds.includes(id)}
                onChange={({ target }) =>
                  onChange({ ...choice, accountIds: toggled(accountIds, id, target.checked) })
                }
              />
              {name}
            </label>
          ))}
      </fieldset>
    </div>
  );
}
