// What is to be said of each line of a message, from what the service says of the whole.

import type { components } from '../../api/schema.ts';
import { bare, type Field, fieldsOf, type MessageLine } from './lines.ts';

export type Checked = components['schemas']['CheckedMessage'];
type Check = Checked['checks'][number]['check'];

export interface Remark {
  readonly tone: 'ok' | 'no' | 'ignored' | 'none';
  /** In front, semibold. */
  readonly strong?: string;
  readonly words: string;
  /** A name behind the words. */
  readonly code?: string;
}

const BY_PLATFORM = 'filled in by the platform';
/** What stands for what the platform will fill in: nobody knows yet what that is. */
function exampleWords(name: string, { examples }: Checked): string {
  const values = examples.filter(({ field }) => field === name).map(({ value }) => value);
  return values.length === 0 ? BY_PLATFORM : `${BY_PLATFORM}; read here as ${values.join(', ')}`;
}
const NOTHING: Remark = { tone: 'none', words: '' };
const IGNORED: Remark = { tone: 'ignored', words: 'ignored' };

export function remarksOn(lines: readonly MessageLine[], checked: Checked): readonly Remark[] {
  const corrected = (checked.corrected === null ? null : fieldsOf(checked.corrected)) ?? [];
  return lines.map((line) =>
    line.name === null
      ? NOTHING
      : checked.service === null
        ? ownRemark({ ...line, name: line.name }, lines, checked, corrected)
        : foreignRemark({ ...line, name: line.name }, lines, checked, corrected),
  );
}

type Named = MessageLine & { readonly name: string };

/** Which check speaks of which field. */
const CHECK_OF: Readonly<Record<string, Check>> = { symbol: 'symbol', timestamp: 'age', secret: 'secret' };

function ownRemark(
  { name, value }: Named,
  lines: readonly MessageLine[],
  checked: Checked,
  corrected: readonly Field[],
): Remark {
  const payload = refusalBy(checked, 'payload');
  const named = payload === null ? null : aboutField(payload);
  if (named?.name === name) return { tone: 'no', strong: 'refused', words: named.words };
  const check = CHECK_OF[name];
  const refusal = check && refusalBy(checked, check);
  if (refusal) return { tone: 'no', strong: 'refused', words: refusal };
  if (checked.ignored.includes(name)) return IGNORED;
  if (checked.understood) return { tone: 'ok', words: understoodWords(name, value, checked) };
  // Where the service kept what it could of the message, what is not there it would refuse too.
  const isKept = lines.some((line) => line.name === 'action' && has(corrected, 'action', line.value));
  return isKept && !corrected.some((field) => field.name === name)
    ? { tone: 'no', words: 'left out of the message that works' }
    : NOTHING;
}

function foreignRemark(
  { name, value }: Named,
  lines: readonly MessageLine[],
  checked: Checked,
  corrected: readonly Field[],
): Remark {
  const lost = checked.lost.map(aboutField).find((about) => about?.name.toLowerCase() === name.toLowerCase());
  if (lost) return { tone: 'no', words: lost.words };
  // Nothing of it could be turned: the corrected message is not its own.
  if (checked.understood === null) return NOTHING;
  const same = corrected.find((field) => field.name === name);
  if (same && name === 'secret') return { tone: 'no', words: 'your webhook secret takes its place' };
  if (same)
    return bare(same.value) === bare(value)
      ? {
          tone: 'ok',
          words: value.includes('{{') ? exampleWords(name, checked) : bare(value) + inQuotes(value),
        }
      : { tone: 'no', words: 'becomes', code: bare(same.value) };
  const own = new Set(lines.map((line) => line.name));
  // What it says itself, or what the fields in it say.
  const said = [value, ...(fieldsOf(value) ?? []).map((inner) => inner.value)].map((each) =>
    bare(each).toLowerCase(),
  );
  const renamed = corrected.find(
    (field) => !own.has(field.name) && said.includes(bare(field.value).toLowerCase()),
  );
  return renamed
    ? { tone: 'no', words: 'send it as', code: renamed.name }
    : { tone: 'ignored', words: 'left out' };
}

/** What of it gets lost and stands on no line of its own: it is said apart. */
export const lostElsewhere = (lines: readonly MessageLine[], { lost }: Checked): readonly string[] =>
  lost.filter((sentence) => {
    const about = aboutField(sentence)?.name.toLowerCase();
    return !lines.some(({ name }) => name !== null && name.toLowerCase() === about);
  });

const has = (fields: readonly Field[], name: string, value: string): boolean =>
  fields.some((field) => field.name === name && bare(field.value) === bare(value));

const refusalBy = ({ checks }: Checked, check: Check): string | null => {
  const verdict = checks.find((each) => each.check === check);
  return verdict?.outcome === 'refused' ? (verdict.detail ?? 'refused') : null;
};

/** `"stopLoss": there is …` and `"stopLoss" is not understood here. Send …`: which field, and what about it. */
export function aboutField(sentence: string): { readonly name: string; readonly words: string } | null {
  const [, name, words] =
    /^"([^"]{1,64})"(?::\s*| (?:is not understood here\.\s*)?)(.*)$/s.exec(sentence) ?? [];
  return name === undefined || words === undefined ? null : { name, words };
}

const inQuotes = (value: string): string => (/^"[\d.]+"$/.test(value) ? ', a number in quotes is fine' : '');

type Understood = Readonly<Record<string, unknown>>;

const MEANS: Readonly<Record<string, (said: Understood, value: string) => string>> = {
  action: ({ action }) => String(action),
  symbol: ({ symbol }) => String(symbol),
  quantity: ({ quantity, target }, value) =>
    target === null || target === undefined
      ? `${quantity}${inQuotes(value)}`
      : `${quantity}; the position after the alert decides`,
  order_type: ({ order_type }) => String(order_type),
  price: () => 'for slippage and one guard',
  timestamp: ({ signal_time }) => (signal_time ? `made at ${signal_time}` : 'when it was made'),
  market_position: ({ market_position }) => `${market_position} after the alert`,
  market_position_size: ({ target }) =>
    target === null ? 'its size after the alert' : `the position goes to ${target}`,
  prev_market_position: () => 'shows a missed alert',
  prev_market_position_size: () => 'shows a missed alert',
  id: () => 'tells alerts within one second apart',
  secret: () => 'this account’s',
  simulation: () => 'as the address says',
  stop_loss: () => 'where the whole position is closed at the market',
  take_profit: () => 'where it is closed in profit, by limit orders',
  trailing_stop: () => 'how far the stop stays behind the best price',
  break_even: () => 'when the stop goes to the entry',
  time_stop: () => 'when the position is closed at the latest',
};

function understoodWords(name: string, value: string, checked: Checked): string {
  if (value.includes('{{')) return exampleWords(name, checked);
  const understood = checked.understood ?? {};
  return Object.hasOwn(MEANS, name) ? (MEANS[name]?.(understood, value) ?? '') : '';
}

/** What the message that works has and the other has not, by name; and what it leaves out. */
export function changesTo(
  lines: readonly MessageLine[],
  corrected: string,
): { readonly changed: ReadonlySet<string>; readonly left: readonly string[] } {
  const fields = fieldsOf(corrected) ?? [];
  const isOld = ({ name, value }: Field) =>
    lines.some((line) => line.name === name && bare(line.value) === bare(value));
  return {
    changed: new Set(fields.filter((field) => !isOld(field)).map(({ name }) => name)),
    left: lines.flatMap(({ name }) =>
      name === null || fields.some((field) => field.name === name) ? [] : [name],
    ),
  };
}
