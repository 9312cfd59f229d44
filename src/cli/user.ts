// Users, for the operator at the machine.

import { secureEverybody, secureUser } from '../app/identity/after-theft.ts';
import { argon2id } from '../app/identity/passwords.ts';
import { changeUserAsAdmin, readUser, readUsers, type UserChange } from '../app/operation/admin.ts';
import {
  addUser,
  confirmAddress,
  findUser,
  removeSecondFactor,
  replacePassword,
} from '../app/operation/operator.ts';
import { pagesOf } from '../app/pages.ts';
import { randomToken } from '../app/secret-box.ts';
import type { User } from '../data/identity/users.ts';
import { isDenial } from '../domain/denial.ts';
import type { Timestamp } from '../domain/ids.ts';
import { type LeftOrder, leftInWords } from '../domain/protection/left.ts';
import { asOperator, type Operator } from '../roles/operator.ts';
import {
  type AddCommands,
  type Desk,
  examples,
  JSON_OPTION,
  notATime,
  refused,
  timeOf,
  type WithJson,
} from './desk.ts';
import { type ExitCode, type Output, visible } from './output.ts';

type Shown = Awaited<ReturnType<typeof readUsers>>['items'][number];

const WHOM = 'their email address or id';
const PASSWORD_STDIN = ['--password-stdin', 'read the password from stdin instead of making one'] as const;

