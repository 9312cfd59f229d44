// Reads that are asked for at one moment, as one: a signal to a group brings all of its members to the same question at once. Nobody
// waits for that: what goes together is what has been asked by the time that nothing else is at hand.

import type { Db } from './db.ts';

/** When what is asked for at one moment goes out. */
export type Moment = (go: () => void) => void;

/** What has been asked here by now. */
const AT_ONCE: Moment = process.nextTick;
/**
 * What has arrived by now is heard first. To send and to wait for an answer costs more than the read itself, and orders that are answered
 * together ask together, and write together, from then on: at a server elsewhere, of sixty-four at once, each costs a fifth less.
 */
export const ALL_HEARD: Moment = setImmediate;

export const momentOf = ({ dialect }: Pick<Db, 'dialect'>): Moment =>
  dialect === 'postgres' ? ALL_HEARD : AT_ONCE;

interface Waiting<Question, Answer> {
  readonly question: Question;
  settle(answer: Answer): void;
  fail(fault: unknown): void;
}

/**
 * `read` answers them in their order; where it fails, it fails for all of them. `most`: of more than that at one moment, so many are read
 * together, and answered without the others.
 */
export function inOneTurn<Question, Answer>(
  read: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { moment = AT_ONCE, most = Number.POSITIVE_INFINITY }: { moment?: Moment; most?: number } = {},
): (question: Question) => Promise<Answer> {
  let turn: Waiting<Question, Answer>[] = [];

  function go(): void {
    const asked = turn;
    turn = [];
    for (let at = 0; at < asked.length; at += most) void answer(asked.slice(at, at + most));
  }

  async function answer(asked: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await read(asked.map(({ question }) => question));
      for (const [index, { settle }] of asked.entries()) settle(answers[index] as Answer);
    } catch (fault) {
      for (const { fail } of asked) fail(fault);
    }
  }

  return (question) =>
    new Promise((settle, fail) => {
      if (turn.length === 0) moment(go);
      turn.push({ question, settle, fail });
    });
}
