// How long orders took until their broker had answered: each span of time with how many there were, whole and by the broker's own share.

import type { components } from '../../api/schema.ts';
import { figure } from '../../parts/numbers.ts';
import { figureColumn, type Sheet } from './sheets.ts';

export type Span = components['schemas']['Performance']['latencies'][number];

const howLongInWords = ({ up_to_ms }: Span, before: Span | undefined): string =>
  up_to_ms === null ? `over ${figure(before?.up_to_ms ?? 0)} ms` : `up to ${figure(up_to_ms)} ms`;

/** In percent of the longest bar, which both share. */
export function widthsOf(spans: readonly Span[]): readonly Pick<Span, 'orders' | 'broker'>[] {
  const most = Math.max(1, ...spans.flatMap(({ orders, broker }) => [orders, broker]));
  const percent = (count: number) => Math.round((count / most) * 1000) / 10;
  return spans.map(({ orders, broker }) => ({ orders: percent(orders), broker: percent(broker) }));
}

export function latencySheet(spans: readonly Span[]): Sheet<Span> {
  return {
    name: 'latencies',
    rows: spans,
    columns: [
      {
        head: 'How long',
        field: 'up_to_ms',
        value: ({ up_to_ms }) => up_to_ms,
        said: (span) => howLongInWords(span, spans.at(-2)),
      },
      figureColumn('Accepted to answered', 'orders'),
      figureColumn('The broker alone', 'broker'),
    ],
  };
}