export const user: AddCommands = (noun, desk) => {
  const { output, config, does } = desk;

  noun
    .command('list')
    .description('list the users, newest first')
    .option('--email <part>', 'only those with this in their address')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('user list', 'user list --email example.com --json'))
    .action(
      does(async ({ email, json }: WithJson & { email?: string }) =>
        asOperator<ExitCode>(config(), 'user list', async (operator) => {
          const found: Shown[] = [];
          for await (const { items } of pagesOf((page) =>
            readUsers(operator, { ...page, email: email ?? null }),
          ))
            found.push(...items);
          if (json) output.json(found);
          else
            output.table(
              found,
              COLUMNS,
              email === undefined
                ? 'There are no users yet. `npx fillpath user add` adds one.'
                : `No address has ${visible(email)} in it.`,
            );
          return 0;
        }),
      ),
    );

  noun
    .command('show')
    .description('show a user, with the active sessions')
    .argument('<user>', WHOM)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('user show ann@example.com'))
    .action(
      does(async (whom: string, { json }: WithJson) =>
        ofUser(desk, 'user show', whom, async (operator, { id }) => {
          const shown = await readUser(operator, id);
          if (isDenial(shown)) return refused(output, shown);
          return show(output, shown, json);
        }),
      ),
    );

  noun
    .command('add')
    .description('add a user; a password that is made is printed once')
    .argument('<email>')
    .option('--admin', 'may administer, from an admin address')
    .option('--plan <plan>', 'their plan', 'free')
    .option('--expires <date>', 'when the plan ends')
    .option(...PASSWORD_STDIN)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples('user add ann@example.com --plan desk', 'user add ops@example.com --admin'),
    )
    .action(
      does(async (email: string, options: AddOptions) => {
        const planExpiresAt = timeOf(options.expires);
        if (planExpiresAt === undefined) return notATime(output, '--expires');
        const password = options.passwordStdin ? await desk.input.read() : randomToken();
        return asOperator<ExitCode>(config(), 'user add', async (operator) => {
          const { admin: isAdmin = false, plan } = options;
          const deps = { ...operator, hasher: argon2id };
          const added = await addUser(deps, { email, password, isAdmin, plan, planExpiresAt });
          if (isDenial(added)) return refused(output, added);
          const made = options.passwordStdin ? {} : { password };
          if (options.json) output.json({ id: added.id, email: added.email, ...made });
          else {
            output.print(`${visible(added.email)} is user ${added.id}.`);
            if (!options.passwordStdin) output.print(`password ${password}`);
          }
          return 0;
        });
      }),
    );

  const change = (verb: string, description: string, said: (shown: Changed) => string, changed: UserChange) =>
    noun
      .command(verb)
      .description(description)
      .argument('<user>', WHOM)
      .option(...JSON_OPTION)
      .addHelpText('after', examples(`user ${verb} ann@example.com`))
      .action(
        does(async (whom: string, { json }: WithJson) =>
          ofUser(desk, `user ${verb}`, whom, (operator, { id }) =>
            changeAndShow(output, operator, id, changed, { json, said }),
          ),
        ),
      );
  change(
    'deactivate',
    'no longer let a user in, by any way; orders under way are finished',
    ({ email, left = [] }) =>
      [
        `${visible(email)} is deactivated: sessions, API keys and webhooks are refused from now on.`,
        ...atBrokers(left),
      ].join('\n'),
    { isActive: false },
  );
  change('activate', 'let a deactivated user in again', ({ email }) => `${visible(email)} is active.`, {
    isActive: true,
  });

  noun
    .command('plan')
    .description("change a user's plan")
    .argument('<user>', WHOM)
    .argument('<plan>')
    .option('--expires <date>', 'when the plan ends; without this option it does not')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('user plan ann@example.com desk --expires 2027-01-01'))
    .action(
      does(async (whom: string, plan: string, { expires, json }: WithJson & { expires?: string }) => {
        const planExpiresAt = timeOf(expires);
        if (planExpiresAt === undefined) return notATime(output, '--expires');
        return ofUser(desk, 'user plan', whom, (operator, { id }) =>
          changeAndShow(
            output,
            operator,
            id,
            { plan, planExpiresAt },
            { json, said: ({ email }) => `${visible(email)} has the plan ${plan}${until(planExpiresAt)}.` },
          ),
        );
      }),
    );

  // The second name is what it was called at first.
  for (const [name, hidden] of [
    ['password', false],
    ['reset-password', true],
  ] as const)
    noun
      .command(name, { hidden })
      .description('set a new password; every session and API key of the user ends, as with `secure`')
      .argument('<user>', WHOM)
      .option(...PASSWORD_STDIN)
      .option(...JSON_OPTION)
      .addHelpText('after', examples('user password ann@example.com'))
      .action(
        does(async (whom: string, { passwordStdin, json }: WithJson & { passwordStdin?: true }) => {
          const password = passwordStdin ? await desk.input.read() : randomToken();
          return ofUser(desk, 'user password', whom, async (operator, found) => {
            const denial = await replacePassword({ ...operator, hasher: argon2id }, found, password);
            if (denial) return refused(output, denial);
            const made = passwordStdin ? {} : { password };
            if (json) output.json({ id: found.id, email: found.email, ...made });
            else {
              output.print(
                `The password of ${visible(found.email)} is set; every session has ended, every API key is revoked, and notification destinations wait to be confirmed.`,
              );
              if (!passwordStdin) output.print(`password ${password}`);
            }
            return 0;
          });
        }),
      );

  noun
    .command('secure')
    .description(
      'somebody else may have been in: end every session, API key and known device of a user, and pause notifications until they are confirmed; webhooks go on',
    )
    .argument('[user]', WHOM)
    .option(
      '--after-restore',
      'of every user, and end their passwords too: for a PostgreSQL database that was brought back to an earlier moment',
    )
    .addHelpText('after', examples('user secure ann@example.com', 'user secure --after-restore'))
    .action(
      does(async (whom: string | undefined, { afterRestore = false }: { afterRestore?: boolean }) => {
        if ((whom === undefined) !== afterRestore) {
          output.complain('Name one user, or give --after-restore for all of them.');
          return 2;
        }
        if (whom === undefined)
          return asOperator<ExitCode>(config(), 'user secure', async (operator) => {
            await secureEverybody({ ...operator, hasher: argon2id });
            output.print(
              'Every session, API key, known device and password has ended. Users set a new password by mail; yours, and where there is no mail, with `npx fillpath user password EMAIL`.',
            );
            return 0;
          });
        return ofUser(desk, 'user secure', whom, async (operator, found) => {
          const denial = await secureUser(operator, { id: null, context: operator.context }, found.id);
          if (denial) return refused(output, denial);
          output.print(
            `Every session, API key and known device of ${visible(found.email)} has ended. The password stays: if somebody else knows it, \`npx fillpath user password\` sets another.`,
          );
          return 0;
        });
      }),
    );

  noun
    .command('verify')
    .description("count a user's email address as confirmed, where the link does not reach them")
    .argument('<user>', WHOM)
    .addHelpText('after', examples('user verify ann@example.com'))
    .action(
      does(async (whom: string) =>
        ofUser(desk, 'user verify', whom, async (operator, found) => {
          const denial = await confirmAddress(operator, found);
          if (denial) return refused(output, denial);
          output.print(`The address of ${visible(found.email)} counts as confirmed.`);
          return 0;
        }),
      ),
    );

  noun
    .command('remove-second-factor')
    .description('let a user who lost the authenticator log in with the password alone')
    .argument('<user>', WHOM)
    .addHelpText('after', examples('user remove-second-factor ann@example.com'))
    .action(
      does(async (whom: string) =>
        ofUser(desk, 'user remove-second-factor', whom, async (operator, found) => {
          const denial = await removeSecondFactor(operator, found);
          if (denial) return refused(output, denial);
          output.print(`${visible(found.email)} can now log in with the password alone.`);
          return 0;
        }),
      ),
    );
};

