// The guard `trading_hours`: windows of the week in a time zone.

import { useState } from 'react';
import { Row, Saved } from '../../parts/settings/row.tsx';
import styles from '../../parts/settings/settings.module.css';
import { useChange } from './change.ts';
import { DAYS, type Day, hoursInWords, readHours, type TradingHours, type Window } from './hours.ts';
import type { Account } from './words.ts';

const WEEK: Window = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:30', to: '16:00' };
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function Hours({ account }: { readonly account: Account }) {
  const { trading_hours: hours } = account.guards;
  const [draft, setDraft] = useState<TradingHours | null>(null);
  const change = useChange(account);
  const save = (value: TradingHours | null) =>
    change.mutate({ guards: { trading_hours: value } }, { onSuccess: () => setDraft(null) });
  return (
    <Row
      name={<code>trading_hours</code>}
      fault={change.error}
      meaning={draft ? undefined : hours ? hoursInWords(hours) : 'entries at any hour'}
      does={
        <>
          <Saved when={change.isSuccess && !draft} />
          {hours && !draft && (
            <button type="button" className="link" onClick={() => save(null)}>
              Remove<span className="unseen"> the trading hours</span>
            </button>
          )}
          <button
            type="button"
            className="link"
            aria-expanded={draft !== null}
            onClick={() => setDraft(draft ? null : (hours ?? { timezone: ownZone(), windows: [WEEK] }))}
          >
            {draft ? 'Leave it' : hours ? 'Change hours' : 'Set hours'}
            <span className="unseen"> of trading</span>
          </button>
        </>
      }
    >
      {draft ? (
        <HoursForm draft={draft} setDraft={setDraft} save={save} isBusy={change.isPending} />
      ) : hours ? (
        `${hours.windows.length} ${hours.windows.length === 1 ? 'window' : 'windows'}`
      ) : (
        <span className="quiet">not set</span>
      )}
    </Row>
  );
}

interface HoursFormProps {
  readonly draft: TradingHours;
  readonly setDraft: (draft: TradingHours) => void;
  readonly save: (hours: TradingHours) => void;
  readonly isBusy: boolean;
}

function HoursForm({ draft, setDraft, save, isBusy }: HoursFormProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const { timezone, windows } = draft;
  const put = (place: number, change: Partial<Window>) =>
    setDraft({
      timezone,
      windows: windows.map((window, each) => (each === place ? { ...window, ...change } : window)),
    });
  return (
    <form
      className={styles.small}
      onSubmit={(event) => {
        event.preventDefault();
        const read = readHours(timezone, windows);
        if ('problem' in read) setProblem(read.problem);
        else save(read.value);
      }}
    >
      <label>
        Time zone
        <input
          value={timezone}
          list="zones"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setDraft({ timezone: target.value, windows })}
        />
        <datalist id="zones">
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </label>
      {windows.map((window, place) => (
        <WindowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: windows have no names, and stay in their places
          key={place}
          window={window}
          put={(change) => put(place, change)}
          remove={
            windows.length > 1
              ? () => setDraft({ timezone, windows: windows.filter((_, each) => each !== place) })
              : null
          }
        />
      ))}
      <p className={styles.choose}>
        <button type="submit" className="button primary" disabled={isBusy}>
          Save the hours
        </button>
        <button
          type="button"
          className="link"
          onClick={() => setDraft({ timezone, windows: [...windows, WEEK] })}
        >
          Add a window
        </button>
      </p>
      {problem && <small className="act">{problem}</small>}
    </form>
  );
}

interface WindowFieldsProps {
  readonly window: Window;
  readonly put: (change: Partial<Window>) => void;
  readonly remove: (() => void) | null;
}

function WindowFields({ window, put, remove }: WindowFieldsProps) {
  const toggle = (day: Day, isOn: boolean) =>
    put({ days: DAYS.filter((each) => (each === day ? isOn : window.days.includes(each))) });
  return (
    <fieldset className={styles.window}>
      <legend className="unseen">Window</legend>
      <span className={styles.days}>
        {DAYS.map((day) => (
          <label key={day}>
            <input
              type="checkbox"
              checked={window.days.includes(day)}
              onChange={({ target }) => toggle(day, target.checked)}
            />
            {day}
          </label>
        ))}
      </span>
      <label>
        <span className="unseen">from</span>
        <input type="time" value={window.from} onChange={({ target }) => put({ from: target.value })} />
      </label>
      <label>
        to{' '}
        <input
          type="time"
          value={window.to === '24:00' ? '00:00' : window.to}
          onChange={({ target }) => put({ to: target.value })}
        />
      </label>
      {remove && (
        <button type="button" className="link" onClick={remove}>
          remove
        </button>
      )}
    </fieldset>
  );
}
