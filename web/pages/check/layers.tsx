// What each check of the webhook says of it, in the order in which they are made.

import { CHECK_NAMES } from '../../parts/check-names.ts';
import { Mark } from '../../parts/marks.tsx';
import { Section } from '../../parts/page.tsx';
import styles from './check.module.css';
import { linesOf } from './lines.ts';
import { type Checked, lostElsewhere } from './remarks.ts';
import { refusalsIn } from './words.ts';

const MARKS = { passed: 'passed', refused: 'act', not_reached: 'unreached' } as const;
const WORDS = { passed: 'passed', refused: 'refused', not_reached: 'not reached' } as const;

export function Layers({ message, checked }: { readonly message: string; readonly checked: Checked }) {
  const refusals = refusalsIn(checked);
  const [first] = refusals;
  const lost = lostElsewhere(linesOf(message), checked);
  return (
    <Section
      title="What each check says"
      more={
        <span className="quiet">
          {checked.service !== null && checked.understood !== null && 'of the message below; '}
          {first
            ? `stops at the ${(CHECK_NAMES[first.check] ?? first.check).toLowerCase()}`
            : 'all of them pass'}
        </span>
      }
    >
      <ol className={styles.layers}>
        {checked.checks.map(({ check, outcome, detail }) => (
          <li key={check} className={styles[outcome]}>
            <Mark name={MARKS[outcome]} />
            <span>{CHECK_NAMES[check]}</span>
            <span className={outcome === 'refused' ? 'act' : 'quiet'} title={detail ?? undefined}>
              {outcome === 'passed' && detail ? detail.replace(/[.:].*$/s, '').toLowerCase() : WORDS[outcome]}
            </span>
          </li>
        ))}
      </ol>
      {refusals.length > 0 && (
        <ul className={styles.notes}>
          {refusals.map(({ check, detail }) => (
            <li key={check}>
              <b>{CHECK_NAMES[check]}.</b> {detail}
            </li>
          ))}
        </ul>
      )}
      {lost.length > 0 && (
        <>
          <h3 className={styles.head}>What it asks for that is not done here</h3>
          <ul className={styles.notes}>
            {lost.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
