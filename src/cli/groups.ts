// A user's groups over the API: which accounts a signal to each is for, and which of them would take it.

import type { ShownAccount } from '../app/accounts/accounts.ts';
import type { ShownGroup } from '../app/accounts/groups.ts';
import {
  type Api,
  type ClientOptions,
  everyOne,
  KEY_OPTION,
  openApi,
  Refused,
  URL_OPTION,
  unlessRefused,
} from './client.ts';
import { type AddCommands, examples, JSON_OPTION, type WithJson } from './desk.ts';
import type { Column, Tone } from './output.ts';
import { visible } from './output.ts';

type Options = ClientOptions & WithJson;
type Member = ShownGroup['members'][number];

type Accounts = ReadonlyMap<string, ShownAccount>;

export const groups: AddCommands = (noun, desk) => {
  const { output, does } = desk;

  noun
    .command('list')
    .description("list a user's groups, with their members")
    .option(...URL_OPTION)
    .option(...KEY_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('groups list'))
    .action(
      does(async (options: Options) =>
        unlessRefused(output, async () => {
          const api = openApi(desk, options);
          const found = await Array.fromAsync(everyOne<ShownGroup>(api, '/trading/groups'));
          if (options.json) output.json(found);
          else
            output.table(
              found,
              columnsWith(found.length === 0 ? new Map() : await accountsOf(api)),
              'There are no groups. The page Groups makes one of two accounts or more.',
            );
          return 0;
        }),
      ),
    );

  noun
    .command('show')
    .description('show one, its address, and which of its members take signals')
    .argument('<group>', 'its name or id')
    .option(...URL_OPTION)
    .option(...KEY_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('groups show Trend'))
    .action(
      does(async (name: string, options: Options) =>
        unlessRefused(output, async () => {
          const api = openApi(desk, options);
          const group = await groupNamed(api, name);
          if (options.json) {
            output.json(group);
            return 0;
          }
          const accounts = await accountsOf(api);
          output.table([group], columnsWith(accounts), null);
          output.print(`\n${group.webhook_url}\n`);
          output.table(group.members, membersWith(accounts), 'It has no members.');
          return 0;
        }),
      ),
    );
};

async function groupNamed(api: Api, name: string): Promise<ShownGroup> {
  const found: ShownGroup[] = [];
  for await (const group of everyOne<ShownGroup>(api, '/trading/groups'))
    if (group.id === name) return group;
    else if (group.name === name) found.push(group);
  const [only, ...more] = found;
  if (!only) throw new Refused(404, `This key's user has no group ${visible(name)}.`);
  if (more.length === 0) return only;
  const ids = found.map(({ id }) => `  ${id}`);
  throw new Refused(409, `Several groups have this name. Name one by its id:\n${ids.join('\n')}`);
}

async function accountsOf(api: Api): Promise<Accounts> {
  const found = await Array.fromAsync(everyOne<ShownAccount>(api, '/trading/accounts'));
  return new Map(found.map((account) => [account.id, account]));
}

const nameIn = (accounts: Accounts, { trading_account_id: id }: Member): string =>
  accounts.get(id)?.name ?? id;

/** `Futures × 0.5`; and that one is left out. */
const shortly = (accounts: Accounts, member: Member): string =>
  `${nameIn(accounts, member)}${member.factor === 1 ? '' : ` × ${member.factor}`}${member.enabled ? '' : ' (disabled)'}`;

const columnsWith = (accounts: Accounts): readonly Column<ShownGroup>[] => [
  { title: 'NAME', value: ({ name }) => name },
  {
    title: 'ENTRIES',
    value: ({ enabled }) => (enabled ? 'taken' : 'refused'),
    tone: ({ enabled }) => (enabled ? 'good' : 'warn'),
  },
  { title: 'OLDEST SIGNAL', value: ({ max_request_age }) => `${max_request_age} s`, align: 'right' },
  { title: 'MEMBERS', value: ({ members }) => members.map((each) => shortly(accounts, each)).join(', ') },
  { title: 'GROUP', value: ({ id }) => id },
];

/** What holds back its entries, before anything is asked of its broker. */
function takes(
  account: ShownAccount | undefined,
  { enabled }: Member,
): { readonly said: string; readonly tone: Tone } {
  if (!enabled) return { said: 'nothing: disabled here', tone: 'warn' };
  if (account?.halted) return { said: 'exits only: halted', tone: 'bad' };
  if (account?.credentials_refused)
    return { said: 'exits only: the broker refuses its credentials', tone: 'bad' };
  if (account?.broker_credentials_verified === false)
    return { said: 'nothing: its credentials are not verified', tone: 'bad' };
  return { said: 'all', tone: 'good' };
}

const membersWith = (accounts: Accounts): readonly Column<Member>[] => {
  const of = (member: Member) => accounts.get(member.trading_account_id);
  return [
    { title: 'ACCOUNT', value: (member) => nameIn(accounts, member) },
    { title: 'BROKER', value: (member) => of(member)?.broker },
    { title: 'FACTOR', value: ({ factor }) => factor, align: 'right' },
    {
      title: 'TAKES',
      value: (member) => takes(of(member), member).said,
      tone: (member) => takes(of(member), member).tone,
    },
    {
      title: 'ITS SYMBOLS',
      value: ({ symbols }) =>
        Object.entries(symbols)
          .map(([from, to]) => `${from} → ${to}`)
          .join(', ') || null,
    },
    { title: 'ID', value: ({ trading_account_id }) => trading_account_id },
  ];
};
