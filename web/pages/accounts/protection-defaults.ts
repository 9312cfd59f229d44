// What protects an entry from flat that does not say so itself, as it is typed in its fields.

import {
  DEFAULTED,
  type Defaulted,
  type Defaults,
  type DefaultsOf,
  defaultText,
} from '../../parts/protection/defaults.ts';
import type { Typed } from '../../parts/settings/numbers.ts';

const DISTANCE = /^\d+(?:\.\d+)?\s*(?:%|t|ticks?|p|points?)$/i;
const SHARED = /^(\d+(?:\.\d+)?)\s*%?\s+at\s+(.+)$/i;
const A_DISTANCE =
  'Write a distance from the entry: 2%, 20t (ticks) or 150p (points). A price would be wrong tomorrow.';

/** Null: it is taken away. What else is wrong the service says. */
export function readDefault(name: Defaulted, text: string): Typed<unknown> {
  const typed = text.trim();
  if (typed === '') return { value: null };
  if (typed.toLowerCase() === 'none') return { value: 'none' };
  switch (name) {
    case 'take_profit':
      return readTargets(typed);
    case 'break_even': {
      const [at = '', offset] = typed.split(/\s+plus\s+/i);
      if (at.toLowerCase() !== 'tp1' && !DISTANCE.test(at))
        return { problem: 'Write tp1 (once the first target is filled), or a distance such as 1%.' };
      return { value: offset === undefined ? at : { at, offset } };
    }
    case 'trailing_stop': {
      const [distance = '', from] = typed.split(/\s+from\s+/i);
      if (!DISTANCE.test(distance)) return { problem: A_DISTANCE };
      return { value: from === undefined ? distance : { distance, activate_at: from } };
    }
    case 'time_stop':
      return { value: typed };
    default:
      return DISTANCE.test(typed) ? { value: typed } : { problem: A_DISTANCE };
  }
}

function readTargets(typed: string): Typed<unknown> {
  const parts = typed.split(',').map((part) => part.trim());
  const [first = ''] = parts;
  if (parts.length === 1 && DISTANCE.test(first)) return { value: first };
  const targets = parts.map((part) => SHARED.exec(part));
  if (targets.some((target) => !target || !DISTANCE.test(target[2] ?? '')))
    return {
      problem: 'Write a distance for all of it: 4%. Or several with their shares: 50 at 2%, 50 at 4%.',
    };
  return { value: targets.map((target) => ({ at: target?.[2], percent: Number(target?.[1]) })) };
}

/** With one part of one symbol changed; a symbol without any is left out, and null is none at all. */
export function withDefault(
  defaults: Defaults,
  symbol: string,
  changed: Readonly<Partial<Record<Defaulted, unknown>>>,
): Record<string, unknown> | null {
  const parts = Object.entries({ ...defaults[symbol], ...changed }).filter(([, value]) => value !== null);
  const { [symbol]: _, ...others } = defaults;
  const all = parts.length > 0 ? { ...others, [symbol]: Object.fromEntries(parts) } : others;
  return Object.keys(all).length > 0 ? all : null;
}

/** `stop_loss 2%, take_profit 50 at 2%, 50 at 4%`. */
export const defaultsInWords = (of: DefaultsOf): string =>
  DEFAULTED.filter((name) => of[name] !== undefined)
    .map((name) => `${name} ${defaultText(name, of[name])}`)
    .join('; ');
