// Reads that are asked for at one moment, as one: a signal to a group brings all of its members to the same question at once. Nobody
// waits for that: what goes together is what has been asked by the time that nothing else is at hand.

interface Waiting<Question, Answer> {
  readonly question: Question;
  settle(answer: Answer): void;
  fail(fault: unknown): void;
}

/** `read` answers them in their order; where it fails, it fails for all of them. */
export function inOneTurn<Question, Answer>(
  read: (questions: readonly Question[]) => Promise<readonly Answer[]>,
): (question: Question) => Promise<Answer> {
  let turn: Waiting<Question, Answer>[] = [];

  async function answer(): Promise<void> {
    const asked = turn;
    turn = [];
    try {
      const answers = await read(asked.map(({ question }) => question));
      for (const [index, { settle }] of asked.entries()) settle(answers[index] as Answer);
    } catch (fault) {
      for (const { fail } of asked) fail(fault);
    }
  }

  return (question) =>
    new Promise((settle, fail) => {
      if (turn.length === 0) process.nextTick(answer);
      turn.push({ question, settle, fail });
    });
}
