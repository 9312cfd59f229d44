// Where the time of a group's signal went, as a table with bars.

import type { Schemas } from '../../api/client.ts';
import { Held } from '../../parts/figures.tsx';
import { Fall, FallRow, placeUpTo, Swatch, seconds } from './fall.tsx';
import { groupBars } from './group-bars.ts';

export interface Ordered {
  readonly account: Schemas['Account'] | undefined;
  /** null: it was refused, or is not read yet. */
  readonly order: Schemas['OrderRecord'] | null;
}

export function GroupFall({ stories }: { readonly stories: readonly Ordered[] }) {
  const bars = groupBars(
    stories.flatMap(({ order, account }) =>
      order ? [{ order, account: account?.name ?? 'deleted account' }] : [],
    ),
  );
  if (bars.length === 0) return null;
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
