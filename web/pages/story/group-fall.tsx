// Where the time of a group's signal went: once for all until the commit, and from there a bar for each member.

import { Held } from '../../parts/figures.tsx';
import { positionAfter } from '../../parts/happened.ts';
import { counted, figure } from '../../parts/numbers.ts';
import type { MemberStory } from './group-story.tsx';
import { ticksOf } from './steps.ts';
import styles from './story.module.css';

const ZERO = 2;
const RIGHT = 96;

interface Bar {
  readonly name: string;
  readonly from: number;
  readonly at: number;
  readonly isTheirs: boolean;
  readonly position: number | null;
}

export function GroupFall({ stories }: { readonly stories: readonly MemberStory[] }) {
  const accepted = stories.flatMap(({ order, account }) => (order ? [{ order, account }] : []));
  const [first] = accepted;
  if (!first) return null;
  const { validated = 0, queued = validated } = first.order.trace;
  const members = accepted
    .flatMap(({ order, account }): Bar[] => {
      const { answered } = order.trace;
      const name = account?.name ?? 'deleted account';
      return answered === undefined
        ? []
        : [{ name, from: queued, at: answered, isTheirs: true, position: positionAfter(order) }];
    })
    .toSorted((a, b) => a.at - b.at);
  const bars: readonly Bar[] = [
    { name: 'Arrived, checked once for the group', from: 0, at: validated, isTheirs: false, position: null },
    {
      name: `Judged, ${counted(accepted.length, 'order')} committed together`,
      from: validated,
      at: queued,
      isTheirs: false,
      position: null,
    },
    ...members,
  ];
  const end = Math.max(1, ...bars.map(({ at }) => at));
  const place = (ms: number): number => ZERO + (ms / end) * (RIGHT - ZERO);
  return (
    <section className={`section ${styles.fall}`}>
      <header>
        <h2>{figure(end)} ms from arrival to the last answer</h2>
        <span className={styles.key}>
          <span>
            <i className={`${styles.swatch} ${styles.ours}`} />
            once for all
          </span>
          <span>
            <i className={`${styles.swatch} ${styles.theirs}`} />
            each member and its broker
          </span>
        </span>
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
                    {figure(tick)}
                  </i>
                ))}
              </span>
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ name, from, at, isTheirs, position }) => (
            <tr key={name}>
              <td title={name}>{name}</td>
              <td className="num">{figure(at)}</td>
              <td className="num">{figure(at - from)}</td>
              <td className="num">{position !== null && <Held position={position} />}</td>
              <td className={styles.bars}>
                <span
                  className={`${styles.bar} ${isTheirs ? styles.theirs : styles.ours}`}
                  style={{ left: `${place(from)}%`, width: `${place(at) - place(from)}%` }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
