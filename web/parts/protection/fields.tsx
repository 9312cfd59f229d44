// The fields of a position's protection: as an order asks for it, and as it is changed later. What can be seen to be wrong is
// said beside each field.

import { type ReactNode, useId } from 'react';
import drawer from '../drawer.module.css';
import { figure } from '../numbers.ts';
import { type Asked, evenPriceOf } from './asked.ts';
import { Declining } from './declining.tsx';
import type { Defaulted } from './defaults.ts';
import styles from './fields.module.css';
import { DISTANCES, far, LEVELS, Level, LevelInput, Remark } from './level-field.tsx';
import { type Ground, isEmpty, isGiven, isNone, type LevelText, NONE, priceOf } from './levels.ts';
import { Targets, type TargetsProps } from './targets.tsx';

interface ProtectionFieldsProps extends TargetsProps {
  /** The drawer opens with the stop's field. */
  readonly isFirst?: boolean;
  /** The close by the clock that stands already, in words. */
  readonly closesAt?: string | null;
  /** Which price sets the stop off, where that is settled. */
  readonly triggerBy?: 'last' | 'mark';
}

const NO_DEFAULTS: NonNullable<ProtectionFieldsProps['defaults']> = {};

export function ProtectionFields(props: ProtectionFieldsProps) {
  const { asked, problems, ground, onChange, isFirst = false, defaults = NO_DEFAULTS } = props;
  const declining = (name: Defaulted, what: string, level: LevelText, set: (level: LevelText) => void) =>
    isGiven(level) ? null : (
      <Declining
        byDefault={defaults[name]}
        isDeclined={isNone(level)}
        what={what}
        onDecline={(isDeclined) => set({ ...level, text: isDeclined ? NONE : '' })}
      />
    );
  return (
    <>
      <Level
        label="Stop"
        level={asked.stop}
        units={LEVELS}
        placeholder="none"
        isFirst={isFirst}
        problem={problems.stop}
        remark={
          stopRemark(asked.stop, ground, props.triggerBy) ??
          declining('stop_loss', 'the stop', asked.stop, (stop) => onChange({ stop }))
        }
        onChange={(stop) => onChange({ stop })}
      />
      <Level
        label="Trails by"
        level={asked.trail}
        units={DISTANCES}
        placeholder="not trailing"
        problem={problems.trail}
        remark={
          isGiven(asked.trail)
            ? 'follows the best price at this distance, and never goes back'
            : declining('trailing_stop', 'trailing', asked.trail, (trail) => onChange({ trail }))
        }
        onChange={(trail) => onChange({ trail })}
      />
      {isGiven(asked.trail) && (
        <Level
          label="Trails from"
          level={asked.trailFrom}
          units={LEVELS}
          placeholder="at once"
          problem={problems.trailFrom}
          remark={isEmpty(asked.trailFrom) ? null : fromRemark(asked.trailFrom, ground)}
          onChange={(trailFrom) => onChange({ trailFrom })}
        />
      )}
      <BreakEven {...props} byDefault={defaults.break_even} />
      <Time {...props} byDefault={defaults.time_stop} />
      <Targets {...props} />
    </>
  );
}

function stopRemark(stop: LevelText, ground: Ground, triggerBy?: 'last' | 'mark'): string | null {
  const price = priceOf(stop, 'stop', ground);
  if (price === null) return null;
  const parts = [
    ...(stop.unit === 'price' ? [] : [figure(price)]),
    ...far(price, ground.entry, 'the entry'),
    ...(ground.last === ground.entry ? [] : far(price, ground.last, 'the last price')),
  ];
  const how = [
    ...(ground.tick === null ? [] : [`on the tick of ${figure(ground.tick)}`]),
    ...(triggerBy ? [`triggered by the ${triggerBy} price`] : []),
  ];
  return [parts.join(', '), how.join(', ')].filter(Boolean).join('; ');
}