interface AddOptions extends WithJson {
  readonly admin?: true;
  readonly plan: string;
  readonly expires?: string;
  readonly passwordStdin?: true;
}

const COLUMNS = [
  { title: 'ID', value: ({ id }: Shown) => id },
  { title: 'EMAIL', value: ({ email }: Shown) => email },
  { title: 'PLAN', value: ({ effective_plan }: Shown) => effective_plan },
  { title: 'EXPIRES', value: ({ plan_expires_at }: Shown) => plan_expires_at },
  { title: 'ADMIN', value: ({ is_admin }: Shown) => (is_admin ? 'yes' : '') },
  {
    title: 'ACTIVE',
    value: ({ is_active }: Shown) => (is_active ? 'yes' : 'no'),
    tone: ({ is_active }: Shown) => (is_active ? undefined : ('bad' as const)),
  },
  { title: 'SINCE', value: ({ created_at }: Shown) => created_at },
];

/** For another module's commands about a user, too. */
export async function ofUser(
  { output, config }: Pick<Desk, 'output' | 'config'>,
  command: string,
  whom: string,
  work: (operator: Operator, found: User) => Promise<ExitCode>,
): Promise<ExitCode> {
  return asOperator<ExitCode>(config(), command, async (operator) => {
    const found = await findUser(operator, whom);
    return isDenial(found) ? refused(output, found) : work(operator, found);
  });
}

interface Changed {
  readonly email: string;
  /** Of one who was deactivated. */
  readonly left?: readonly LeftOrder[];
}

/** Positions stay, too; of those nobody was asked. */
function atBrokers(left: readonly LeftOrder[]): string[] {
  const { entry: entries = [], ...protecting } = Object.groupBy(left, ({ kind }) => kind);
  const stays = Object.values(protecting).flat();
  return [
    ...(stays.length > 0
      ? [`What protects positions stays at brokers, and is looked after: ${visible(leftInWords(stays))}.`]
      : []),
    ...(entries.length > 0
      ? [`Entries that rest at brokers are being taken back: ${visible(leftInWords(entries))}.`]
      : []),
  ];
}

async function changeAndShow(
  output: Output,
  operator: Operator,
  id: string,
  change: UserChange,
  { json, said }: { json: true | undefined; said: (shown: Changed) => string },
): Promise<ExitCode> {
  const by = { id: null, context: operator.context };
  const shown = await changeUserAsAdmin(operator, by, id, change);
  if (isDenial(shown)) return refused(output, shown);
  if (json) output.json(shown);
  else output.print(said(shown));
  return 0;
}

function show(output: Output, shown: Shown & { sessions: readonly object[] }, json?: true): ExitCode {
  if (json) {
    output.json(shown);
    return 0;
  }
  const { sessions, ...fields } = shown;
  for (const [name, value] of Object.entries(fields))
    output.print(`${name.padEnd(18)}${visible(String(value ?? '–'))}`);
  output.print(`${'sessions'.padEnd(18)}${sessions.length}`);
  output.table(
    sessions as { id: string; created_at: string; ip_address: string; user_agent: string }[],
    [
      { title: 'SESSION', value: ({ id }) => id },
      { title: 'SINCE', value: ({ created_at }) => created_at },
      { title: 'FROM', value: ({ ip_address }) => ip_address },
      { title: 'WITH', value: ({ user_agent }) => user_agent },
    ],
    null,
  );
  return 0;
}

const until = (time: Timestamp | null): string => (time === null ? '' : ` until ${time}`);
