// Where the time went, a row for each step. Linear from arrival; what was before it is not to scale.

import type { Schemas } from '../../api/client.ts';
import { Held } from '../../parts/figures.tsx';
import { figure, heldInWords } from '../../parts/numbers.ts';
import { clockTime } from '../../parts/when.tsx';
import { type SignalRecord, understoodOf } from './headline.ts';
import { fallOf, type Step, ticksOf, type Whose } from './steps.ts';
import styles from './story.module.css';

type Order = Schemas['OrderRecord'];
/** Where zero stands, in percent of the bars' column, with and without a time before it. */
const ZERO_AFTER = 10.5;
const ZERO = 1.5;
const RIGHT = 98;
/** From here on the ticks are seconds. */
const IN_SECONDS_MS = 5_000;

const seconds = (ms: number): string =>
  ms < IN_SECONDS_MS ? `${figure(ms)} ms` : `${figure(Math.round(ms / 100) / 10)} s`;

export function Waterfall({
  order,
  signal,
}: {
  readonly order: Order;
  readonly signal: SignalRecord | null;
}) {
  const signalTime = (signal && understoodOf(signal)?.signal_time) ?? null;
  const fall = fallOf(order, {
    signalTime: signalTime === null ? null : Date.parse(signalTime),
    checks: signal?.checks.filter(({ outcome }) => outcome === 'passed').length ?? null,
  });
  const drawn = fall.steps.filter(({ isLate }) => !isLate);
  const end = Math.max(1, fall.total ?? 0, ...drawn.map(({ at, from }) => at ?? from));
  const zero = signalTime === null ? ZERO : ZERO_AFTER;
  const place = (ms: number): number => zero + (ms / end) * (RIGHT - zero);
  return (
    <section className={`section ${styles.fall}`}>
      <header>
        <h2>{fall.total === null ? 'Under way' : `${seconds(fall.total)} from arrival to answer`}</h2>
        <Key order={order} sums={fall.sums} hasBefore={signalTime !== null} />
      </header>
      <table className={`table dense ${styles.steps}`}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" className="num">
              At, ms
            </th>
            <th scope="col" className="num">
              Took, ms
            </th>
            <th scope="col" className="num">
              Position
            </th>
            <th scope="col" className={styles.bars}>
              <span className="unseen">Bar</span>
              <span className={styles.ticks} aria-hidden="true">
                {ticksOf(end).map((tick) => (
                  <i key={tick} style={{ left: `${place(tick)}%` }}>
                    {tick === 0 ? '0' : end < IN_SECONDS_MS ? figure(tick) : `${figure(tick / 1000)} s`}
                  </i>
                ))}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {signalTime !== null && <BeforeRow signalTime={signalTime} arrivedAt={order.submitted_at} />}
          {fall.steps.map((step) => (
            <StepRow key={step.name} step={step} place={place} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const nameOfBroker = ({ simulation, broker_name }: Order): string =>
  simulation ? 'the simulation' : broker_name === 'paper' ? 'the paper broker' : 'the broker';

function Key({
  order,
  sums,
  hasBefore,
}: {
  readonly order: Order;
  readonly sums: Readonly<Record<Whose, number>>;
  readonly hasBefore: boolean;
}) {
  const parts: readonly (readonly [Whose, string])[] = [
    ['ours', 'Fillpath'],
    ['theirs', nameOfBroker(order)],
    ['both', 'reading the position and planning'],
    ['lost', 'no answer'],
  ];
  return (
    <span className={styles.key}>
      {parts.map(([whose, name]) =>
        sums[whose] === 0 && whose !== 'ours' ? null : (
          <span key={whose}>
            <i className={`${styles.swatch} ${styles[whose]}`} />
            <b>{figure(sums[whose])}</b> {name}
          </span>
        ),
      )}
      {hasBefore && (
        <span>
          <i className={`${styles.swatch} ${styles.before}`} />
          before us
        </span>
      )}
    </span>
  );
}

function BeforeRow({ signalTime, arrivedAt }: { readonly signalTime: string; readonly arrivedAt: string }) {
  const made = new Date(signalTime);
  const at = made.getTime() - Date.parse(arrivedAt);
  const isWhole = made.getMilliseconds() === 0;
  return (
    <tr>
      <td>Made at {clockTime(made, !isWhole)}, by the sender’s clock</td>
      <td className="num quiet">{figure(at)}</td>
      <td className="num quiet">{at < 0 ? `${isWhole ? '≤ ' : ''}${figure(-at)}` : null}</td>
      <td className="num" />
      <td className={styles.bars}>
        {at < 0 && (
          <span
            className={`${styles.bar} ${styles.before}`}
            style={{ left: 0, width: `${ZERO_AFTER - 1.5}%` }}
          />
        )}
        <span className={styles.note} style={{ left: `${ZERO_AFTER + 1}%` }}>
          {at >= 0
            ? 'the sender’s clock is ahead of ours'
            : isWhole
              ? 'the sender’s clock has whole seconds; not to scale'
              : 'not to scale'}
        </span>
      </td>
    </tr>
  );
}

function StepRow({ step, place }: { readonly step: Step; readonly place: (ms: number) => number }) {
  const { name, whose, from, at, position, doubt, isLate } = step;
  return (
    <tr>
      <td title={name}>{name}</td>
      <td className="num">{at === null ? '…' : figure(at)}</td>
      <td className="num">{at === null ? '…' : figure(at - from)}</td>
      <td className="num">
        {doubt ? (
          <span className="risk">
            {heldInWords(doubt[0])} or {heldInWords(doubt[1])}
          </span>
        ) : (
          position !== undefined && <Held position={position} />
        )}
      </td>
      <td className={styles.bars}>
        {isLate || at === null ? (
          <span className={styles.note} style={{ left: `${place(0)}%` }}>
            {isLate && 'after the answer'}
          </span>
        ) : (
          <span
            className={`${styles.bar} ${styles[whose]}`}
            style={{ left: `${place(from)}%`, width: `${place(at) - place(from)}%` }}
          />
        )}
      </td>
    </tr>
  );
}
