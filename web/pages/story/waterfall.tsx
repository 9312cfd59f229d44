// Where the time went, a row for each step. Linear from arrival; what was before it is not to scale.

import type { Schemas } from '../../api/client.ts';
import { Held } from '../../parts/figures.tsx';
import { figure, heldInWords } from '../../parts/numbers.ts';
import { clockTime } from '../../parts/when.tsx';
import styles from './fall.module.css';
import { Fall, FallRow, type Place, placeUpTo, Swatch, seconds, ZERO_AFTER } from './fall.tsx';
import { type SignalRecord, understoodOf } from './headline.ts';
import { fallOf, type Step, type Whose } from './steps.ts';

type Order = Schemas['OrderRecord'];

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
  const hasBefore = signalTime !== null;
  const place = placeUpTo(end, { hasBefore });
  return (
    <Fall
      title={fall.total === null ? 'Under way' : `${seconds(fall.total)} from arrival to answer`}
      legend={<Legend order={order} sums={fall.sums} hasBefore={hasBefore} />}
      end={end}
      place={place}
    >
      {signalTime !== null && <BeforeRow signalTime={signalTime} arrivedAt={order.submitted_at} />}
      {fall.steps.map((step) => (
        <StepRow key={step.name} step={step} place={place} />
      ))}
    </Fall>
  );
}

const nameOfBroker = ({ simulation, broker_name }: Order): string =>
  simulation ? 'the simulation' : broker_name === 'paper' ? 'the paper broker' : 'the broker';

function Legend({
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
    <>
      {parts.map(([whose, name]) =>
        sums[whose] === 0 && whose !== 'ours' ? null : (
          <Swatch key={whose} whose={whose}>
            <b>{figure(sums[whose])}</b> {name}
          </Swatch>
        ),
      )}
      {hasBefore && <Swatch whose="before">before us</Swatch>}
    </>
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

function StepRow({ step, place }: { readonly step: Step; readonly place: Place }) {
  const { position, doubt, isLate } = step;
  return (
    <FallRow
      {...step}
      place={place}
      {...(isLate && { note: 'after the answer' })}
      position={
        doubt ? (
          <span className="risk">
            {heldInWords(doubt[0])} or {heldInWords(doubt[1])}
          </span>
        ) : (
          position !== undefined && <Held position={position} />
        )
      }
    />
  );
}