function fromRemark(from: LevelText, ground: Ground): string {
  const price = priceOf(from, 'target', ground);
  const where = price === null || from.unit === 'price' ? 'there' : `at ${figure(price)}`;
  return `once the price was ${where}, the stop begins to follow`;
}

type WithDefault = ProtectionFieldsProps & { readonly byDefault: string | undefined };

function BreakEven({ asked, problems, ground, onChange, byDefault }: WithDefault) {
  const { breakEven } = asked;
  const { when } = breakEven;
  const id = useId();
  const set = (changed: Partial<typeof breakEven>) => onChange({ breakEven: { ...breakEven, ...changed } });
  const isAsked = when === 'tp1' || when === 'price';
  return (
    <div className={drawer.field}>
      <label htmlFor={`${id}-even`}>Break even</label>
      <div className={styles.stacked}>
        <div className={isAsked ? styles.withUnit : undefined}>
          <select
            id={`${id}-even`}
            value={when}
            aria-describedby={`${id}-remark`}
            onChange={({ target }) => set({ when: target.value as typeof when })}
          >
            <option value="never">{byDefault === undefined ? 'never' : 'as by default'}</option>
            {byDefault !== undefined && <option value={NONE}>never</option>}
            <option value="tp1">at target 1</option>
            <option value="price">once the price is at</option>
          </select>
          {isAsked && (
            <input
              aria-label="Break even, beyond the entry"
              autoComplete="off"
              placeholder="+0 ticks"
              value={breakEven.offset}
              aria-invalid={problems.breakEven !== null}
              aria-describedby={`${id}-remark`}
              onChange={({ target }) => set({ offset: target.value })}
            />
          )}
        </div>
        {when === 'price' && (
          <LevelInput
            label="Break even at"
            level={breakEven.at}
            units={LEVELS}
            isWrong={problems.breakEven !== null}
            describedBy={`${id}-remark`}
            onChange={(at) => set({ at })}
          />
        )}
      </div>
      <Remark id={`${id}-remark`} problem={problems.breakEven}>
        {isAsked ? evenRemark(asked, ground) : when === 'never' && byDefault && `${byDefault} by default`}
      </Remark>
    </div>
  );
}

function evenRemark(asked: Asked, ground: Ground): string {
  const { when, offset } = asked.breakEven;
  const isBeyond = offset.trim() !== '';
  const to = evenPriceOf(asked, ground);
  const once = when === 'tp1' ? 'once target 1 is filled' : 'once the price was there';
  const where = to === null ? 'the entry' : figure(to);
  return `${once} the stop goes to ${where}: ${isBeyond ? 'beyond the entry, in profit' : 'nothing at risk'}`;
}

function Time({ asked, problems, closesAt = null, onChange, byDefault }: WithDefault): ReactNode {
  const id = useId();
  const isDeclined = isNone({ text: asked.time });
  const set = (time: string) => onChange({ time });
  return (
    <div className={drawer.field}>
      <label htmlFor={id}>Close at</label>
      <input
        id={id}
        autoComplete="off"
        spellCheck={false}
        placeholder={closesAt ?? 'no time'}
        value={asked.time}
        aria-invalid={problems.time !== null}
        aria-describedby={`${id}-remark`}
        onChange={({ target }) => set(target.value)}
      />
      <Remark id={`${id}-remark`} problem={problems.time}>
        {closesAt !== null && (asked.time.trim() === '' || isDeclined) ? (
          <>
            {isDeclined ? `not closed at ${closesAt} any more` : `closed by us at ${closesAt}`},{' '}
            <button type="button" className="link" onClick={() => set(isDeclined ? '' : NONE)}>
              {isDeclined ? 'leave it' : 'remove that'}
            </button>
          </>
        ) : asked.time.trim() === '' || isDeclined ? (
          <Declining
            byDefault={byDefault}
            isDeclined={isDeclined}
            what="the close by the clock"
            onDecline={(declined) => set(declined ? NONE : '')}
          />
        ) : (
          'closed by us at the market then, and late where we are away'
        )}
      </Remark>
    </div>
  );
}
