// The page's answer in words: what is worst, how much more there is, and what proves that all is in order.

import type { components } from '../../api/schema.ts';
import { counted, figure } from '../../parts/numbers.ts';
import { minuteOf } from '../../parts/times.ts';

type Overview = components['schemas']['Overview'];
type Todo = components['schemas']['Todo'];
type Kind = Todo['kind'];

export interface Headline {
  /** The worst, in its colour; null: nothing is to be done. */
  readonly severity: Todo['severity'] | null;
  readonly lead: string;
  readonly rest: string;
}

/** Kinds that are one thing to a person, each with what is said of one and of several. */
const SAID: readonly {
  readonly kinds: readonly Kind[];
  readonly one: string;
  readonly many: (count: string) => string;
}[] = [
  {
    kinds: ['unprotected', 'protection_not_restored'],
    one: '1 position has no stop',
    many: (count) => `${count} positions have no stop`,
  },
  {
    kinds: ['protection_unwatched', 'protection_left'],
    one: '1 stop is watched by nobody',
    many: (count) => `${count} stops are watched by nobody`,
  },
  {
    kinds: ['unknown_order'],
    one: '1 order is unknown',
    many: (count) => `${count} orders are unknown`,
  },
  // One that was given up may be placed, as it was last seen: with such a one among them they are not all unknown.
  {
    kinds: ['dead_letter', 'unknown_order'],
    one: '1 order is unresolved',
    many: (count) => `${count} orders are unresolved`,
  },
  { kinds: ['failed_reversal'], one: '1 reversal failed', many: (count) => `${count} reversals failed` },
  {
    kinds: ['drift_excess'],
    one: '1 position differs from its strategy',
    many: (count) => `${count} positions differ from their strategies`,
  },
  {
    kinds: ['drift_missing'],
    one: '1 position is missing',
    many: (count) => `${count} positions are missing`,
  },
  {
    kinds: ['credentials_refused'],
    one: '1 broker refuses the credentials',
    many: (count) => `${count} brokers refuse the credentials`,
  },
  {
    kinds: ['credentials_not_verified', 'credentials_missing'],
    one: '1 account waits for its credentials',
    many: (count) => `${count} accounts wait for their credentials`,
  },
  {
    kinds: ['terms_not_accepted'],
    one: 'The terms are not accepted',
    many: () => 'The terms are not accepted',
  },
  { kinds: ['silence'], one: '1 account is silent', many: (count) => `${count} accounts are silent` },
  {
    kinds: ['notification_dead'],
    one: '1 notification destination is dead',
    many: (count) => `${count} notification destinations are dead`,
  },
  { kinds: ['key_can_withdraw'], one: '1 key can withdraw', many: (count) => `${count} keys can withdraw` },
];

export function headline({
  todo,
  todo_more,
  since,
  checked_at,
}: Pick<Overview, 'todo' | 'todo_more' | 'since' | 'checked_at'>): Headline {
  const [worst] = todo;
  if (!worst)
    return {
      severity: null,
      lead: 'All in order',
      rest: since === null ? '' : `since ${minuteOf(new Date(since), new Date(checked_at))}`,
    };
  const said = SAID.find(({ kinds }) => kinds.includes(worst.kind));
  const alike = todo.filter(({ kind }) => said?.kinds.includes(kind) ?? kind === worst.kind).length;
  const more = todo.length + todo_more - alike;
  return {
    severity: worst.severity,
    lead: said ? (alike === 1 ? said.one : said.many(figure(alike))) : worst.title,
    rest: more === 0 ? '' : `and ${counted(more, 'more thing')} to do`,
  };
}

/** For the tab: how much is to be done stands first, where a narrow tab still shows it. */
export function tabTitle(overview: Parameters<typeof headline>[0]): string {
  const { severity, lead, rest } = headline(overview);
  const words = rest ? `${lead} ${rest}` : lead;
  return severity === null ? words : `(${overview.todo.length + overview.todo_more}) ${words}`;
}

export interface Proof {
  readonly holds: boolean;
  readonly words: string;
  readonly to: '/signals' | '/positions' | '/accounts' | '/security';
}

/** What is not known proves nothing, and is left out. */
export function proofs(
  { orders_today, counted_all, accounts, audit }: Overview,
  { stops, standing }: { readonly stops: number; readonly standing: number } = { stops: 0, standing: 0 },
): Proof[] {
  const { accepted, unresolved } = orders_today;
  const compared = accounts.flatMap(({ positions }) => positions ?? []);
  const positions = sum(compared.map(({ of }) => of));
  const inSync = sum(compared.map(({ in_sync }) => in_sync));
  const asked = accounts.filter(({ connection }) => connection.state !== 'not_known');
  const answering = asked.filter(({ connection }) => connection.state === 'answering').length;
  return [
    {
      holds: unresolved === 0,
      words: resolvedInWords(accepted, unresolved, counted_all),
      to: '/signals',
    },
    ...when(positions > 0, {
      holds: inSync === positions,
      words: `${figure(inSync)} of ${counted(positions, 'position')} as ${positions === 1 ? 'its strategy says' : 'the strategies say'}`,
      to: '/positions',
    }),
    ...when(stops > 0, {
      holds: standing === stops,
      words: `${figure(standing)} of ${counted(stops, 'stop')} ${stops === 1 ? 'stands' : 'stand'}`,
      to: '/positions',
    }),
    ...when(asked.length > 0, {
      holds: answering === asked.length,
      words: `${figure(answering)} of ${counted(asked.length, 'broker')} ${asked.length === 1 ? 'answers' : 'answer'}`,
      to: '/accounts',
    }),
    ...when(audit.entries > 0, {
      holds: audit.sealed,
      words: audit.sealed
        ? `audit log sealed to entry ${figure(audit.sealed_up_to)}`
        : `audit log sealed to entry ${figure(audit.sealed_up_to)}, newer entries unsealed for ${figure(audit.unsealed_seconds)} s`,
      to: '/security',
    }),
  ];
}
const when = (isKnown: boolean, proof: Proof): Proof[] => (isKnown ? [proof] : []);
function resolvedInWords(accepted: number, unresolved: number, isAll: boolean): string {
  if (accepted === 0) return 'no order today';
  if (isAll) return `${figure(accepted - unresolved)} of ${counted(accepted, 'order')} resolved`;
  // What has no end may be none of those that are counted.
  return unresolved === 0
    ? `the newest ${counted(accepted, 'order')} resolved`
    : `${counted(unresolved, 'order')} not resolved`;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Numbers and words in turn, so that the numbers can stand out. */
export type Sentence = readonly (string | { readonly number: string })[];

/** They add up: what is under way or only reported is said where there is any. */
export function signalsInWords({
  signals_today: { total, executed, refused, rejected, under_way, reported },
  counted_all,
}: Pick<Overview, 'signals_today' | 'counted_all'>): Sentence {
  const said: [number, string][] = [
    [executed, 'executed'],
    [refused + rejected, 'refused or rejected'],
    [under_way, 'under way'],
    [reported, 'reported'],
  ];
  const parts = said.filter(([count, word]) => count > 0 || word === 'executed');
  const head: Sentence = counted_all
    ? [{ number: figure(total) }, total === 1 ? ' signal today' : ' signals today']
    : ['the newest ', { number: figure(total) }, ' signals today'];
  if (total === 0) return ['no signal today'];
  return [
    ...head,
    ...parts.flatMap(
      ([count, word], place): Sentence => [place === 0 ? ': ' : ', ', { number: figure(count) }, ` ${word}`],
    ),
  ];
}
