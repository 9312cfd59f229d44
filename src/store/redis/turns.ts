// What is asked of Redis in one turn about one slot leaves as one command, and is done in one step: to note that a signal
// is decided, to put its order on the user's queue and to see who serves that queue costs no more than one of them.

import type { Connection } from './connection.ts';
import type { Step } from './scripts.ts';

type Arg = string | number;

interface Question {
  readonly step: Step;
  readonly keys: readonly string[];
  readonly args: readonly Arg[];
  settle(answer: unknown): void;
  fail(fault: unknown): void;
}

/** Longer ones would keep everybody else waiting. */
const MOST_AT_ONCE = 100;

/** All keys are of one slot. */
export type Ask = (step: Step, keys: readonly string[], args: readonly Arg[]) => Promise<unknown>;

/** What stands in the first braces decides on the slot, or else the whole key. */
const slotOf = (key = ''): string => /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;

export function openTurns(connection: Connection): Ask {
  let turn = new Map<string, Question[]>();

  function leave(): void {
    const slots = turn;
    turn = new Map();
    for (const all of slots.values())
      for (let at = 0; at < all.length; at += MOST_AT_ONCE) {
        const questions = all.slice(at, at + MOST_AT_ONCE);
        send(questions).catch((fault: unknown) => {
          for (const { fail } of questions) fail(fault);
        });
      }
  }

  async function send(questions: readonly Question[]): Promise<void> {
    const { commands } = connection;
    const [only] = questions;
    if (questions.length === 1 && only) {
      const { step, keys, args, settle } = only;
      const [name = '', ...rest] = args;
      // Who asks for one command of Redis' own gets it without a script around it.
      const answer =
        step === 'plain' ? commands.call(String(name), [...keys, ...rest]) : commands[step](...keys, ...args);
      settle(await answer);
      return;
    }
    const keys = questions.flatMap((each) => each.keys);
    const args = questions.flatMap(({ step, args }) => [step, args.length, ...args]);
    const answers = await commands.together(keys.length, ...keys, ...args);
    for (const [index, { settle, fail }] of questions.entries()) {
      const answer = answers[index];
      if (answer instanceof Error) fail(answer);
      else settle(answer);
    }
  }

  return (step, keys, args) =>
    new Promise((settle, fail) => {
      if (turn.size === 0) process.nextTick(leave);
      const slot = slotOf(keys[0]);
      const questions = turn.get(slot);
      const question: Question = { step, keys, args, settle, fail };
      if (questions) questions.push(question);
      else turn.set(slot, [question]);
    });
}
