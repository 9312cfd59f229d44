// Each check and each guard, with its verdict.

import type { Schemas } from '../../api/client.ts';
import { CHECK_NAMES } from '../../parts/check-names.ts';
import { Mark } from '../../parts/marks.tsx';
import { counted } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import styles from './checks.module.css';
import type { SignalRecord } from './headline.ts';

type Verdict = Schemas['CheckVerdict'];
type Guard = Schemas['GuardVerdict'];

/** What a passed check says. The API keeps no figures of it. */
const PASSED: Readonly<Record<Verdict['check'], string>> = {
  size: 'small enough',
  token: 'known',
  user: 'active',
  rate: 'within the limit',
  ip: 'allowed',
  certificate: 'shown, or not asked for',
  payload: 'understood',
  symbol: 'allowed here',
  age: 'recent enough',
  secret: 'equal',
  replay: 'not seen before',
  halt: 'not halted',
  plan: 'allows it',
  terms: 'accepted',
  credentials: 'in order',
  daily_limit: 'not used up',
  worker: 'took it',
};

const MARKS = { passed: 'passed', refused: 'refused', not_reached: 'unreached' } as const;

const CLASSES = { passed: undefined, refused: styles.refused, not_reached: styles.unreached };

interface ChecksProps {
  readonly signal: SignalRecord | null;
  readonly order: Schemas['OrderRecord'] | null;
  readonly account: Schemas['Account'] | undefined;
}

export function Checks({ signal, order, account }: ChecksProps) {
  const guards = order?.guards ?? [];
  if (!signal && guards.length === 0) return null;
  if (!signal)
    return (
      <Section title="Guards" more={<Sum verdicts={guards} />}>
        <Guards guards={guards} />
      </Section>
    );
  return (
    <Section title="Checks" more={<Sum verdicts={signal.checks} />}>
      <ol className={styles.verdicts}>
        {signal.checks.map((verdict) => (
          <li key={verdict.check} className={CLASSES[verdict.outcome]}>
            <Mark name={MARKS[verdict.outcome]} />
            <span>{CHECK_NAMES[verdict.check]}</span>
            <span className="quiet">{wordsOf(verdict, signal, account)}</span>
          </li>
        ))}
      </ol>
      {guards.length > 0 && (
        <>
          <h3 className={styles.sub}>
            Guards, before the entry <Sum verdicts={guards} />
          </h3>
          <Guards guards={guards} />
        </>
      )}
    </Section>
  );
}

function wordsOf(
  { check, outcome, detail }: Verdict,
  signal: SignalRecord,
  account: ChecksProps['account'],
): string {
  if (outcome === 'not_reached') return 'not reached';
  if (outcome === 'refused') return detail ?? 'refused';
  if (check === 'token' && account) return account.name;
  if (check === 'ip') return `${signal.ip_address} is allowed`;
  if (check === 'payload' && signal.ignored.length > 0)
    return `understood, ${counted(signal.ignored.length, 'field')} ignored`;
  return PASSED[check];
}

function Guards({ guards }: { readonly guards: readonly Guard[] }) {
  return (
    <ol className={`${styles.verdicts} ${styles.guards}`}>
      {guards.map(({ guard, outcome, reason }) => (
        <li key={guard} className={CLASSES[outcome]}>
          <Mark name={MARKS[outcome]} />
          <code>{guard}</code>
          <span className="quiet">{reason}</span>
        </li>
      ))}
    </ol>
  );
}

function Sum({ verdicts }: { readonly verdicts: readonly { readonly outcome: string }[] }) {
  const count = (wanted: string) => verdicts.filter(({ outcome }) => outcome === wanted).length;
  const [refused, unreached] = [count('refused'), count('not_reached')];
  return (
    <span className="quiet">
      {[
        `${count('passed')} passed`,
        ...(refused > 0 ? [`${refused} refused`] : []),
        ...(unreached > 0 ? [`${unreached} not reached`] : []),
      ].join(', ')}
    </span>
  );
}
