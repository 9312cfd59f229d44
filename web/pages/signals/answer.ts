// The page's heading: how many, and what became of them. It adds up.

import type { components } from '../../api/schema.ts';
import { counted, figure } from '../../parts/numbers.ts';
import type { Filters } from './filters.ts';

type Counts = components['schemas']['Overview']['signals_today'];

interface Answer {
  readonly title: string;
  readonly answer: string;
  readonly rest: string | null;
}

const SPANS: Readonly<Record<string, string>> = {
  week: 'in 7 days',
  month: 'in 30 days',
  all: 'in all',
};

export function answerOf(filters: Filters, counts: Counts | null, shown: number, hasMore: boolean): Answer {
  const { time, from, to } = filters;
  if (time === undefined && from === undefined && to === undefined) {
    if (!counts) return { title: 'Signals today', answer: 'Signals today', rest: null };
    return today(counts);
  }
  const span = from !== undefined || to !== undefined ? 'in the time asked for' : (SPANS[time ?? ''] ?? '');
  const answer = `${hasMore ? 'More than ' : ''}${counted(shown, 'signal')} ${span}`;
  return { title: answer, answer, rest: null };
}

function today({ total, executed, refused, rejected, reported, under_way }: Counts): Answer {
  const title = `${counted(total, 'signal')} today`;
  if (total === 0) return { title: 'No signal today', answer: 'No signal today', rest: null };
  const rest = [
    ...(reported > 0 ? [`${figure(reported)} reported`] : []),
    ...(under_way > 0 ? [`${figure(under_way)} under way`] : []),
  ];
  return {
    title,
    answer: `${title}: ${figure(executed)} executed, ${figure(refused + rejected)} refused or rejected`,
    rest: rest.length > 0 ? rest.join(', ') : null,
  };
}
