// Where the time of a group's signal went: once for all until the commit, and from there a bar for each member.

import { Held } from '../../parts/figures.tsx';
import { positionAfter } from '../../parts/happened.ts';
import { counted } from '../../parts/numbers.ts';
import { Fall, FallRow, placeUpTo, Swatch, seconds } from './fall.tsx';
import type { MemberStory } from './group-story.tsx';

interface Bar {
  readonly key: string;
  readonly name: string;
  readonly from: number;
  readonly at: number;
  readonly whose: 'ours' | 'theirs';
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
        : [
            {
              key: order.order_id,
              name,
              from: queued,
              at: answered,
              whose: 'theirs',
              position: positionAfter(order),
            },
          ];
    })
    .toSorted((a, b) => a.at - b.at);
  const bars: readonly Bar[] = [
    {
      key: 'arrived',
      name: 'Arrived, checked once for the group',
      from: 0,
      at: validated,
      whose: 'ours',
      position: null,
    },
    {
      key: 'judged',
      name: `Judged, ${counted(accepted.length, 'order')} committed together`,
      from: validated,
      at: queued,
      whose: 'ours',
      position: null,
    },
    ...members,
  ];
  const end = Math.max(1, ...bars.map(({ at }) => at));
  const place = placeUpTo(end);
  return (
    <Fall
      title={`${seconds(end)} from arrival to the last answer`}
      legend={
        <>
          <Swatch whose="ours">once for all</Swatch>
          <Swatch whose="theirs">each member and its broker</Swatch>
        </>
      }
      end={end}
      place={place}
    >
      {bars.map(({ key, position, ...bar }) => (
        <FallRow
          key={key}
          {...bar}
          place={place}
          position={position !== null && <Held position={position} />}
        />
      ))}
    </Fall>
  );
}
