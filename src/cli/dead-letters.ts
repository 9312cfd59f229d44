// Orders that fill verification gave up on, and the way back.

import { type DeadLetter, readDeadLetters, retryDeadLetter } from '../app/operation/admin.ts';
import { pagesOf } from '../app/pages.ts';
import { asOperator } from '../roles/operator.ts';
import { type AddCommands, examples, JSON_OPTION, refused, type WithJson } from './desk.ts';
import type { ExitCode } from './output.ts';

export const deadLetters: AddCommands = (noun, { output, config, does }) => {
  noun
    .command('list')
    .description('list them, newest first')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('dead-letters list'))
    .action(
      does(async ({ json }: WithJson) =>
        asOperator<ExitCode>(config(), 'dead-letters list', async (operator) => {
          const found: DeadLetter[] = [];
          for await (const { items } of pagesOf((page) => readDeadLetters(operator, page)))
            found.push(...items);
          if (json) output.json(found);
          else
            output.table(
              found,
              [
                { title: 'ORDER', value: (letter) => letter.order_id },
                { title: 'STATUS', value: (letter) => letter.status },
                { title: 'SYMBOL', value: (letter) => letter.symbol },
                { title: 'ACCOUNT', value: (letter) => letter.trading_account_id },
                { title: 'LOOKS', value: (letter) => letter.attempts, align: 'right' },
                { title: 'LAST', value: (letter) => letter.next_at },
                { title: 'WHY', value: (letter) => letter.last_error },
              ],
              'There are no dead letters.',
            );
          return 0;
        }),
      ),
    );

  noun
    .command('retry')
    .description('have an order looked up again, with all its tries anew')
    .argument('<order>', 'its id')
    .addHelpText('after', examples('dead-letters retry 019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10'))
    .action(
      does(async (order: string) =>
        asOperator<ExitCode>(config(), 'dead-letters retry', async (operator) => {
          const denial = await retryDeadLetter(operator, { id: null, context: operator.context }, order);
          if (denial) return refused(output, denial);
          output.print('A verifier looks at it next.');
          return 0;
        }),
      ),
    );
};
