// What will happen, before the click: the plan in the service's own words, step by step, with the guards' verdicts.

import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { serverNow } from '../../api/clock.ts';
import drawer from '../../parts/drawer.module.css';
import { counted, figure, Side, Unreal } from '../../parts/figures.tsx';
import { Mark, type MarkName } from '../../parts/marks.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { priceInWords } from '../../parts/resting/words.ts';
import { minuteOf } from '../../parts/times.ts';
import styles from './trade-drawer.module.css';
import type { Planned } from './use-plan.ts';
import { driftWarning } from './wish.ts';

interface PlanViewProps {
  readonly planned: Planned;
  /** Nothing is missing in the fields. */
  readonly isComplete: boolean;
  /** This very order was pressed before, and no answer came: the plan holds only if it never arrived. */
  readonly isAgain: boolean;
  readonly position: Schemas['Position'] | null;
  readonly unreal: string | null;
  /** What else must be known before the click. */
  readonly children?: ReactNode;
}

export function PlanView({ planned, isComplete, isAgain, position, unreal, children }: PlanViewProps) {
  const { plan, fault, again } = planned;
  return (
    <section
      className={`${styles.plan} ${unreal ? 'hatched' : ''}`}
      aria-live="polite"
      aria-busy={isComplete && !plan && !fault}
    >
      <h3>
        {isAgain ? 'What will happen, if the first press never arrived' : 'What will happen'}{' '}
        <Unreal word={unreal} />
      </h3>
      {plan ? (
        <Plan plan={plan} position={position} />
      ) : fault ? (
        <ProblemNote fault={fault}>
          <button type="button" className="link" onClick={again}>
            Plan it again
          </button>
        </ProblemNote>
      ) : (
        <p className={`quiet ${drawer.say} ${styles.say}`}>
          {isComplete
            ? 'Reading the position…'
            : 'Enter a symbol and a quantity to see here what the order would do.'}
        </p>
      )}
      {children}
    </section>
  );
}

function Plan({
  plan,
  position,
}: {
  readonly plan: Schemas['OrderPlan'];
  readonly position: Schemas['Position'] | null;
}) {
  const refused = plan.guards.filter(({ outcome }) => outcome === 'refused');
  const passed = plan.guards.length - refused.length;
  const drift = driftWarning(position, plan);
  return (
    <>
      <p className={`${drawer.say} ${styles.say}`}>{sidesIn(plan.text)}</p>
      {plan.sizing?.text && <p className={drawer.remark}>{plan.sizing.text}</p>}
      {plan.legs.length > 0 && (
        <table className={`table dense ${styles.legs}`}>
          <thead className="unseen">
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Leg</th>
              <th scope="col">Side</th>
              <th scope="col">Quantity</th>
              <th scope="col">Price</th>
            </tr>
          </thead>
          <tbody>
            {plan.legs.map(({ leg, side, quantity }, index) => (
              <tr key={leg}>
                <td className="quiet">{index + 1}</td>
                <td>{leg}</td>
                <td>
                  <Side side={side} />
                </td>
                <td className="num">{figure(quantity)}</td>
                <td className="num quiet">
                  {leg === 'entry' && refused.length > 0
                    ? 'refused by a guard'
                    : leg === 'entry' && plan.rests
                      ? priceInWords(plan.rests)
                      : 'at market'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Protects legs={plan.protection} />
      <ul className={styles.verdicts}>
        {passed > 0 && (
          <Verdict mark="passed">
            {refused.length > 0 ? `${passed} of ` : ''}
            {counted(plan.guards.length, 'guard')}{' '}
            {plan.guards.length === 1 && refused.length === 0 ? 'passes' : 'pass'}
          </Verdict>
        )}
        {refused.map(({ guard, reason }) => (
          <Verdict key={guard} mark="refused">
            {reason} <code className="quiet">{guard}</code>
          </Verdict>
        ))}
        {drift && (
          <Verdict mark="act" isAct>
            {drift}
          </Verdict>
        )}
      </ul>
    </>
  );
}

/** What would protect it. */
function Protects({ legs }: { readonly legs: Schemas['OrderPlan']['protection'] }) {
  if (legs === null)
    return (
      <p className={drawer.remark}>
        Protected from its first fill; where its stop and targets will stand cannot be told before.
      </p>
    );
  if (legs.length === 0) return null;
  return (
    <table className={`table dense ${styles.legs} ${styles.protects}`}>
      <caption>Protected from its first fill</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">Leg</th>
          <th scope="col">Price</th>
          <th scope="col">What it does</th>
        </tr>
      </thead>
      <tbody>
        {legs.map(({ leg, price, how }) => (
          <tr key={`${leg} ${price}`}>
            <td>{leg}</td>
            <td className="num">{figure(price)}</td>
            <td className="quiet">{how}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Verdict({
  mark,
  isAct = false,
  children,
}: {
  readonly mark: MarkName;
  readonly isAct?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <li className={isAct ? `act ${styles.warns}` : undefined}>
      <Mark name={mark} />
      <span>{children}</span>
    </li>
  );
}

const SIDES = /\b(buy|sell|long|short)\b/i;

/** "2026-11-18T22:36:00.000Z", and to the minute "2026-11-18 22:36 UTC". */
const MOMENT = /(\d{4}-\d{2}-\d{2})(?:T([\d:.]+)Z| (\d{2}:\d{2}) UTC)/g;

/** The service's sentence, its sides in their colours, its times by the user's clock. Every other piece of the split is a side. */
const sidesIn = (text: string): ReactNode[] =>
  text
    .replace(MOMENT, (_, day, time, minute) =>
      minuteOf(new Date(`${day}T${time ?? minute}Z`), new Date(serverNow())),
    )
    .replace(/(?<=\s)-(?=\d)/g, '\u2212')
    .split(SIDES)
    .map((piece, index) =>
      index % 2 === 1 ? (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one sentence have no other name
        <span key={index} className={/buy|long/i.test(piece) ? 'long' : 'short'}>
          {piece}
        </span>
      ) : (
        piece
      ),
    );
