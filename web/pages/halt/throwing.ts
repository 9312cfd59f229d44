// How the kill switch is thrown: of each account the flag first, and then what it holds is closed, which may take its time.
// No account waits for another's broker, neither for its halt nor for its closes.

import type { components } from '../../api/schema.ts';
import { type Outcome, outcomeOf } from './halt-words.ts';

type Schemas = components['schemas'];

/** Of one account: under way, what came of it, or what went wrong. */
export type Progress =
  | { readonly is: 'under way'; readonly text: string }
  | { readonly is: 'done'; readonly outcome: Outcome; readonly orders: readonly Schemas['OrderResult'][] }
  | { readonly is: 'failed'; readonly fault: unknown };

interface Switch {
  post(id: string, flatten: boolean): Promise<Parameters<typeof outcomeOf>[0]>;
  note(id: string, now: Progress): void;
}

export async function throwAll(
  ids: readonly string[],
  { flatten }: { readonly flatten: boolean },
  { post, note }: Switch,
): Promise<void> {
  const attempt = async (id: string, closes: boolean, text: string): Promise<boolean> => {
    note(id, { is: 'under way', text });
    try {
      const halted = await post(id, closes);
      note(id, { is: 'done', outcome: outcomeOf(halted, { flatten: closes }), orders: halted.orders });
      return true;
    } catch (fault) {
      note(id, { is: 'failed', fault });
      return false;
    }
  };
  await Promise.all(
    ids.map(async (id) => {
      const isHalted = await attempt(id, false, 'halting');
      // Also where the flag had no answer: closing halts, too.
      if (flatten)
        await attempt(id, true, isHalted ? 'halted, closing its positions' : 'closing its positions');
    }),
  );
}
