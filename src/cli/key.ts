// API keys of a user, for the operator at the machine.

import { createApiKey, readApiKeys, removeApiKey } from '../app/accounts/settings.ts';
import { pagesOf } from '../app/pages.ts';
import { isDenial } from '../domain/denial.ts';
import { type AddCommands, examples, JSON_OPTION, refused, type WithJson } from './desk.ts';
import { visible } from './output.ts';
import { ofUser } from './user.ts';

const WHOSE = 'the email address or id of its user';
const MOST_DAYS = 36_500;
/** As the API takes it. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,100}$/u;

type Shown = Awaited<ReturnType<typeof readApiKeys>>['items'][number];

export const key: AddCommands = (noun, desk) => {
  const { output, does } = desk;

  noun
    .command('list')
    .description("list a user's API keys; the keys themselves are stored nowhere")
    .argument('<user>', WHOSE)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('key list ann@example.com'))
    .action(
      does(async (whose: string, { json }: WithJson) =>
        ofUser(desk, 'key list', whose, async (operator, { id, email }) => {
          const found: Shown[] = [];
          for await (const { items } of pagesOf((page) => readApiKeys(operator, id, page)))
            found.push(...items);
          if (json) output.json(found);
          else
            output.table(
              found,
              [
                { title: 'ID', value: (each) => each.id },
                { title: 'NAME', value: (each) => each.name },
                { title: 'MADE', value: (each) => each.created_at },
                { title: 'LAST USED', value: (each) => each.last_used_at },
                { title: 'EXPIRES', value: (each) => each.expires_at },
              ],
              `${visible(email)} has no API keys.`,
            );
          return 0;
        }),
      ),
    );

  noun
    .command('add')
    .description('make an API key for a user; it is printed once')
    .argument('<user>', WHOSE)
    .argument('<name>', 'what it is for')
    .option('--days <days>', `until it expires, at most ${MOST_DAYS}; without this option it never does`)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('key add ann@example.com "the bot" --days 90'))
    .action(
      does(async (whose: string, name: string, { days, json }: WithJson & { days?: string }) => {
        const expiresInDays = days === undefined ? null : Number(days);
        const isDays =
          expiresInDays === null ||
          (Number.isInteger(expiresInDays) && expiresInDays >= 1 && expiresInDays <= MOST_DAYS);
        if (!isDays || !NAME.test(name)) {
          output.complain(
            `A name has 1 to 100 characters, and --days is a whole number from 1 to ${MOST_DAYS}.`,
          );
          return 2;
        }
        return ofUser(desk, 'key add', whose, async (operator, user) => {
          const maker = { id: user.id, user, context: operator.context };
          // Whose the address is, the operator knows.
          const deps = { ...operator, verifyEmail: false };
          const made = await createApiKey(deps, maker, { name, expiresInDays });
          if (isDenial(made)) return refused(output, made);
          if (json) output.json(made);
          else {
            output.print(`id  ${made.id}`);
            output.print(`key ${made.key}`);
          }
          return 0;
        });
      }),
    );

  noun
    .command('revoke')
    .description('revoke an API key; from the next request on nobody gets in with it')
    .argument('<user>', WHOSE)
    .argument('<id>', 'as `key list` shows it')
    .addHelpText('after', examples('key revoke ann@example.com 019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10'))
    .action(
      does(async (whose: string, id: string) =>
        ofUser(desk, 'key revoke', whose, async (operator, user) => {
          const denial = await removeApiKey(operator, { id: user.id, context: operator.context }, id);
          if (denial) {
            output.complain('The user has no such API key.');
            return 1;
          }
          output.print('The key is revoked.');
          return 0;
        }),
      ),
    );
};
